#pragma once

#include "base/bits.h"
#include "base/ids.h"
#include "placement/demand_table.h"
#include "placement/role_counts.h"
#include "placement/room_count.h"
#include "state/cluster_state.h"

#include <cstdint>
#include <span>

namespace weft {

// Counting for tasks of whole devices, of which the capacity index knows nearly all at present.

uint32_t count_common(const BitSet& a, const BitSet& b);

/// Calls visit(free, nodes, bucket) for each free count of devices that schedulable nodes of the demand have; `nodes`
/// is how many of the bitmap `bucket` suit. The histograms tell it where whole pools suit. Requires: whole devices.
template <typename Visit>
void for_each_free_count(const ClusterState& state, const KnownDemand& known, Visit&& visit) {
  const CapacityIndex& capacity = state.capacity();
  uint32_t in_pools = 0;
  for (const PoolId pool : known.pools) in_pools += state.pools()[index(pool)].node_count;
  const bool suits_all = in_pools == known.suits_count;
  for (const PoolId pool : known.pools) {
    const std::span<const uint32_t> histogram = capacity.histogram(DomainId{0}, pool);
    for (unsigned free = 0; free <= capacity.free_max(pool); ++free) {
      if (histogram[free] == 0) continue;
      const BitSet& bucket = capacity.bucket(pool, free);
      const uint32_t nodes = suits_all ? histogram[free] : count_common(bucket, known.suits);
      if (nodes > 0) visit(free, nodes, bucket);
    }
  }
}

/// Adds all nodes that suit and are there. Requires: whole devices, pools of devices that are all alike, and no need
/// but devices, CPUs, memory and disk.
template <typename View>
void count_whole(const View& view, const CountQuestion& question, RoleNodeCounts& counts);

extern template void count_whole(const PresentView&, const CountQuestion&, RoleNodeCounts&);
extern template void count_whole(const EmptyView&, const CountQuestion&, RoleNodeCounts&);

/// The first node that suits, is there, and has exactly so many devices free.
NodeId first_with_free(const PresentView& view, const KnownDemand& known, int32_t free);
NodeId first_with_free(const EmptyView& view, const KnownDemand& known, int32_t free);

}  // namespace weft
