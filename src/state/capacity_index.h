#pragma once

#include "base/bits.h"
#include "base/ids.h"
#include "state/tables.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Where whole devices are free: per pool and exact free count a bitmap over nodes, and per domain and pool a histogram
/// of nodes by free count. Only schedulable nodes are counted; the free count of a node is popcount(available). Kept in
/// O(levels) per write.
///
/// Queries: "n nodes with >= k free under this domain" is a suffix sum of one histogram; the best-fit node is the first
/// set bit of the first non-empty bitmap from k upward.
class CapacityIndex {
 public:
  /// Nodes of `pool` with exactly `free` available devices.
  const BitSet& bucket(PoolId pool, unsigned free) const { return buckets_[index(pool)][free]; }
  /// The most devices of a node of `pool`; bucket() takes 0 … this.
  unsigned free_max(PoolId pool) const { return static_cast<unsigned>(buckets_[index(pool)].size()) - 1; }
  /// By free count: how many schedulable nodes of `pool` in `domain` have exactly so many available devices.
  std::span<const uint32_t> histogram(DomainId domain, PoolId pool) const {
    return std::span(histograms_).subspan(histogram_row(domain, pool), stride_);
  }
  /// Available whole devices in the domain, over all pools.
  int64_t free_devices(DomainId domain) const { return free_devices_[index(domain)]; }
  /// Nodes that are up and not cordoned.
  const BitSet& schedulable() const { return schedulable_; }
  /// Schedulable nodes with a usable device that fractional tasks share and that is not full.
  const BitSet& with_shared_room() const { return shared_room_; }
  /// Schedulable nodes with a usable device in MIG mode.
  const BitSet& with_mig() const { return mig_; }

  bool operator==(const CapacityIndex&) const = default;

 private:
  friend class ClusterState;
  friend class Transaction;
  friend class Auditor;
  friend struct CapacityIndexAccess;  ///< of tests that break an index to see the audit find it

  static constexpr uint8_t kNotCounted = 0xff;

  /// What a write needs to know of its node, side by side: one cache line instead of the seven columns it is derived
  /// from.
  struct NodeRow {
    DeviceMask usable = 0;  ///< ClusterState::usable()
    DeviceMask roomy = 0;   ///< devices with time and memory left for another fraction
    PoolId pool = kNone<PoolId>;
    uint8_t is_counted = 0;         ///< it has devices and is schedulable
    uint8_t counted = kNotCounted;  ///< the free count under which it stands
    bool operator==(const NodeRow&) const = default;
  };

  size_t histogram_row(DomainId domain, PoolId pool) const {
    return (index(domain) * pool_capacity_ + index(pool)) * stride_;
  }

  // Growth, on arrival of a node only. All keep what is counted. Cost: amortised O(bitmaps + levels) per node.
  void define_levels(size_t levels);  ///< Requires: no nodes yet
  void add_domain();
  void add_pool();
  void grow_pool(PoolId pool, unsigned devices_max);
  /// A row for one more node, not counted yet. `domains` by level, kNone where it has none.
  void add_node(std::span<const DomainId> domains, PoolId pool, DeviceMask all_devices);
  void reshape(size_t pool_capacity, size_t stride);

  /// `free` is the node's mask after a write: moves the node to the count of what of it is usable. The one way in which
  /// buckets, histograms and sums change, forward and back. O(levels).
  void count_free(size_t node, DeviceMask free);
  /// The node leaves free count `out` (if kOut) and comes under `in` (if kIn); 0 where it does not.
  template <unsigned kIn, unsigned kOut>
  void count_domains(size_t node, unsigned in, unsigned out);
  /// `shared` is the node's mask after a write to it, to a device of it or to `usable`.
  void count_shares(size_t node, DeviceMask shared) {
    shared_room_.assign(node, (shared & rows_[node].usable & rows_[node].roomy) != 0 ? 1 : 0);
  }

  std::vector<std::vector<BitSet>> buckets_;
  std::vector<uint32_t> histograms_;  ///< domain-major, then pool, then free count
  std::vector<int64_t> free_devices_;
  size_t pool_count_ = 0;
  size_t pool_capacity_ = 1;  ///< pools that a domain's rows have room for: doubles
  size_t stride_ = 1;         ///< free counts per histogram: the most devices of any node + 1
  BitSet schedulable_;
  BitSet shared_room_;
  BitSet mig_;
  std::vector<NodeRow> rows_;
  std::vector<DomainId> paths_;  ///< per node path_stride_ entries: the cluster, then its domain by level
  size_t path_stride_ = 1;
};

}  // namespace weft
