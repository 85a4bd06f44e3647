#include "placement/scope_regions.h"

#include "base/bits.h"
#include "base/check.h"
#include "state/cluster_state.h"

#include <algorithm>

namespace weft {

void ScopeRegions::begin(TaskPlacer& placer, const GangTasks& tasks) {
  placer_ = &placer;
  tasks_ = &tasks;
  unions_.begin(placer, tasks);
  regions_.clear();
  part_ids_.clear();
  keys_.clear();
  while (members_.size() < tasks.plan().scopes.size()) members_.emplace_back();
}

bool ScopeRegions::is_plain(size_t id, const Region& outer) const {
  const PlanScope& scope = tasks_->plan().scopes[id];
  return scope.within == kNoHeight && (scope.prefer == kNoHeight || scope.prefer >= outer.height);
}

/// A region that is narrower than the required level lies in one domain of it, or in none: labels can be missing.
bool ScopeRegions::lies_in_level(const Region& outer, Height height) const {
  if (height < kLevelHeight || height >= cluster_height(state())) return true;
  const size_t node = outer.height < kLevelHeight ? index(outer.node) : outer.first;
  return is_set(state().nodes().domains[node][index(level_at(height))]);
}

ScopeRegions::List ScopeRegions::list(size_t id, const Region& outer, uint32_t nodes_max) {
  nodes_max_ = nodes_max;
  is_cut_ = false;
  const PlanScope& scope = tasks_->plan().scopes[id];
  const ScopeNeedSum need = sum_scope(*tasks_, id);
  List made{.begin = regions_.size(), .end = 0, .parts_begin = part_ids_.size()};
  Span span{.prefer = scope.prefer, .bound = outer.height, .island = outer.island};
  if (scope.within != kNoHeight && scope.within < outer.height) span.bound = scope.within;
  if (scope.within > outer.height && !lies_in_level(outer, scope.within)) {
    made.end = made.begin;
    return made;
  }
  if (need.is_single && outer.height > kIslandHeight) {
    // One task is always on one node: only its island and wider domains can bind.
    if (span.bound == kIslandHeight) span.island = OneIsland::kYes;
    if (span.bound <= kNodeHeight) span.bound = outer.height;
    const bool prefers_island = span.prefer == kIslandHeight && span.island == OneIsland::kNo;
    if (span.prefer <= kNodeHeight) span.prefer = kNoHeight;
    if (prefers_island) {
      Span linked = span;
      linked.island = OneIsland::kYes;
      add_span(need, outer, linked);
    }
  }
  add_span(need, outer, span);
  // A preferred domain may be in none of the required level.
  const auto begin = regions_.begin() + static_cast<std::ptrdiff_t>(made.begin);
  regions_.erase(
      std::remove_if(begin, regions_.end(), [&](const Region& region) { return !lies_in_level(region, scope.within); }),
      regions_.end());
  made.end = regions_.size();
  made.is_cut = is_cut_;
  return made;
}

void ScopeRegions::add_span(const ScopeNeedSum& need, const Region& outer, const Span& span) {
  const size_t begin = regions_.size();
  const auto add_container = [&](Height height) {
    if (height < outer.height) {
      add_height(need, outer, height);
    } else {
      regions_.push_back(outer);
    }
  };
  if (span.prefer != kNoHeight && span.prefer < span.bound) {
    add_height(need, outer, span.prefer);
    // A list that was cut short ends there: nothing wider is tried before all that is narrower.
    for (Height height = span.prefer + 1; height <= span.bound && !is_cut_; ++height) {
      if (!need.is_single && height >= kLevelHeight) add_unions(need, outer, span, height);
      add_container(height);
    }
  } else {
    add_container(span.bound);
  }
  for (size_t i = begin; i < regions_.size(); ++i) regions_[i].island = span.island;
}

void ScopeRegions::add_height(const ScopeNeedSum& need, const Region& outer, Height height) {
  if (tasks_->has_anchors(need.scope)) {
    add_anchored(need, outer, height);
    return;
  }
  if (height >= kLevelHeight) {
    add_domains(need, outer, height);
  } else {
    add_nodes(need, outer, height);
  }
}

/// Running tasks say which domain it must be.
void ScopeRegions::add_anchored(const ScopeNeedSum& need, const Region& outer, Height height) {
  Region region;
  if (!tasks_->anchor_region(state(), parts_.regions, need.scope, height, region)) return;
  if (height >= kLevelHeight) {
    if (holds(state(), outer, region.domain) && could_hold(*placer_, *tasks_, need, region.domain))
      regions_.push_back(region);
    return;
  }
  if (!outer.has_node(index(region.node))) return;
  if (height == kIslandHeight && region.devices == ~DeviceMask{0}) {  // they hold no devices: any island will do
    add_node(need, region.node, height);
    append_keys(height);
    return;
  }
  regions_.push_back(region);
}

ScopeRegions::Key ScopeRegions::domain_key(const ScopeNeedSum& need, DomainId id) {
  Key key{.id = static_cast<uint32_t>(id)};
  const bool is_by_devices = need.whole > 0 || !(need.has_fraction || need.has_mig);
  if (is_by_devices) key.a = state().capacity().free_devices(id);
  if (need.whole == 0) {
    const NodeTable& nodes = state().nodes();
    const DeviceTable& devices = state().devices();
    for_each_node(parts_.regions.domain(state(), id), [&](size_t n) {
      const NodeId node = make_id<NodeId>(n);
      if (!state().is_schedulable(node)) return;
      key.b += nodes.free_cpu_milli[n];
      if (is_by_devices) return;
      key.a += 1000 * int64_t{popcount(state().available(node))};
      for_each_bit(nodes.shared[n] & state().usable(node),
                   [&](unsigned d) { key.a += devices.free_milli[nodes.first_device[n] + d]; });
      for_each_bit(nodes.mig[n] & state().usable(node),
                   [&](unsigned d) { key.a += 8 - popcount(devices.mig_occupied[nodes.first_device[n] + d]); });
    });
  }
  key.a *= sign();
  key.b *= sign();
  return key;
}

void ScopeRegions::add_domains(const ScopeNeedSum& need, const Region& outer, Height height) {
  for (const DomainId id : state().domains_at(level_at(height))) {
    if (holds(state(), outer, id) && could_hold(*placer_, *tasks_, need, id)) keys_.push_back(domain_key(need, id));
  }
  append_keys(height);
}

void ScopeRegions::add_nodes(const ScopeNeedSum& need, const Region& outer, Height height) {
  if (outer.height <= kNodeHeight) {
    add_node(need, outer.node, height);
  } else if (add_nodes_by_index(need, outer, height)) {
    return;
  } else {
    for_each_node(outer, [&](size_t n) { add_node(need, make_id<NodeId>(n), height); });
  }
  append_keys(height);
}

/// In the order of free devices straight from the bitmaps, so that a long list can be cut: false where that order is
/// not the policy's.
bool ScopeRegions::add_nodes_by_index(const ScopeNeedSum& need, const Region& outer, Height height) {
  const auto role = static_cast<size_t>(need.first_role);
  const NodeScore::IndexOrder order = placer_->order(role);
  if (order == NodeScore::IndexOrder::kNone || need.has_choice || !tasks_->shape().data.empty()) return false;
  const KnownDemand& known = placer_->demand(role);
  const CapacityIndex& capacity = state().capacity();
  unsigned most = 0;
  for (const PoolId pool : known.pools) most = std::max(most, capacity.free_max(pool));
  const auto least = static_cast<unsigned>(std::min<int64_t>(need.whole, most + int64_t{1}));
  uint32_t found = 0;
  for (unsigned i = 0; least + i <= most; ++i) {
    const unsigned free = order == NodeScore::IndexOrder::kFewestFreeFirst ? least + i : most - i;
    if (!placer_->has_bucket(known, outer, free)) continue;
    for (size_t w = outer.word_begin(); w < outer.word_end(); ++w) {
      for (uint64_t bits = placer_->bucket_word(known, outer, free, w); bits != 0; bits &= bits - 1) {
        if (found == nodes_max_) {
          is_cut_ = true;
          append_keys(height);
          return true;
        }
        const size_t before = keys_.size();
        add_node(need, make_id<NodeId>(w * 64 + static_cast<unsigned>(std::countr_zero(bits))), height);
        found += keys_.size() > before ? 1 : 0;
      }
    }
  }
  append_keys(height);
  return true;
}

void ScopeRegions::add_node(const ScopeNeedSum& need, NodeId node, Height height) {
  if (!could_hold(*placer_, *tasks_, need, node)) return;
  const auto role = static_cast<size_t>(need.first_role);
  Key key{.id = static_cast<uint32_t>(node)};
  const NodeScore::IndexOrder order = placer_->order(role);
  const DeviceMask free = state().available(node);
  if (order != NodeScore::IndexOrder::kNone) {
    const auto count = static_cast<int64_t>(popcount(free));
    key.a = order == NodeScore::IndexOrder::kFewestFreeFirst ? count : -count;
  } else {
    int device = -1;
    const Region here = RegionMaker::node(node);
    const int32_t score = parts_.scores.score_of(state(), parts_.chooser, placer_->query(role, here), node, device);
    if (score == ScoreCache::kUnfit && !need.has_choice) return;
    key.a = -int64_t{score};
  }
  const auto& data = tasks_->shape().data;
  const auto local = std::ranges::lower_bound(data, node, {}, &DataLocation::node);
  if (local != data.end() && local->node == node) key.b = -local->bytes;
  if (height == kNodeHeight) {
    keys_.push_back(key);
    return;
  }
  const std::vector<DeviceMask>& islands = state().layouts()[state().nodes().layout[index(node)]].islands;
  for (size_t i = 0; i < islands.size(); ++i) {
    const unsigned in_island = popcount(free & islands[i]);
    if (in_island < need.whole) continue;
    key.c = sign() * int64_t{in_island};
    key.island = static_cast<uint32_t>(i);
    keys_.push_back(key);
  }
  if (islands.empty()) {  // no devices: the node itself stands for the island
    key.island = ~uint32_t{0};
    keys_.push_back(key);
  }
}

/// Turns the keys gathered so far into regions.
void ScopeRegions::append_keys(Height height) {
  std::ranges::sort(keys_);
  for (const Key& key : keys_) {
    if (height >= kLevelHeight) {
      regions_.push_back(parts_.regions.domain(state(), DomainId{key.id}));
      continue;
    }
    const NodeId node{key.id};
    if (height == kNodeHeight || key.island == ~uint32_t{0}) {
      regions_.push_back(height == kNodeHeight ? RegionMaker::node(node) : RegionMaker::island(node, 0));
    } else {
      regions_.push_back(
          RegionMaker::island(node, state().layouts()[state().nodes().layout[key.id]].islands[key.island]));
    }
  }
  keys_.clear();
}

void ScopeRegions::add_unions(const ScopeNeedSum& need, const Region& outer, const Span& span, Height height) {
  const Height part_height = std::max(span.prefer, kNodeHeight);
  if (part_height >= height) return;
  const size_t containers_begin = regions_.size();
  if (height < outer.height) {
    add_height(need, outer, height);
  } else {
    regions_.push_back(outer);
  }
  const size_t containers_end = regions_.size();
  unions_.made().clear();
  for (size_t i = containers_begin; i < containers_end; ++i) {
    const Region container = regions_[i];
    unions_.make(need, outer, container, part_height, static_cast<uint32_t>(i), part_ids_);
  }
  std::vector<UnionMaker::Made>& made = unions_.made();
  std::ranges::sort(
      made, [](const auto& a, const auto& b) { return std::pair(a.count, a.begin) < std::pair(b.count, b.begin); });
  for (const UnionMaker::Made& one : made) {
    Region region = regions_[one.container];
    region.parts_begin = one.begin;
    region.parts_end = one.end;
    region.part_height = part_height;
    regions_.push_back(region);
  }
  regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(containers_begin),
                 regions_.begin() + static_cast<std::ptrdiff_t>(containers_end));
}

Region ScopeRegions::enter(size_t scope, size_t i) {
  Region region = regions_[i];
  if (region.parts_begin == region.parts_end) return region;
  BitSet& members = members_[scope];
  members.resize(state().nodes().size());
  members.clear();
  for (size_t p = region.parts_begin; p < region.parts_end; ++p) {
    if (region.part_height == kNodeHeight) {
      members.set(part_ids_[p]);
      continue;
    }
    for (const NodeRange& range : state().domains()[part_ids_[p]].ranges) {
      for (uint32_t n = range.first; n < range.first + range.count; ++n) members.set(n);
    }
  }
  region.members = &members;
  region.parts_begin = region.parts_end = 0;
  region.is_partial = 1;
  return region;
}

void ScopeRegions::release(const List& made) {
  regions_.resize(made.begin);
  part_ids_.resize(made.parts_begin);
}

}  // namespace weft
