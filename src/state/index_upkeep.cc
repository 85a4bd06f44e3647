#include "state/cluster_state.h"

namespace weft {

// The indices follow from the columns of one node. Every writer, forward or back, calls these after its write.

void ClusterState::note_room(size_t node, unsigned device) {
  const size_t row = nodes_.first_device[node] + device;
  // A device whose memory nobody knows is full only when its time is.
  const bool has_memory = devices_.free_memory_bytes[row] > 0 || devices_.memory_bytes[row] == 0;
  const DeviceMask bit = uint64_t{1} << device;
  DeviceMask& roomy = capacity_.rows_[node].roomy;
  roomy = devices_.free_milli[row] > 0 && has_memory ? roomy | bit : roomy & ~bit;
}

void ClusterState::reindex_node(size_t node) {
  const NodeId id = make_id<NodeId>(node);
  CapacityIndex::NodeRow& row = capacity_.rows_[node];
  row.usable = usable(id);
  row.is_counted = is_schedulable(id) && is_set(row.pool) ? 1 : 0;
  capacity_.schedulable_.assign(node, is_schedulable(id) ? 1 : 0);
  capacity_.mig_.assign(node, (row.usable & nodes_.mig[node]) != 0 ? 1 : 0);
  reindex_free(node);
  reindex_shares(node);
}

}  // namespace weft
