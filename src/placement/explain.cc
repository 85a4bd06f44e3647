#include "placement/explain.h"

#include "base/bits.h"
#include "base/hash.h"
#include "placement/scope_need.h"
#include "state/cluster_state.h"

#include <algorithm>

namespace weft {

namespace {

constexpr WakeMask kWhenFreed = wake_bit(WakeKind::kCapacityFreed) | wake_bit(WakeKind::kNodeAdded);
constexpr WakeMask kWhenAdded = wake_bit(WakeKind::kNodeAdded);

constexpr size_t kAnswersMax = 4096;

void set_counts(Verdict& verdict, CountUnit unit, int64_t have, int64_t need) {
  verdict.unit = unit;
  verdict.have = have;
  verdict.need = need;
}

void name(Verdict& verdict, Reason reason, WakeMask wakes_on) {
  verdict.reason = reason;
  verdict.wakes_on = wakes_on;
}

/// The model asked for. Of several, which may all be meant by one word such as H100, none would be the right one to
/// name.
DeviceModelId only_model(const DeviceDemand& devices) {
  return devices.models.size() == 1 ? devices.models.front() : kNone<DeviceModelId>;
}

}  // namespace

Verdict Explainer::explain(TaskPlacer& placer, const GangTasks& tasks, ShapeId shape, SearchFailure failure,
                           size_t placed_most) {
  placer_ = &placer;
  tasks_ = &tasks;
  state_ = &placer.state();
  shape_ = shape;
  if (tasks.total() == 0) return {};
  const uint64_t key = question_key();
  if (const auto known = nevers_.find(key); known != nevers_.end() && known->second.nodes == state_->nodes().size()) {
    return known->second.verdict;
  }
  if (!could_ever(key)) {
    if (nevers_.size() >= kAnswersMax) nevers_.clear();
    Never& never = nevers_[key];
    never = {.nodes = state_->nodes().size(), .verdict = why_never()};
    return never.verdict;
  }
  Verdict verdict;
  verdict.nodes_total = static_cast<uint32_t>(state_->nodes().size());
  const PresentView view{*state_};
  if (lacks_totals(view, verdict) || lacks_nodes(view, Optional::kLeaveOut, verdict)) return verdict;
  const bool is_named = lacks_domain(verdict) ||
                        (failure != SearchFailure::kNotSearched && lacks_nodes(view, Optional::kInclude, verdict));
  if (!is_named) {
    if (failure == SearchFailure::kNotSearched) return {};
    if (failure == SearchFailure::kBudget) {
      name(verdict, Reason::kBudget, kWhenFreed);
    } else {
      name_search(verdict, placed_most);
    }
  }
  if (verdict.role < 0) fill_nodes(view, static_cast<size_t>(sum_scope(tasks, 0).first_role), verdict);
  return verdict;
}

bool Explainer::could_ever(uint64_t key) {
  if (const auto known = possible_.find(key); known != possible_.end()) return true;
  if (!could_ever()) return false;
  if (possible_.size() >= kAnswersMax) possible_.clear();
  possible_.insert(key);
  return true;
}

/// Equal questions have equal keys: the shape, the counts, and what running members leave to be placed.
uint64_t Explainer::question_key() const {
  RunningHash hash;
  hash.add(uint64_t{index(shape_)});
  for (size_t r = 0; r < tasks_->plan().roles.size(); ++r) hash.add(static_cast<uint64_t>(tasks_->count(r)));
  for (size_t s = 0; s < tasks_->plan().scopes.size(); ++s) hash.add(static_cast<uint64_t>(tasks_->members_needed(s)));
  return hash.value();
}

/// Inside a group that needs fewer members than it has: the gang can do without.
bool Explainer::is_optional_scope(size_t scope) const {
  const std::vector<PlanScope>& scopes = tasks_->plan().scopes;
  for (int32_t s = scopes[scope].parent; s >= 0; s = scopes[static_cast<size_t>(s)].parent) {
    const auto group = static_cast<size_t>(s);
    if (tasks_->members_needed(group) < tasks_->members_asked(group)) return true;
  }
  return false;
}

bool Explainer::binds(size_t scope) const {
  return tasks_->scope_tasks(scope) > 0 && tasks_->plan().scopes[scope].within != kNoHeight &&
         !is_optional_scope(scope);
}

/// Its tasks are inside of one NVLink island, so each of them is.
OneIsland Explainer::island_of(size_t role) const {
  const std::vector<PlanScope>& scopes = tasks_->plan().scopes;
  for (auto s = static_cast<int32_t>(tasks_->plan().roles[role].scope); s >= 0;
       s = scopes[static_cast<size_t>(s)].parent) {
    if (scopes[static_cast<size_t>(s)].within == kIslandHeight) return OneIsland::kYes;
  }
  return OneIsland::kNo;
}

Explainer::Totals Explainer::totals_needed() const {
  Totals needed;
  for (size_t r = 0; r < tasks_->plan().roles.size(); ++r) {
    const int64_t count = tasks_->count(r);
    if (count == 0 || is_optional(r)) continue;
    const TaskDemand& demand = tasks_->shape().roles[r].demand;
    if (demand.devices.kind == DeviceNeedKind::kWhole) needed.whole += count * demand.devices.count;
    if (demand.devices.kind == DeviceNeedKind::kMilli) needed.milli += count * demand.devices.milli;
    needed.cpu_milli += count * demand.cpu_milli;
    needed.memory_bytes += count * demand.memory_bytes;
    needed.disk_bytes += count * demand.disk_bytes;
  }
  return needed;
}

template <typename View>
Explainer::Totals Explainer::totals_of(const View& view, const Totals& needed) const {
  Totals totals;
  const auto is_enough = [&] {
    return totals.whole >= needed.whole && totals.milli >= needed.milli && totals.cpu_milli >= needed.cpu_milli &&
           totals.memory_bytes >= needed.memory_bytes && totals.disk_bytes >= needed.disk_bytes;
  };
  for (size_t n = 0; n < state_->nodes().size() && !is_enough(); ++n) {
    const NodeId node = make_id<NodeId>(n);
    if (!view.is_there(node)) continue;
    totals.cpu_milli += view.cpu_milli(n);
    totals.memory_bytes += view.memory_bytes(n);
    totals.disk_bytes += view.disk_bytes(n);
    if (needed.whole > 0 || needed.milli > 0) totals.whole += popcount(view.whole(node));
    if (needed.milli == 0) continue;
    for_each_bit(view.shareable(node),
                 [&](unsigned d) { totals.milli += view.device_milli(state_->nodes().first_device[n] + d); });
    for_each_bit(view.whole(node) & ~view.shareable(node), [&](unsigned) { totals.milli += 1000; });
  }
  return totals;
}

template <typename View>
bool Explainer::lacks_totals(const View& view, Verdict& verdict) {
  Totals needed = totals_needed();
  if (needed.milli > 0) needed.milli += 1000 * needed.whole;
  const auto is_short = [&](Reason reason, CountUnit unit, int64_t have, int64_t need) {
    if (have >= need) return false;
    name(verdict, reason, kWhenFreed);
    set_counts(verdict, unit, have, need);
    fill_nodes(view, static_cast<size_t>(sum_scope(*tasks_, 0).first_role), verdict);
    return true;
  };
  if constexpr (std::is_same_v<View, PresentView>) {  // the index knows at once, and what it knows need not be summed
    const int64_t free = state_->capacity().free_devices(DomainId{0});
    if (is_short(Reason::kGpus, CountUnit::kGpus, free, needed.whole)) return true;
    needed.whole = 0;
    if (1000 * free >= needed.milli) needed.milli = 0;
  }
  const Totals totals = totals_of(view, needed);
  if (is_short(Reason::kGpus, CountUnit::kGpus, totals.whole, needed.whole)) return true;
  if (is_short(Reason::kGpus, CountUnit::kMilliGpu, totals.milli, needed.milli)) return true;
  return is_short(Reason::kCpus, CountUnit::kMilliCpu, totals.cpu_milli, needed.cpu_milli) ||
         is_short(Reason::kMemory, CountUnit::kBytes, totals.memory_bytes, needed.memory_bytes) ||
         is_short(Reason::kDisk, CountUnit::kBytes, totals.disk_bytes, needed.disk_bytes);
}

template <typename View>
RoleNodeCounts Explainer::counts_of(const View& view, size_t role) {
  const KnownDemand& demand = placer_->demand(role);
  CountQuestion question{.demand = demand,
                         .standing = parts_.demands.standing(*state_, tasks_->plan().roles[role].demand),
                         .limit = tasks_->count(role),
                         .island = island_of(role),
                         .known = {}};
  if constexpr (std::is_same_v<View, PresentView>) {  // a search by scores has looked at every node
    if (question.limit == 1 && placer_->order(role) == NodeScore::IndexOrder::kNone) {
      Region region = parts_.regions.cluster(*state_);
      region.island = question.island;
      question.known = parts_.scores.obstacles(*state_, parts_.chooser, placer_->query(role, region));
    }
  }
  return count_role(view, question);
}

template <typename View>
bool Explainer::lacks_nodes(const View& view, Optional optional, Verdict& verdict) {
  for (size_t r = 0; r < tasks_->plan().roles.size(); ++r) {
    if (tasks_->count(r) == 0 || (optional == Optional::kLeaveOut && is_optional(r))) continue;
    const RoleNodeCounts counts = counts_of(view, r);
    if (counts.tasks >= tasks_->count(r)) continue;
    verdict.role = static_cast<int32_t>(r);
    name_obstacle(r, counts, verdict);
    fill_nodes(r, counts, verdict);
    return true;
  }
  return false;
}

void Explainer::fill_nodes(size_t role, const RoleNodeCounts& counts, Verdict& verdict) {
  verdict.nodes_by_reason = counts.nodes;
  verdict.nodes_down = counts.down;
  verdict.nodes_cordoned = counts.cordoned;
  verdict.most_free_gpus = counts.most_free;
  const DeviceDemand& devices = placer_->demand(role).task.devices;
  verdict.task_gpus = devices.kind == DeviceNeedKind::kWhole ? devices.count : 0;
  if (!is_set(verdict.model)) verdict.model = only_model(devices);
}

void Explainer::name_obstacle(size_t role, const RoleNodeCounts& counts, Verdict& verdict) const {
  if (counts.nodes[static_cast<size_t>(Reason::kNone)] == 0) {
    if (counts.furthest <= FilterStage::kSharing) {
      name_standing(role, counts, verdict);
    } else if (!name_total(role, counts, verdict)) {
      name_amount(role, counts, verdict);
    }
  } else if (!name_total(role, counts, verdict)) {
    name(verdict, Reason::kNode, kWhenFreed);
    set_counts(verdict, CountUnit::kTasks, counts.tasks, tasks_->count(role));
  }
  const NodeId pinned = placer_->demand(role).task.node;
  const bool is_amount = counts.furthest >= FilterStage::kDevices && counts.furthest <= FilterStage::kDisk;
  if (!is_set(pinned) || !(verdict.reason == Reason::kNode || is_amount)) return;
  verdict.reason = Reason::kNode;
  verdict.node = pinned;
  verdict.is_node_named = true;
}

/// No node passes the filters that never change.
void Explainer::name_standing(size_t role, const RoleNodeCounts& counts, Verdict& verdict) const {
  const DeviceDemand& devices = placer_->demand(role).task.devices;
  name(verdict, counts.furthest_reason == Reason::kNone ? Reason::kUnavailable : counts.furthest_reason, kWhenAdded);
  if (verdict.reason == Reason::kModel) verdict.model = only_model(devices);
  if (verdict.reason != Reason::kGpus) return;
  if (devices.kind == DeviceNeedKind::kWhole) {
    set_counts(verdict, CountUnit::kGpus, 0, devices.count * int64_t{tasks_->count(role)});
  } else {
    set_counts(verdict, CountUnit::kMilliGpu, 0, std::max(devices.milli, 1) * int64_t{tasks_->count(role)});
  }
}

/// What is free on all nodes that pass the standing filters is too little: the filter that took nodes away is named
/// with it.
bool Explainer::name_total(size_t role, const RoleNodeCounts& counts, Verdict& verdict) const {
  const DeviceDemand& devices = placer_->demand(role).task.devices;
  const int64_t count = tasks_->count(role);
  if (devices.kind == DeviceNeedKind::kMig) {
    const auto& [model, profile] = devices.mig.front();
    const int64_t slices = state_->names().devices.model(model).mig_profiles[profile].compute_slices;
    if (counts.free_slices >= slices * count) return false;
    name(verdict, Reason::kMig, kWhenFreed);
    set_counts(verdict, CountUnit::kSlices, counts.free_slices, slices * count);
    return true;
  }
  const bool is_whole = devices.kind == DeviceNeedKind::kWhole;
  if (!is_whole && devices.kind != DeviceNeedKind::kMilli) return false;
  const int64_t have = is_whole ? counts.free_devices : counts.free_milli;
  const int64_t need = count * (is_whole ? devices.count : devices.milli);
  if (have >= need) return false;
  const auto took = [&](Reason reason) { return counts.nodes[static_cast<size_t>(reason)] > 0; };
  Reason reason = Reason::kGpus;
  if (took(Reason::kModel)) {
    reason = Reason::kModel;
  } else if (took(Reason::kLabel)) {
    reason = Reason::kLabel;
  } else if (took(Reason::kTaint)) {
    reason = Reason::kTaint;
  }
  if (is_set(placer_->demand(role).task.node)) reason = Reason::kNode;
  name(verdict, reason, kWhenFreed);
  set_counts(verdict, is_whole ? CountUnit::kGpus : CountUnit::kMilliGpu, have, need);
  if (reason == Reason::kModel) verdict.model = only_model(devices);
  return true;
}

/// There is enough in sum, but no single node holds a task: named by the furthest filter that a node reached.
void Explainer::name_amount(size_t role, const RoleNodeCounts& counts, Verdict& verdict) const {
  const TaskDemand& task = placer_->demand(role).task;
  name(verdict, counts.furthest_reason, kWhenFreed);
  switch (counts.furthest) {
    case FilterStage::kDevices:
      if (counts.furthest_reason != Reason::kGpus) return;
      verdict.reason = Reason::kNode;
      verdict.node = counts.nearest_node;
      if (task.devices.kind == DeviceNeedKind::kWhole) {
        set_counts(verdict, CountUnit::kGpus, counts.nearest, task.devices.count);
      } else if (task.devices.kind == DeviceNeedKind::kMilli) {
        set_counts(verdict, CountUnit::kMilliGpu, counts.nearest, task.devices.milli);
      }
      return;
    case FilterStage::kCpus: set_counts(verdict, CountUnit::kMilliCpu, counts.nearest, task.cpu_milli); break;
    case FilterStage::kMemory: set_counts(verdict, CountUnit::kBytes, counts.nearest, task.memory_bytes); break;
    case FilterStage::kDisk: set_counts(verdict, CountUnit::kBytes, counts.nearest, task.disk_bytes); break;
    case FilterStage::kNvlink: set_counts(verdict, CountUnit::kGpus, counts.nearest, task.devices.count); break;
    default: return;
  }
  verdict.node = counts.nearest_node;
}

Verdict Explainer::why_never() {
  Verdict verdict;
  verdict.nodes_total = static_cast<uint32_t>(state_->nodes().size());
  const EmptyView view{*state_};
  if (!lacks_totals(view, verdict) && !lacks_nodes(view, Optional::kLeaveOut, verdict)) {
    name_never_domain(verdict);
    fill_nodes(view, static_cast<size_t>(sum_scope(*tasks_, 0).first_role), verdict);
  }
  verdict.is_never = true;
  verdict.wakes_on = kWhenAdded;
  return verdict;
}

}  // namespace weft
