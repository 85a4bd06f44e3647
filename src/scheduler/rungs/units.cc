#include "scheduler/rungs/units.h"

#include "scheduler/gang_counts.h"

#include <algorithm>
#include <tuple>

namespace weft {

void Units::clear() {
  for (const Unit& unit : units_) is_listed_.reset(index(unit.job));
  if (is_listed_.size() < core_.book.size()) is_listed_.resize(core_.book.size());
  units_.clear();
  tasks_.clear();
  first_protection_end_ = kNever;
}

bool Units::goes_before(const Unit& a, const Unit& b) {
  if (a.must_land != b.must_land) return a.must_land < b.must_land;
  if (a.is_surplus != b.is_surplus) return a.is_surplus > b.is_surplus;
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.cost != b.cost) return a.cost < b.cost;
  if (a.started != b.started) return a.started > b.started;
  if (a.job != b.job) return a.job > b.job;
  return a.first < b.first;  // of one job as they were found: the highest index first
}

void Units::sort() { std::ranges::sort(units_, goes_before); }

void Units::add_queue(QueueId queue, const Taker& taker, Taking taking) {
  for (const JobId job : core_.holders.of(queue)) add_job(job, taker, taking);
}

void Units::add_movable(QueueId queue, const Taker& taker) {
  for (const JobId job : core_.holders.of(queue)) {
    if (core_.is_movable(job) && !is_listed_.test(index(job))) add_job(job, taker, Taking::kMove);
  }
}

/// Until when the job may not be disturbed by its queue's minimum run time; a queue that names none has its parent's.
Instant Units::protected_until(JobId job, Taking taking) const {
  const QueueTable& queues = core_.state.queues();
  const Instant started = core_.state.jobs().started[index(job)];
  if (started == kNever || taking == Taking::kMove) return Instant{};
  for (QueueId q = core_.shape_of(job).queue; is_set(q); q = queues.parent[index(q)]) {
    const QueueSpec& spec = queues.spec[index(q)];
    const Duration least =
        taking == Taking::kReclaim ? spec.min_runtime_before_reclaim : spec.min_runtime_before_preempt;
    if (least.ns > 0) return started + least;
  }
  return Instant{};
}

bool Units::may_be_taken(JobId job, Taking taking) {
  if (!core_.shape_of(job).is_preemptible || core_.book[job].intent != Intent::kNone) return false;
  const Instant until = protected_until(job, taking);
  if (until > core_.now) first_protection_end_ = std::min(first_protection_end_, until);
  return until <= core_.now;
}

void Units::add_job(JobId job, const Taker& taker, Taking taking) {
  if (job == taker.job || !may_be_taken(job, taking)) return;
  const Shape& shape = core_.shape_of(job);
  const bool is_other_queue = taking != Taking::kPreempt;
  const bool gives_minimum = taker.is_surplus == 0 && (is_other_queue || shape.priority < taker.priority);
  const bool gives_surplus =
      is_other_queue || (taker.is_surplus == 0 ? shape.priority <= taker.priority : shape.priority < taker.priority);
  if (!gives_surplus) return;
  const TaskTable& tasks = core_.state.tasks();
  const size_t first = index(core_.state.jobs().first_task[index(job)]);
  held_.clear();
  for (size_t t = first + core_.state.jobs().task_count[index(job)]; t > first; --t) {
    const TaskState state = tasks.state[t - 1];
    if (state == TaskState::kHeld || state == TaskState::kRunning) held_.push_back(make_id<TaskId>(t - 1));
  }
  if (held_.empty()) return;
  if (taking == Taking::kMove) return add_unit(job, held_, Kind::kMovable);
  if (shape.gang == GangRule::kNone) {
    for (const TaskId task : held_) {
      if (gives_minimum) add_unit(job, std::span(&task, 1), Kind::kWhole);
    }
    return;
  }
  add_surplus(job);
  if (gives_minimum && !held_.empty()) add_unit(job, held_, Kind::kWhole);
}

/// Tasks without which the gang is whole all the same, the highest index first; they leave held_.
void Units::add_surplus(JobId job) {
  const Shape& shape = core_.shape_of(job);
  const auto kept = core_.book.counts(core_.book[job]);
  counts_.assign(kept.begin(), kept.end());
  GangCheck check;
  surplus_.clear();
  if (!check.is_whole(shape, counts_, GangCheck::Count::kRunning)) return;
  for (const TaskId task : held_) {
    // What is only held is given up whole or not at all.
    if (core_.state.tasks().state[index(task)] != TaskState::kRunning) continue;
    int32_t& running = counts_[core_.state.tasks().role[index(task)]].running;
    --running;
    if (check.is_whole(shape, counts_, GangCheck::Count::kRunning)) {
      surplus_.push_back(task);
      add_unit(job, std::span(&task, 1), Kind::kSurplus);
    } else {
      ++running;
    }
  }
  std::erase_if(held_, [&](TaskId task) { return std::ranges::find(surplus_, task) != surplus_.end(); });
}

VictimKey Units::key_of(JobId job, std::span<const TaskId> tasks) const {
  const JobRecord& record = core_.book[job];
  VictimKey key{.priority = core_.shape_of(job).priority,
                .restore = record.restore,
                .started = core_.state.jobs().started[index(job)]};
  for (const TaskId task : tasks) key.gpu_units += core_.state.tasks().placement[index(task)].charge.gpu_units;
  if (key.started != kNever) key.lost = record.lost_by(core_.now, key.started);
  return key;
}

void Units::add_unit(JobId job, std::span<const TaskId> tasks, Kind kind) {
  const VictimKey key = key_of(job, tasks);
  is_listed_.set(index(job));
  units_.push_back({.job = job,
                    .queue = core_.shape_of(job).queue,
                    .is_surplus = static_cast<uint8_t>(kind == Kind::kSurplus ? 1 : 0),
                    .must_land = static_cast<uint8_t>(kind == Kind::kMovable ? 1 : 0),
                    .priority = key.priority,
                    .cost = core_.parts.victim_cost->cost(key),
                    .started = key.started,
                    .first = static_cast<uint32_t>(tasks_.size()),
                    .count = static_cast<uint32_t>(tasks.size())});
  tasks_.insert(tasks_.end(), tasks.begin(), tasks.end());
}

}  // namespace weft
