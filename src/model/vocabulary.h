#pragma once

#include "base/interner.h"
#include "model/catalogue.h"
#include "model/queue.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Names behind the dense ids. Filled while specs are admitted (the edge of the core) and read when text is printed;
/// nothing on a decision path looks here. Owned by ClusterState, one per cluster.
struct Vocabulary {
  DeviceCatalogue devices;
  Interner<LabelId> labels;  ///< "key=value"
  Interner<UserId> users;
  Interner<QueueId> queues;          ///< in order of definition
  Interner<NodeId> nodes;            ///< in order of arrival
  std::vector<std::string> levels;   ///< by LevelId, narrow to wide
  std::vector<std::string> domains;  ///< by DomainId: "b1/r1"

  LevelId find_level(std::string_view name) const;
};

/// The text under which a label pair is interned.
std::string label_text(std::string_view key, std::string_view value);

}  // namespace weft
