#include "base/check.h"
#include "scheduler/adopt.h"
#include "scheduler/rungs/elect.h"

#include <algorithm>

namespace weft {

// ---- Where places decide: the walk is played through in a transaction and undone

/// Calls `visit(TaskId, demand)` for the job's tasks that hold something.
template <typename Visit>
void ElectRung::for_each_live(JobId job, Visit&& visit) const {
  const TaskTable& tasks = core_.state.tasks();
  const size_t first = index(core_.state.jobs().first_task[index(job)]);
  for (size_t t = first; t < first + core_.state.jobs().task_count[index(job)]; ++t) {
    const bool is_live = tasks.state[t] == TaskState::kHeld || tasks.state[t] == TaskState::kRunning;
    if (is_live) visit(make_id<TaskId>(t), core_.shape_of(job).roles[tasks.role[t]].demand);
  }
}

/// The runner's tasks come off their places.
void ElectRung::lift(Transaction& txn, JobId job) {
  const Shape& shape = core_.shape_of(job);
  ResourceVector charge;
  for_each_live(job, [&](TaskId task, const TaskDemand& demand) {
    const TaskPlacement& at = core_.state.tasks().placement[index(task)];
    txn.give(demand, at);
    charge = charge + at.charge;
  });
  txn.charge(shape.queue, ResourceVector{} - charge, shape.is_preemptible ? 1 : 0);
}

/// The same place, if it is free.
std::optional<TaskPlacement> ElectRung::again(const TaskDemand& demand, const TaskPlacement& at) const {
  AdoptedTask fact{.task = 0, .node = at.node, .devices = at.devices, .numa_zone = at.numa_zone};
  if (at.kind == DeviceNeedKind::kMig) fact.mig_start = static_cast<int8_t>(at.mig_start);
  return place_fact(core_.state, demand, fact);
}

/// Puts the runner's tasks where they were; false, and nothing written, when somebody has taken a place.
bool ElectRung::put_back(Transaction& txn, JobId job) {
  const auto mark = txn.mark();
  const Shape& shape = core_.shape_of(job);
  ResourceVector charge;
  bool is_back = true;
  for_each_live(job, [&](TaskId task, const TaskDemand& demand) {
    const TaskPlacement& was = core_.state.tasks().placement[index(task)];
    const auto at = is_back ? again(demand, was) : std::nullopt;
    is_back = at.has_value();
    if (!is_back) return;
    txn.take(demand, *at);
    charge = charge + at->charge;
  });
  if (is_back) {
    txn.charge(shape.queue, charge, shape.is_preemptible ? 1 : 0);
  } else {
    txn.rollback(mark);
  }
  return is_back;
}

/// Places the job as if nothing of it ran, into placement_; charges it.
Verdict ElectRung::place_afresh(Transaction& txn, JobId job) {
  const Shape& shape = core_.shape_of(job);
  fill_counts(shape, kWholeGang, counts_);
  const auto mark = txn.mark();
  placement_.clear();
  const ShapeId id = core_.state.jobs().shape[index(job)];
  Verdict verdict = core_.quota.check(core_.state, shape, Quota::least_charge(core_.state, shape, counts_), 0);
  if (!verdict.is_yes()) return verdict;
  verdict = core_.placer.place_gang(txn, {.shape_id = id, .counts = counts_}, placement_);
  if (!verdict.is_yes()) {
    verdict.wakes_on = wake_bit(WakeKind::kNodeAdded) | wake_bit(WakeKind::kCapacityFreed);
    return verdict;
  }
  ResourceVector charge;
  for (const TaskPlacement& at : placement_.tasks) charge = charge + at.charge;
  verdict = core_.quota.check(core_.state, shape, charge, 0);
  if (!verdict.is_yes()) {
    txn.rollback(mark);
    return verdict;
  }
  txn.charge(shape.queue, charge, shape.is_preemptible ? 1 : 0);
  return verdict;
}

/// Whether placement_ is where the job's tasks are.
bool ElectRung::is_where_it_was(JobId job) const {
  size_t i = 0;
  bool is_same = true;
  for_each_live(job, [&](TaskId task, const TaskDemand&) {
    const TaskPlacement& was = core_.state.tasks().placement[index(task)];
    is_same = is_same && i < placement_.tasks.size() && placement_.tasks[i].node == was.node &&
              placement_.tasks[i].devices == was.devices && placement_.tasks[i].mig_start == was.mig_start;
    ++i;
  });
  return is_same && i == placement_.tasks.size();
}

/// placement_ is what the job is to get once it is free.
ElectRung::Chosen& ElectRung::plan(const Place& place, int64_t need) {
  const size_t first = planned_.size();
  planned_.insert(planned_.end(), placement_.tasks.begin(), placement_.tasks.end());
  planned_roles_.insert(planned_roles_.end(), placement_.role.begin(), placement_.role.end());
  return chosen_.emplace_back(Chosen{.place = place, .need = need, .first = first, .count = placement_.tasks.size()});
}

void ElectRung::choose_runner(Transaction& txn, size_t at) {
  Runner& runner = runners_[at];
  const JobId job = runner.place.job;
  const bool is_afresh = core_.config().elect_places == ElectPlaces::kAfresh;
  if (!is_afresh && (is_lifted_[at] == 0 || put_back(txn, job))) return;
  if (!place_before(txn, job, at + 1).is_yes()) {
    runner.fate = Fate::kDropped;
    return;
  }
  if (is_where_it_was(job)) return;
  runner.fate = Fate::kMoved;
  plan(runner.place, runner.need).is_move = 1;
}

/// Places the job, which goes before the runners from `first` on: beside them if it can be, else on the places of as
/// few of the last of them as it takes. Whoever is not in its way is where it was afterwards.
Verdict ElectRung::place_before(Transaction& txn, JobId job, size_t first) {
  Verdict verdict = place_afresh(txn, job);
  if (core_.config().elect_places == ElectPlaces::kAfresh) return verdict;
  const int64_t need = need_of(job);
  size_t end = runners_.size();
  for (size_t tries = 0; !verdict.is_yes() && end > first; ++tries) {
    // One by one at first, so that nobody is lifted in vain; in long rows more at a time.
    for (size_t lifted = 0; end > first && lifted < 1 + tries / kTriesOneByOne;) {
      if (is_lifted_[--end] != 0) continue;
      lift(txn, runners_[end].place.job);
      is_lifted_[end] = 1;
      if (core_.state.capacity().free_devices(DomainId{0}) >= need) ++lifted;  // else there is no need to try
    }
    verdict = place_afresh(txn, job);
  }
  for (size_t i = end; i < runners_.size(); ++i) {
    if (is_lifted_[i] != 0 && put_back(txn, runners_[i].place.job)) is_lifted_[i] = 0;
  }
  return verdict;
}

/// Everybody who waits fits beside those who run: nobody need be moved, and no walk made. False when not.
bool ElectRung::add_all_by_placement() {
  Transaction txn(core_.state);  // rolled back when it goes out of scope
  while (Waiter* waiter = first_waiter()) {
    if (!place_afresh(txn, waiter->place.job).is_yes()) {
      chosen_.clear();
      planned_.clear();
      planned_roles_.clear();
      see_waiters();
      return false;
    }
    plan(waiter->place, waiter->need);
    advance(*waiter);
  }
  add_chosen();
  return true;
}

void ElectRung::choose_by_placement() {
  Transaction txn(core_.state);  // rolled back when it goes out of scope
  const Waiter* first = first_waiter();
  const bool is_afresh = core_.config().elect_places == ElectPlaces::kAfresh;
  const auto begin =
      is_afresh ? runners_.begin() : std::ranges::lower_bound(runners_, first->place, {}, &Runner::place);
  auto at = static_cast<size_t>(begin - runners_.begin());
  is_lifted_.assign(runners_.size(), is_afresh ? 1 : 0);
  for (size_t i = at; i < runners_.size() && is_afresh; ++i) lift(txn, runners_[i].place.job);
  while (true) {
    Waiter* waiter = first_waiter();
    if (waiter == nullptr && at == runners_.size()) return;
    if (waiter == nullptr || (at < runners_.size() && runners_[at].place < waiter->place)) {
      choose_runner(txn, at++);
      continue;
    }
    const Verdict verdict = place_before(txn, waiter->place.job, at);
    if (!verdict.is_yes()) {
      close(*waiter, verdict);
      continue;
    }
    plan(waiter->place, waiter->need);
    advance(*waiter);
  }
}

/// Takes for the job what was planned for it, into placement_, if all of it is free. Which tasks that are the plan
/// says: a group that needs only some of its members has not the minimum of every role.
bool ElectRung::take_plan(Transaction& txn, const Chosen& chosen) {
  const auto mark = txn.mark();
  const Shape& shape = core_.shape_of(chosen.place.job);
  for (size_t i = chosen.first; i < chosen.first + chosen.count; ++i) {
    const uint16_t role = planned_roles_[i];
    const TaskPlacement& wanted = planned_[i];
    const auto at = again(shape.roles[role].demand, wanted);
    if (!at || !core_.state.is_schedulable(wanted.node)) {
      txn.rollback(mark);
      placement_.clear();
      return false;
    }
    txn.take(shape.roles[role].demand, *at);
    placement_.tasks.push_back(*at);
    placement_.role.push_back(role);
  }
  return true;
}

}  // namespace weft
