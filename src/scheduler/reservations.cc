#include "scheduler/reservations.h"

#include "base/check.h"
#include "scheduler/core.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

int64_t whole_devices(const Shape& shape, std::span<const int32_t> counts) {
  int64_t devices = 0;
  for (size_t role = 0; role < counts.size(); ++role) {
    const DeviceDemand& need = shape.roles[role].demand.devices;
    if (need.kind == DeviceNeedKind::kWhole) devices += int64_t{need.count} * counts[role];
  }
  return devices;
}

bool is_share(const TaskPlacement& at) {
  return at.kind == DeviceNeedKind::kMilli || at.kind == DeviceNeedKind::kMemory;
}

void lift(const Core& core, Transaction& txn, JobId job) {
  const TaskTable& tasks = core.state.tasks();
  const Shape& shape = core.shape_of(job);
  const size_t first = index(core.state.jobs().first_task[index(job)]);
  for (size_t t = first; t < first + core.state.jobs().task_count[index(job)]; ++t) {
    const bool holds = is_live(tasks.state[t]) && tasks.state[t] != TaskState::kLeaving;
    if (holds) txn.give(shape.roles[tasks.role[t]].demand, tasks.placement[t]);
  }
}

}  // namespace

Instant predicted_end(const Core& core, JobId job) {
  const JobTable& jobs = core.state.jobs();
  const Instant end = jobs.expected_end[index(job)];
  if (end > core.now || end == kNever) return end;
  const Instant started = jobs.started[index(job)] == kNever ? core.now : jobs.started[index(job)];
  Duration span = std::max(end - started, Duration{1});
  while (started + span <= core.now) span = span * 2;
  return started + span;
}

void ReservationBook::begin(Instant now) {
  now_ = now;
  look_ = kNever;
  last_.swap(present_);
  present_.clear();
  are_all_kept_ = 1;
}

void ReservationBook::finish() { last_.clear(); }

const Reservation* ReservationBook::find(JobId job) const {
  const auto found = std::ranges::find(present_, job, &Reservation::job);
  return found != present_.end() ? &*found : nullptr;
}

/// What the job had in the last pass, where everybody before it has what it had then.
bool ReservationBook::keep(JobId job) {
  const bool is_same = are_all_kept_ != 0 && present_.size() < last_.size() && last_[present_.size()].job == job;
  if (!is_same) {
    are_all_kept_ = 0;
    return false;
  }
  present_.push_back(last_[present_.size()]);
  return true;
}

// ---- Keeping others off

void ReservationBook::hide_one(Transaction& txn, const Reservation& reservation) {
  const ClusterState& state = txn.state();
  const NodeTable& nodes = state.nodes();
  for (const TaskPlacement& place : reservation.places.tasks) {
    Blocker blocker{.at = place};
    blocker.at.numa_zone = kNoZone;
    const size_t n = index(place.node);
    if (place.kind == DeviceNeedKind::kWhole) blocker.at.devices &= nodes.free[n];
    if (is_share(place)) {
      const size_t row = nodes.first_device[n] + static_cast<unsigned>(std::countr_zero(place.devices));
      blocker.at.milli = std::min(place.milli, state.devices().free_milli[row]);
      blocker.at.memory_bytes = std::min(place.memory_bytes, state.devices().free_memory_bytes[row]);
    }
    if (blocker.at.devices == 0 || !state.has_room_at(blocker.amounts, blocker.at)) continue;
    txn.take(blocker.amounts, blocker.at);
    blockers_.push_back(blocker);
  }
  for (const Reservation::Left& left : reservation.left) {
    const size_t n = index(left.node);
    Blocker blocker{.at = {.node = left.node}};
    blocker.amounts.cpu_milli = std::max<int64_t>(nodes.free_cpu_milli[n] - left.cpu_milli, 0);
    blocker.amounts.memory_bytes = std::max<int64_t>(nodes.free_memory_bytes[n] - left.memory_bytes, 0);
    blocker.amounts.disk_bytes = std::max<int64_t>(nodes.free_disk_bytes[n] - left.disk_bytes, 0);
    txn.take(blocker.amounts, blocker.at);
    blockers_.push_back(blocker);
  }
}

void ReservationBook::hide(Transaction& txn, Instant from, Instant until, JobId except) {
  WEFT_CHECK(blockers_.empty(), "what is reserved is hidden once");
  for (const Reservation& reservation : present_) {
    const bool overlaps = reservation.is_drain != 0 || (reservation.start < until && from < reservation.end);
    if (overlaps && reservation.job != except) hide_one(txn, reservation);
  }
}

void ReservationBook::reveal(Transaction& txn) {
  for (const Blocker& blocker : blockers_) txn.give(blocker.amounts, blocker.at);
  blockers_.clear();
}

void ReservationBook::note_start(const ClusterState& state, ShapeId shape, const GangPlacement& at, Instant until) {
  for (Reservation& reservation : present_) {
    if (reservation.is_drain == 0 && until <= reservation.start) continue;
    for (Reservation::Left& left : reservation.left) {
      for (size_t i = 0; i < at.tasks.size(); ++i) {
        if (at.tasks[i].node != left.node) continue;
        const TaskDemand& demand = state.shapes()[shape].roles[at.role[i]].demand;
        left.cpu_milli = std::max<int64_t>(left.cpu_milli - demand.cpu_milli, 0);
        left.memory_bytes = std::max<int64_t>(left.memory_bytes - demand.memory_bytes, 0);
        left.disk_bytes = std::max<int64_t>(left.disk_bytes - demand.disk_bytes, 0);
      }
    }
  }
}

// ---- Finding a place in time

/// When something comes free, in order: those who run go, and reservations end.
void ReservationBook::sum_ends(const Core& core) {
  ends_.clear();
  const Timeline& timeline = core.state.timeline();
  for (JobId job = timeline.first(); is_set(job); job = timeline.next(job))
    ends_.push_back({.at = predicted_end(core, job), .job = job});
  for (const Reservation& reservation : present_) {
    if (reservation.end < kNever) ends_.push_back({.at = reservation.end});
  }
  std::ranges::sort(ends_);
}

/// With those lifted who have gone by then: does the job fit from then on, beside what is reserved already?
bool ReservationBook::try_at(Core& core, Transaction& txn, const GangRequest& request, Instant at) {
  const Duration length = core.state.jobs().estimate[index(request.job)];
  const Instant end = length >= kEndless || at.ns > kNever.ns - length.ns ? kNever : at + length;
  const auto mark = txn.mark();
  hide(txn, at, end, request.job);
  placement_.clear();
  const bool fits = core.placer.place_gang(txn, request, placement_).is_yes();
  if (fits) {
    reveal(txn);
    Reservation& reservation = present_.emplace_back();
    reservation = {.job = request.job, .start = at, .end = end, .places = placement_};
    note_left(core.state, reservation);
  } else {
    blockers_.clear();
  }
  txn.rollback(mark);
  return fits;
}

/// Requires: the places are taken.
void ReservationBook::note_left(const ClusterState& state, Reservation& reservation) {
  const NodeTable& nodes = state.nodes();
  for (const TaskPlacement& place : reservation.places.tasks) {
    if (std::ranges::find(reservation.left, place.node, &Reservation::Left::node) != reservation.left.end()) continue;
    const size_t n = index(place.node);
    reservation.left.push_back({.node = place.node,
                                .cpu_milli = nodes.free_cpu_milli[n],
                                .memory_bytes = nodes.free_memory_bytes[n],
                                .disk_bytes = nodes.free_disk_bytes[n]});
  }
}

bool ReservationBook::reserve(Core& core, Transaction& txn, const GangRequest& request, Since since) {
  if (since == Since::kUnchanged && keep(request.job)) {
    if (present_.back().is_drain == 0 && present_.back().start > core.now) return true;
    present_.pop_back();
  }
  are_all_kept_ = 0;
  sum_ends(core);
  const int64_t needed = whole_devices(core.state.shapes()[request.shape_id], request.counts);
  const auto mark = txn.mark();
  bool is_found = false;
  for (size_t i = 0; i < ends_.size() && !is_found; ++i) {
    if (is_set(ends_[i].job)) lift(core, txn, ends_[i].job);
    if (i + 1 < ends_.size() && ends_[i + 1].at == ends_[i].at) continue;
    is_found = core.state.capacity().free_devices(DomainId{0}) >= needed && try_at(core, txn, request, ends_[i].at);
  }
  txn.rollback(mark);
  return is_found;
}

bool ReservationBook::drain(Core& core, Transaction& txn, const GangRequest& request) {
  const auto had = std::ranges::find(last_, request.job, &Reservation::job);
  if (had != last_.end() && had->is_drain != 0) {
    present_.push_back(*had);
    return true;
  }
  const auto mark = txn.mark();
  for (size_t q = 0; q < core.state.queues().size(); ++q) {
    for (const JobId job : core.holders.of(make_id<QueueId>(q))) lift(core, txn, job);
  }
  const bool fits = try_at(core, txn, request, core.now);
  txn.rollback(mark);
  if (!fits) return false;
  present_.back().is_drain = 1;
  present_.back().end = kNever;
  for (Reservation::Left& left : present_.back().left) {
    const NodeTable& nodes = core.state.nodes();
    // Of what others hold now nothing is promised to be free.
    left.cpu_milli = std::min(left.cpu_milli, nodes.free_cpu_milli[index(left.node)]);
    left.memory_bytes = std::min(left.memory_bytes, nodes.free_memory_bytes[index(left.node)]);
    left.disk_bytes = std::min(left.disk_bytes, nodes.free_disk_bytes[index(left.node)]);
  }
  return true;
}

}  // namespace weft
