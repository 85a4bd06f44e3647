#include "scheduler/intake.h"

#include "base/check.h"
#include "scheduler/adopt.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace weft {

namespace {

/// Whether more than time and what the core itself has decided came to pass.
bool is_news(const EventBody& body) {
  return !std::holds_alternative<Tick>(body) && !std::holds_alternative<HoldAccepted>(body) &&
         !std::holds_alternative<GangStarted>(body);
}

/// Answers to the core's own commands do not by themselves, nor does progress as it was expected; ends do, and progress
/// that is news, and say so.
bool may_change_election(const EventBody& body) {
  return !std::holds_alternative<Tick>(body) && !std::holds_alternative<HoldAccepted>(body) &&
         !std::holds_alternative<GangStarted>(body) && !std::holds_alternative<TaskEnded>(body) &&
         !std::holds_alternative<GangEnded>(body) && !std::holds_alternative<ProgressReported>(body);
}

}  // namespace

void Intake::apply(const Event& event) {
  if (event.at >= kNever) {
    ++core_.ignored_events;
    return;
  }
  set_now(std::max(core_.now, event.at));
  if (may_change_election(event.body)) core_.elect.is_due = 1;
  if (is_news(event.body)) core_.room.is_due = 1;
  if (!std::visit([this](const auto& body) { return on(body); }, event.body)) ++core_.ignored_events;
  lifecycle_.settle();
}

// ---- Time

void Intake::set_now(Instant at) {
  core_.now = at;
  core_.log.set_now(at);
  if (core_.elect.look <= at) {
    core_.elect.look = kNever;
    core_.elect.is_due = 1;
  }
  if (core_.room.look <= at) core_.room.is_due = 1;
  while (!core_.timers.is_empty() && core_.timers.first().due <= core_.now) {
    const Timer timer = core_.timers.first();
    core_.timers.pop();
    if (is_valid(timer)) {
      fire(timer);
      core_.room.is_due = 1;
    }
    lifecycle_.settle();
  }
}

bool Intake::is_valid(const Timer& timer) const {
  if (core_.has_ended(timer.job)) return false;
  const JobRecord& record = core_.book[timer.job];
  switch (timer.kind) {
    case TimerKind::kBegin: return record.has_gate(Gate::kBeginTime) && record.begin == timer.due;
    case TimerKind::kStale: return record.stale_due == timer.due;
    case TimerKind::kTimeLimit: return record.limit_due == timer.due;
  }
  return false;
}

void Intake::fire(const Timer& timer) {
  switch (timer.kind) {
    case TimerKind::kBegin: {
      JobRecord& record = core_.book[timer.job];
      record.gates = static_cast<uint8_t>(record.gates & ~gate_bit(Gate::kBeginTime));
      lifecycle_.sync_lines(timer.job);
      return;
    }
    case TimerKind::kStale: return lifecycle_.on_stale(timer.job);
    case TimerKind::kTimeLimit: return lifecycle_.on_time_limit(timer.job);
  }
}

void Intake::drop_stale_timers() {
  while (!core_.timers.is_empty() && !is_valid(core_.timers.first())) core_.timers.pop();
}

// ---- Jobs

void Intake::reject(const JobSpec& spec, Instant submitted, std::string why) {
  const JobId job =
      core_.state.add_job(kNone<ShapeId>, core_.state.names().users.intern(spec.user), submitted, spec.estimate);
  core_.attempts.resize(core_.state.jobs().size());
  core_.holders.resize(core_.state.jobs().size());
  core_.lines.resize_jobs(core_.state.jobs().size());
  core_.book.add(spec, nullptr, core_.now, core_.now).ended = core_.now;
  {
    Transaction txn(core_.state);
    txn.set_job_state(job, JobState::kRejected);
    txn.commit();
  }
  Verdict verdict;
  verdict.is_never = true;
  core_.log.reject(job, verdict);
  core_.errors.push_back(why);
  core_.book.set_remark(job, std::move(why));
}

JobId Intake::enter(const JobSpec& spec, Instant submitted) {
  if (core_.elects() && spec.gang == GangRule::kNone) {
    reject(spec, submitted,
           fmt::format("job {}: where the running set is elected, tasks start together only", spec.name));
    return kNone<JobId>;
  }
  Result<Shape> shape = core_.state.resolve(spec);
  if (!shape) {
    reject(spec, submitted, std::move(shape.error().message));
    return kNone<JobId>;
  }
  const ShapeId id = core_.state.intern(std::move(*shape));
  core_.ceiling.learn(id, spec);
  const UserId user = core_.state.names().users.intern(spec.user.empty() ? spec.queue : spec.user);
  const JobId job = core_.state.add_job(id, user, submitted, std::min(spec.estimate, spec.time_limit));
  core_.attempts.resize(core_.state.jobs().size());
  core_.holders.resize(core_.state.jobs().size());
  core_.lines.resize_jobs(core_.state.jobs().size());
  core_.book.resize_tasks(core_.state.tasks().size());
  core_.book.add(spec, &core_.state.shapes()[id], core_.now, spec.start_no_earlier.value_or(core_.now));
  if (!spec.after.empty()) core_.book.set_after(job, spec.after);
  core_.arrivals.push_back(job);
  expected_.note(id, core_.state.shapes()[id]);
  return job;
}

bool Intake::on(const JobSubmitted& event) {
  enter(event.job, core_.now);
  return true;
}

bool Intake::on(const JobAdopted& event) {
  const JobId job = enter(event.job, std::min(event.submitted, core_.now));
  if (!is_set(job) || event.tasks.empty()) return true;
  const Shape& shape = core_.shape_of(job);
  const int32_t count = shape.task_count();
  std::vector<int32_t> locals;
  std::vector<TaskPlacement> placements;
  {
    Transaction txn(core_.state);
    for (const AdoptedTask& fact : event.tasks) {
      const bool is_known = fact.task >= 0 && fact.task < count && std::ranges::find(locals, fact.task) == locals.end();
      std::optional<TaskPlacement> at;
      if (is_known) {
        size_t role = 0;
        for (int32_t first = shape.roles[0].count; first <= fact.task; first += shape.roles[role].count) ++role;
        at = place_fact(core_.state, shape.roles[role].demand, fact);
        if (at) txn.take(shape.roles[role].demand, *at);
      }
      if (!at) {
        core_.errors.push_back(
            fmt::format("job {}: task {} cannot be where it is said to run; it waits", event.job.name, fact.task));
        continue;
      }
      locals.push_back(fact.task);
      placements.push_back(*at);
    }
    if (!locals.empty()) lifecycle_.adopt(txn, job, locals, placements);
    txn.commit();
  }
  if (!locals.empty()) lifecycle_.begin_adopted(job, event.started);
  return true;
}

bool Intake::on(const JobCancelled& event) {
  if (!is_waiting_or_running(event.job)) return false;
  lifecycle_.cancel(event.job);
  return true;
}

bool Intake::on(const JobHeld& event) {
  if (!is_waiting_or_running(event.job)) return false;
  core_.book[event.job].gates |= gate_bit(Gate::kHeld);
  lifecycle_.sync_lines(event.job);
  return true;
}

bool Intake::on(const JobReleased& event) {
  if (!is_waiting_or_running(event.job)) return false;
  JobRecord& record = core_.book[event.job];
  record.gates = static_cast<uint8_t>(record.gates & ~gate_bit(Gate::kHeld));
  lifecycle_.sync_lines(event.job);
  return true;
}

bool Intake::on(const JobScaled& event) {
  if (!is_waiting_or_running(event.job) || core_.elects()) return false;
  lifecycle_.scale(event.job, event.tasks);
  return true;
}

// ---- Nodes and queues

bool Intake::on(const TopologyDefined& event) {
  if (Result<void> done = core_.state.define_topology(event.topology); !done) {
    core_.errors.push_back(done.error().message);
    return true;
  }
  WEFT_CHECK(core_.ceiling.state().define_topology(event.topology).has_value(), "both states take the same structure");
  return true;
}

bool Intake::on(const QueueDefined& event) {
  if (Result<QueueId> done = core_.state.define_queue(event.queue); !done) {
    core_.errors.push_back(done.error().message);
    return true;
  }
  WEFT_CHECK(core_.ceiling.state().define_queue(event.queue).has_value(), "both states take the same structure");
  core_.wake_ups.note_queues_changed();
  return true;
}

bool Intake::on(const DeviceModelDefined& event) {
  if (Result<void> checked = check_device_model(event.model); !checked) {
    core_.errors.push_back(checked.error().message);
    return true;
  }
  core_.state.names().devices.add(event.model);
  core_.ceiling.state().names().devices.add(event.model);
  return true;
}

bool Intake::on(const NodeAdded& event) {
  const Result<NodeId> node = core_.state.add_node(event.node);
  if (!node) {
    core_.errors.push_back(node.error().message);
    return true;
  }
  WEFT_CHECK(core_.ceiling.state().add_node(event.node).has_value(), "both states take the same structure");
  const size_t n = index(*node);
  const NodeTable& nodes = core_.state.nodes();
  core_.totals = core_.totals + ResourceVector{.gpu_units = nodes.device_count[n] * kGpuUnits,
                                               .cpu_milli = nodes.total_cpu_milli[n],
                                               .memory_bytes = nodes.total_memory_bytes[n]};
  core_.wake_ups.note_added(*node);
  return true;
}

bool Intake::knows(NodeId node, unsigned device) const {
  return knows(node) && device < core_.state.nodes().device_count[index(node)];
}

bool Intake::on(const NodeDown& event) {
  if (!knows(event.node) || core_.state.nodes().is_up[index(event.node)] == 0) return false;
  core_.state.set_node_up(event.node, 0);
  lifecycle_.lose_node(event.node);
  return true;
}

bool Intake::on(const NodeUp& event) {
  if (!knows(event.node) || core_.state.nodes().is_up[index(event.node)] != 0) return false;
  core_.state.set_node_up(event.node, 1);
  core_.wake_ups.note_added(event.node);
  return true;
}

bool Intake::on(const NodeCordoned& event) {
  if (!knows(event.node) || core_.state.nodes().is_cordoned[index(event.node)] != 0) return false;
  core_.state.set_node_cordoned(event.node, 1);
  return true;
}

bool Intake::on(const NodeUncordoned& event) {
  if (!knows(event.node) || core_.state.nodes().is_cordoned[index(event.node)] == 0) return false;
  core_.state.set_node_cordoned(event.node, 0);
  core_.wake_ups.note_added(event.node);
  return true;
}

bool Intake::on(const DeviceFailed& event) {
  if (!knows(event.node, event.device)) return false;
  if ((core_.state.nodes().healthy[index(event.node)] >> event.device & 1U) == 0) return false;
  core_.state.set_device_healthy(event.node, event.device, 0);
  lifecycle_.lose_device(event.node, event.device);
  return true;
}

bool Intake::on(const DeviceRecovered& event) {
  if (!knows(event.node, event.device)) return false;
  if ((core_.state.nodes().healthy[index(event.node)] >> event.device & 1U) != 0) return false;
  core_.state.set_device_healthy(event.node, event.device, 1);
  core_.wake_ups.note_added(event.node);
  return true;
}

bool Intake::on(const NodeLoadReported& event) {
  if (!knows(event.node) || event.device_load_milli < 0 || event.device_load_milli > 1000) return false;
  core_.state.set_node_load(event.node, event.device_load_milli);
  return true;
}

}  // namespace weft
