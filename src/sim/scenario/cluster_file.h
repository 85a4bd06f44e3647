#pragma once

#include "base/result.h"
#include "model/device.h"
#include "model/node.h"
#include "model/queue.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::scenario {

/// A cluster and its queues, with every name resolved and every `count` written out.
struct ClusterFile {
  TopologySpec topology;
  std::vector<DeviceModel> models;  ///< that the catalogue lacks
  std::vector<NodeSpec> nodes;
  std::vector<QueueSpec> queues;  ///< parents first; empty: none are written
};

/// Whether the text is meant for read_cluster_text(), by its first key.
bool is_cluster_text(std::string_view text);

/// Reads a YAML text of one document: `cluster` and perhaps `queues`, as in a scenario, and `models`, a list of names
/// (and memory) that nodes use and the catalogue lacks. Errors: one line, "file:line:column: …".
Result<ClusterFile> read_cluster_text(std::string_view text, const std::string& name);

}  // namespace weft::scenario
