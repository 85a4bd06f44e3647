#include "state/capacity_index.h"

#include "base/check.h"

#include <algorithm>

namespace weft {

void CapacityIndex::define_levels(size_t levels) {
  WEFT_CHECK(rows_.empty(), "levels are defined before the first node");
  path_stride_ = levels + 1;
}

void CapacityIndex::add_domain() {
  free_devices_.push_back(0);
  histograms_.resize(free_devices_.size() * pool_capacity_ * stride_, 0);
}

void CapacityIndex::add_pool() {
  buckets_.emplace_back(1, BitSet(rows_.size()));
  ++pool_count_;
  if (pool_count_ > pool_capacity_) reshape(pool_capacity_ * 2, stride_);
}

void CapacityIndex::grow_pool(PoolId pool, unsigned devices_max) {
  std::vector<BitSet>& buckets = buckets_[index(pool)];
  while (buckets.size() <= devices_max) buckets.emplace_back(rows_.size());
  if (devices_max + 1 > stride_) reshape(pool_capacity_, devices_max + 1);
}

void CapacityIndex::reshape(size_t pool_capacity, size_t stride) {
  std::vector<uint32_t> wider(free_devices_.size() * pool_capacity * stride, 0);
  for (size_t domain = 0; domain < free_devices_.size(); ++domain) {
    for (size_t pool = 0; pool < std::min(pool_count_, pool_capacity_); ++pool) {
      const auto from = histograms_.begin() + static_cast<std::ptrdiff_t>((domain * pool_capacity_ + pool) * stride_);
      const auto to = wider.begin() + static_cast<std::ptrdiff_t>((domain * pool_capacity + pool) * stride);
      std::copy_n(from, stride_, to);
    }
  }
  histograms_ = std::move(wider);
  pool_capacity_ = pool_capacity;
  stride_ = stride;
}

void CapacityIndex::add_node(std::span<const DomainId> domains, PoolId pool, DeviceMask all_devices) {
  WEFT_CHECK(domains.size() + 1 == path_stride_, "a node names a domain, or none, for every level");
  rows_.push_back(NodeRow{.roomy = all_devices, .pool = pool});
  paths_.push_back(DomainId{0});
  paths_.insert(paths_.end(), domains.begin(), domains.end());
  const size_t nodes = rows_.size();
  for (std::vector<BitSet>& of_pool : buckets_) {
    for (BitSet& bucket : of_pool) bucket.resize(nodes);
  }
  schedulable_.resize(nodes);
  shared_room_.resize(nodes);
  mig_.resize(nodes);
}

void CapacityIndex::count_free(size_t node, DeviceMask free) {
  NodeRow& row = rows_[node];
  const uint8_t before = row.counted;
  const uint8_t after = row.is_counted != 0 ? static_cast<uint8_t>(popcount(free & row.usable)) : kNotCounted;
  if (before == after) return;
  row.counted = after;
  if (before == kNotCounted) return count_domains<1, 0>(node, after, 0);
  if (after == kNotCounted) return count_domains<0, 1>(node, 0, before);
  count_domains<1, 1>(node, after, before);
}

template <unsigned kIn, unsigned kOut>
void CapacityIndex::count_domains(size_t node, unsigned in, unsigned out) {
  const PoolId pool = rows_[node].pool;
  std::vector<BitSet>& buckets = buckets_[index(pool)];
  if constexpr (kOut != 0) buckets[out].reset(node);
  if constexpr (kIn != 0) buckets[in].set(node);
  const int64_t change = int64_t{in} - int64_t{out};
  const size_t of_pool = index(pool) * stride_;
  const size_t of_domain = pool_capacity_ * stride_;
  const DomainId* const path = &paths_[node * path_stride_];
  for (size_t i = 0; i < path_stride_; ++i) {
    if (!is_set(path[i])) continue;
    const size_t domain = index(path[i]);
    uint32_t* const histogram = &histograms_[domain * of_domain + of_pool];
    histogram[out] -= kOut;
    histogram[in] += kIn;
    free_devices_[domain] += change;
  }
}

}  // namespace weft
