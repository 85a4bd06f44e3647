#include "placement/union_maker.h"

#include "base/bits.h"
#include "placement/room_count.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <tuple>

namespace weft {

void UnionMaker::make(const ScopeNeedSum& need, const Region& outer, const Region& container, Height part_height,
                      uint32_t container_number, std::vector<uint32_t>& part_ids) {
  collect(need, outer, container, part_height);
  if (units_.size() < 2) return;
  const int64_t needed = room_needed(need);
  if (units_.size() <= kAllSubsetsMax) {
    make_subsets(needed, container_number, part_ids);
  } else {
    make_roomiest(needed, container_number, part_ids);
  }
}

void UnionMaker::collect(const ScopeNeedSum& need, const Region& outer, const Region& container, Height part_height) {
  units_.clear();
  if (part_height == kNodeHeight) {
    for_each_node(container, [&](size_t n) {
      if (outer.has_node(n)) add_unit(need, RegionMaker::node(make_id<NodeId>(n)), static_cast<uint32_t>(n));
    });
  } else {
    for (const DomainId id : state().domains_at(level_at(part_height))) {
      if (!is_inside(state(), id, container.domain) || !holds(state(), outer, id)) continue;
      add_unit(need, parts_.regions.domain(state(), id), static_cast<uint32_t>(id));
    }
  }
  std::ranges::sort(units_, [](const Unit& a, const Unit& b) {
    return std::tuple(b.has_anchor, b.room, a.id) < std::tuple(a.has_anchor, a.room, b.id);
  });
}

void UnionMaker::add_unit(const ScopeNeedSum& need, const Region& unit, uint32_t id) {
  Unit added{.room = room_in(need, unit), .id = id, .has_anchor = has_anchor(need, unit) ? uint8_t{1} : uint8_t{0}};
  if (added.room > 0 || added.has_anchor != 0) units_.push_back(added);
}

bool UnionMaker::has_anchor(const ScopeNeedSum& need, const Region& unit) const {
  if (!tasks_->has_anchors(need.scope)) return false;
  return std::ranges::any_of(tasks_->anchors(), [&](const Anchor& anchor) {
    return unit.has_node(index(anchor.node)) && tasks_->is_under(anchor.role, need.scope);
  });
}

int64_t UnionMaker::room_needed(const ScopeNeedSum& need) const {
  if (need.only_role >= 0) return tasks_->scope_tasks(need.scope);
  return need.whole > 0 ? need.whole : std::max<int64_t>(need.cpu_milli, 1);
}

int64_t UnionMaker::room_in(const ScopeNeedSum& need, const Region& unit) const {
  int64_t room = 0;
  const PresentView view{state()};
  const int64_t needed = room_needed(need);
  for_each_node(unit, [&](size_t n) {
    const NodeId node = make_id<NodeId>(n);
    if (room >= needed && need.only_role >= 0) return;
    if (need.only_role >= 0) {
      const KnownDemand& known = placer_->demand(static_cast<size_t>(need.only_role));
      if (known.suits.test(n)) room += count_room(view, node, known.task, {}, needed).tasks;
    } else if (state().is_schedulable(node)) {
      room += need.whole > 0 ? popcount(state().available(node)) : state().nodes().free_cpu_milli[n];
    }
  });
  return room;
}

void UnionMaker::append(const std::vector<uint32_t>& chosen, uint32_t container, std::vector<uint32_t>& part_ids) {
  Made made{.count = static_cast<uint32_t>(chosen.size()),
            .begin = static_cast<uint32_t>(part_ids.size()),
            .container = container};
  for (const uint32_t unit : chosen) part_ids.push_back(units_[unit].id);
  made.end = static_cast<uint32_t>(part_ids.size());
  made_.push_back(made);
}

void UnionMaker::make_subsets(int64_t needed, uint32_t container, std::vector<uint32_t>& part_ids) {
  subsets_.clear();
  uint32_t anchored = 0;
  for (size_t u = 0; u < units_.size(); ++u) anchored |= units_[u].has_anchor != 0 ? 1U << u : 0;
  const auto all = static_cast<uint32_t>(low_bits(static_cast<unsigned>(units_.size())));
  for (uint32_t subset = 1; subset <= all; ++subset) {
    if (popcount(subset) < 2 || (subset & anchored) != anchored) continue;
    int64_t room = 0;
    for_each_bit(subset, [&](unsigned u) { room += units_[u].room; });
    if (room >= needed) subsets_.emplace_back(is_pack() ? room : -room, subset);
  }
  std::ranges::sort(subsets_, [](const auto& a, const auto& b) {
    return std::tuple(popcount(a.second), a.first, a.second) < std::tuple(popcount(b.second), b.first, b.second);
  });
  for (const auto& [room, subset] : subsets_) {
    chosen_.clear();
    for_each_bit(subset, [&](unsigned u) { chosen_.push_back(u); });
    append(chosen_, container, part_ids);
  }
}

/// The first `count` units (anchored ones stand first), the last of them by best fit if asked. False when they have too
/// little room.
bool UnionMaker::choose_roomiest(size_t count, int64_t needed, LastUnit last) {
  chosen_.clear();
  int64_t room = 0;
  for (size_t u = 0; u < count; ++u) {
    chosen_.push_back(static_cast<uint32_t>(u));
    room += units_[u].room;
  }
  if (room < needed) return false;
  if (last == LastUnit::kRoomiest || units_[count - 1].has_anchor != 0) return true;
  room -= units_[count - 1].room;
  for (size_t u = units_.size(); u-- > count;) {  // the smallest that is enough; of equal ones the lowest id
    if (room + units_[u].room < needed) continue;
    while (units_[u - 1].room == units_[u].room && u - 1 >= count - 1) --u;
    chosen_.back() = static_cast<uint32_t>(u);
    break;
  }
  return true;
}

void UnionMaker::make_roomiest(int64_t needed, uint32_t container, std::vector<uint32_t>& part_ids) {
  size_t anchored = 0;
  while (anchored < units_.size() && units_[anchored].has_anchor != 0) ++anchored;
  size_t tried = 0;
  for (size_t count = std::max<size_t>(anchored, 2); count <= units_.size() && tried < kCountsTried; ++count) {
    if (!choose_roomiest(count, needed, is_pack() ? LastUnit::kBestFit : LastUnit::kRoomiest)) continue;
    ++tried;
    append(chosen_, container, part_ids);
    if (!is_pack() || chosen_.back() == count - 1) continue;
    choose_roomiest(count, needed, LastUnit::kRoomiest);
    append(chosen_, container, part_ids);
  }
}

}  // namespace weft
