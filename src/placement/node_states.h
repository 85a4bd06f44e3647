#pragma once

#include "base/ids.h"

#include <cstdint>
#include <vector>

namespace weft {

class ClusterState;

/// A 64-bit fingerprint of what is free and healthy on a node, over every column that changes. Equal columns have equal
/// fingerprints; never 0. Cost: O(devices that are shared or in MIG mode).
uint64_t node_fingerprint(const ClusterState& state, NodeId node);

/// A fingerprint of how the node is built: totals, zones, links, devices. Not of its name, labels, taints and domains.
uint64_t build_fingerprint(const ClusterState& state, NodeId node);

/// The fingerprints of all nodes, kept by the change log. A write that was undone leaves the fingerprint as it was, so
/// that nobody computes anything again for a what-if.
class NodeStates {
 public:
  /// Cost: O(changes since the last call). Allocates only for new nodes.
  void sync(const ClusterState& state);
  uint64_t fingerprint(size_t node) const { return now_[node]; }
  /// Of how it is built; computed when first asked for.
  uint64_t build(const ClusterState& state, size_t node);
  uint64_t seen_changes() const { return seen_changes_; }

 private:
  std::vector<uint64_t> now_;
  std::vector<uint64_t> build_;  ///< 0: not yet asked for
  uint64_t seen_changes_ = 0;
};

}  // namespace weft
