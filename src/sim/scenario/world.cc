#include "sim/scenario/world.h"

#include "base/bits.h"
#include "base/check.h"
#include "base/text.h"
#include "model/catalogue.h"
#include "model/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::scenario {
namespace {

constexpr size_t kEventsPerCall =
    4096;  // structure is handed over in parts, so that 200,000 nodes are not copied at once

/// Takes events and passes them on in parts.
class Batch {
 public:
  explicit Batch(Scheduler& scheduler) : scheduler_(scheduler) { events_.reserve(kEventsPerCall); }

  void add(EventBody body) {
    events_.push_back({Instant{}, std::move(body)});
    if (events_.size() == kEventsPerCall) flush();
  }
  void flush() {
    if (events_.empty()) return;
    scheduler_.absorb(events_);
    for (const std::string& error : scheduler_.last_errors()) {
      if (first_error_.empty()) first_error_ = error;
    }
    events_.clear();
  }
  const std::string& first_error() const { return first_error_; }

 private:
  Scheduler& scheduler_;
  std::vector<Event> events_;
  std::string first_error_;
};

/// An instance that none of the cluster's models can be cut into is asked of just these models, which makes the request
/// invalid: nodes of other models never come in a scenario.
void name_models(const Scenario& scenario, RoleSpec& role) {
  const DeviceCatalogue& catalogue = known_devices();
  std::vector<std::string> models;
  for (const NodeGroup& group : scenario.nodes) {
    for (const DeviceSpec& device : group.spec.devices) {
      if (find_mig_profile(catalogue.model(catalogue.find(device.model)), role.devices.mig_profile) != kNoProfile)
        return;
      if (std::find(models.begin(), models.end(), device.model) == models.end()) models.push_back(device.model);
    }
  }
  role.constraint.models = std::move(models);
}

std::string mask_text(DeviceMask devices) {
  std::string out;
  for_each_bit(devices, [&](unsigned d) { out += fmt::format("{}{}", out.empty() ? "" : ",", d); });
  return out;
}

}  // namespace

World::World(const Scenario& scenario, std::unique_ptr<Scheduler> scheduler, Transcript transcript)
    : scenario_(scenario),
      scheduler_(std::move(scheduler)),
      ids_(scenario.job_count, kNone<JobId>),
      stale_since_(scenario.job_count, kNever),
      progress_(scenario.job_count),
      has_transcript_(transcript) {}

std::expected<std::unique_ptr<World>, Problem> World::create(const Scenario& scenario, Transcript transcript) {
  auto scheduler = Scheduler::create(make_policy(scenario.policy));
  if (!scheduler) return std::unexpected(Problem{scenario.at, scheduler.error().message});
  std::unique_ptr<World> world(new World(scenario, std::move(*scheduler), transcript));
  if (auto done = world->set_up(); !done) return std::unexpected(std::move(done.error()));
  return world;
}

std::expected<void, Problem> World::set_up() {
  Batch batch(*scheduler_);
  batch.add(TopologyDefined{scenario_.topology});
  for (const QueueSpec& queue : scenario_.queues) batch.add(QueueDefined{queue});
  for (const NodeGroup& group : scenario_.nodes) {
    for (uint32_t i = 0; i < group.count; ++i) {
      NodeAdded added{group.spec};
      added.node.name = scenario_.node_name(group.first + i);
      batch.add(std::move(added));
    }
  }
  batch.flush();
  if (!batch.first_error().empty()) return std::unexpected(Problem{scenario_.at, batch.first_error()});

  uint32_t initial_jobs = 0;
  for (uint32_t g = 0; g < scenario_.initial_groups; ++g) initial_jobs += scenario_.jobs[g].count;
  std::vector<Event> events;
  for (uint32_t g = 0; g < scenario_.initial_groups; ++g) {
    const JobGroup& group = scenario_.jobs[g];
    // In the file's order, one second apart, the last a second before the start.
    for (uint32_t i = 0; i < group.count; ++i) {
      adopt(group, group.first + i, Duration{} - seconds(initial_jobs - group.first - i), events);
    }
  }
  note(scheduler_->absorb(events));
  const std::vector<std::string> errors = scheduler_->last_errors();
  for (uint32_t g = 0; g < scenario_.initial_groups; ++g) {
    const JobGroup& group = scenario_.jobs[g];
    for (uint32_t i = 0; i < group.count; ++i) {
      tell_adopted(group, group.first + i);
      const bool is_rejected = scheduler_->job_state(ids_[group.first + i]) == JobState::kRejected;
      if (!group.seats.empty() && engine_.running_count(ids_[group.first + i]) < group.seats.size() && !is_rejected) {
        return std::unexpected(
            Problem{group.at, fmt::format("job {} cannot run where `at` says: {}", scenario_.job_name(group.first + i),
                                          errors.empty() ? "there is no room" : errors[0])});
      }
    }
  }
  drain();
  return {};
}

JobSpec World::spec_of(const JobGroup& group, JobIndex job) const {
  JobSpec spec = group.spec;
  spec.name = scenario_.job_name(job);
  for (const JobIndex before : group.after) spec.after.push_back(static_cast<uint32_t>(index(ids_[before])));
  for (RoleSpec& role : spec.roles) {
    if (role.devices.kind == DeviceNeedKind::kMig && role.constraint.models.empty()) name_models(scenario_, role);
  }
  return spec;
}

void World::tell_engine(const JobGroup& group, JobIndex job) {
  engine_.set_runtime(ids_[job], group.runtime,
                      group.spec.gang == GangRule::kNone ? FakeEnding::kEachTask : FakeEnding::kTogether);
}

void World::adopt(const JobGroup& group, JobIndex job, Duration by_order, std::vector<Event>& events) {
  ids_[job] = make_id<JobId>(index(scheduler_->next_job_id()) + events.size());
  jobs_by_id_.push_back(job);
  tell_engine(group, job);
  Duration submitted = group.submitted.value_or(by_order);
  if (group.started) submitted = std::min(submitted, *group.started);  // a job is never submitted later than it started
  JobAdopted adopted{.job = spec_of(group, job),
                     .submitted = Instant{} + submitted,
                     .started = Instant{} + group.started.value_or(submitted),
                     .tasks = {}};
  for (const TaskSeat& seat : group.seats) {
    adopted.tasks.push_back({.task = seat.task,
                             .node = make_id<NodeId>(seat.node),
                             .devices = seat.devices,
                             .numa_zone = seat.numa_zone,
                             .mig_start = seat.mig_start});
  }
  events.push_back({Instant{}, std::move(adopted)});
}

/// The engine learns what runs already, with the devices that the scheduler took for it.
void World::tell_adopted(const JobGroup& group, JobIndex job) {
  if (group.seats.empty()) return;
  const JobView view = scheduler_->job(ids_[job]);
  std::vector<std::pair<int32_t, TaskPlacement>> tasks;
  for (size_t t = 0; t < view.tasks.size(); ++t) {
    if (view.tasks[t].state == TaskState::kRunning)
      tasks.emplace_back(static_cast<int32_t>(t), view.tasks[t].placement);
  }
  engine_.adopt(ids_[job], view.attempt, tasks, view.started);
  if (!tasks.empty() && group.spec.gang == GangRule::kAll) progress_[job].adopt(view.started, group.spec);
}

void World::fact(EventBody body) {
  const Event event{now(), std::move(body)};
  note(scheduler_->absorb(std::span(&event, 1)));
  drain();
}

void World::submit(uint32_t group_index) {
  const JobGroup& group = scenario_.jobs[group_index];
  std::vector<Event> events;
  for (uint32_t i = 0; i < group.count; ++i) {
    const JobIndex job = group.first + i;
    ids_[job] = make_id<JobId>(index(scheduler_->next_job_id()) + i);
    jobs_by_id_.push_back(job);
    tell_engine(group, job);
    events.push_back({now(), JobSubmitted{spec_of(group, job)}});
  }
  note(scheduler_->absorb(events));
  drain();
}

std::string World::finish(JobIndex job) {
  if (engine_.finish(ids_[job]) == 0)
    return fmt::format("{} has no running task that could end", scenario_.job_name(job));
  finished_.insert(job);
  drain();
  return {};
}

std::string World::crash(JobIndex job, TaskIndex task) {
  if (engine_.crash(ids_[job], task, 1) == 0) {
    return task < 0 ? fmt::format("{} has no running task that could crash", scenario_.job_name(job))
                    : fmt::format("{}/{} does not run, so it cannot crash", scenario_.job_name(job),
                                  scenario_.task_name(job, task));
  }
  drain();
  return {};
}

void World::cancel(JobIndex job) { fact(JobCancelled{ids_[job]}); }
void World::scale(JobIndex job, int64_t tasks) { fact(JobScaled{ids_[job], static_cast<int32_t>(tasks)}); }

void World::fault(const FaultStep& step) {
  const auto node = make_id<NodeId>(step.node);
  const auto device = static_cast<uint8_t>(std::max(step.device, 0));
  switch (step.kind) {
    case FaultStep::Kind::kFail: step.device < 0 ? engine_.lose_node(node) : engine_.fail_device(node, device); break;
    case FaultStep::Kind::kRecover:
      step.device < 0 ? engine_.recover_node(node) : engine_.recover_device(node, device);
      break;
    case FaultStep::Kind::kCordon: return fact(NodeCordoned{node});
    case FaultStep::Kind::kUncordon: return fact(NodeUncordoned{node});
  }
  drain();
}

void World::stick(const StickStep& step) {
  step.kind == StickStep::Kind::kStick ? engine_.stick(ids_[step.job], step.task)
                                       : engine_.unstick(ids_[step.job], step.task);
  drain();
}

bool World::cycle() {
  const Event tick{now(), Tick{}};
  bool has_changed = note(scheduler_->apply(tick));
  engine_.end_cycle();
  has_changed |= drain();
  watch_gangs();
  ++cycle_count_;
  return has_changed || engine_.has_stops_due() || scheduler_->next_timer() <= now();
}

void World::advance_to(Instant to) {
  engine_.advance_to(to);
  drain();
  fact(Tick{});
  watch_gangs();
}

bool World::drain() {
  bool has_changed = false;
  while (engine_.has_events()) {
    has_changed = true;
    scratch_.clear();
    engine_.poll(scratch_);
    for (const Event& event : scratch_) watch_progress(event);
    note(scheduler_->absorb(scratch_));
    tell_progress();
    for (const JobIndex job : finished_) engine_.finish(ids_[job]);
  }
  views_.clear();
  return has_changed;
}

void World::watch_progress(const Event& event) {
  const auto* started = std::get_if<GangStarted>(&event.body);
  const auto* ended = std::get_if<TaskEnded>(&event.body);
  if (started == nullptr && ended == nullptr) return;
  const JobIndex job = jobs_by_id_[index(started != nullptr ? started->job : ended->job)];
  const JobSpec& spec = scenario_.job_group(job).spec;
  if (spec.gang != GangRule::kAll) return;
  Progress& progress = progress_[job];
  if (started != nullptr && !progress.is_running()) progress.start(event.at);
  if (ended == nullptr || !progress.is_running() || engine_.running_count(ids_[job]) > 0) return;
  progress.stop(event.at, spec);
  stopped_.push_back(job);
}

void World::tell_progress() {
  std::vector<Event> reports;
  for (const JobIndex job : stopped_) {
    if (is_end_state(scheduler_->job_state(ids_[job]))) continue;
    const JobGroup& group = scenario_.job_group(job);
    engine_.set_runtime(ids_[job], progress_[job].left_of(group.runtime, group.spec), FakeEnding::kTogether);
    const Duration remaining = progress_[job].left_of(group.spec.estimate, group.spec);
    if (remaining < kEndless) reports.push_back({now(), ProgressReported{ids_[job], remaining}});
  }
  stopped_.clear();
  if (!reports.empty()) note(scheduler_->absorb(reports));
}

void World::watch_gangs() {
  for (const JobIndex job : jobs_by_id_) {
    const bool is_below = scenario_.job_group(job).spec.gang == GangRule::kAll &&
                          scheduler_->job_state(ids_[job]) < JobState::kRunning && engine_.running_count(ids_[job]) > 0;
    if (!is_below)
      stale_since_[job] = kNever;
    else if (stale_since_[job] == kNever)
      stale_since_[job] = now();
  }
}

Instant World::next_event() const { return std::min(engine_.next_event(), scheduler_->next_timer()); }

Instant World::next_grace_or_stale_end() {
  Instant next = engine_.next_grace_end();
  for (const JobIndex job : jobs_by_id_) {
    if (stale_since_[job] == kNever) continue;
    const Instant due = stale_since_[job] + scenario_.job_group(job).spec.stale_after;
    if (due > now()) next = std::min(next, due);
  }
  return next;
}

const JobView& World::view(JobIndex job) {
  WEFT_CHECK(is_submitted(job), "the reader lets nobody ask for a job before it is submitted");
  return views_.try_emplace(job, scheduler_->job(ids_[job])).first->second;
}

bool World::note(const Decisions& decisions) {
  views_.clear();
  for (const Decision& decision : decisions.list) {
    const JobIndex job = jobs_by_id_[index(decision.job)];
    if (decision.kind == DecisionKind::kStop) note_stop(decision, job);
    if (decision.kind == DecisionKind::kHold && moving_.erase(job) > 0) moved_.insert(job);
    if (has_transcript_ == Transcript::kOn) write(decisions, decision);
  }
  engine_.execute(decisions);
  return !decisions.list.empty();
}

void World::note_stop(const Decision& decision, JobIndex job) {
  const bool is_move = decision.cause == StopCause::kMoved;
  const bool is_eviction = decision.cause == StopCause::kPreempted || decision.cause == StopCause::kReclaimed;
  if (!is_move && !is_eviction) return;
  for (const int32_t task : engine_.running_tasks(decision.job, decision.attempt)) {
    if (decision.task >= 0 && decision.task != task) continue;
    (is_move ? tally_.moves : tally_.evictions) += 1;
    if (is_eviction) tally_.evicted.emplace(job, task);
  }
  if (is_move) moving_.insert(job);
}

void World::write(const Decisions& decisions, const Decision& decision) {
  const JobIndex job = jobs_by_id_[index(decision.job)];
  std::string line = fmt::format("  cycle {} at {}: ", cycle_count_ + 1, format_duration(now() - Instant{}));
  switch (decision.kind) {
    case DecisionKind::kAdmit: return;
    case DecisionKind::kReject:
      line += fmt::format("reject {}: {}", scenario_.job_name(job), scheduler_->job(decision.job).why);
      break;
    case DecisionKind::kHold:
      line += fmt::format("hold for {}:", scenario_.job_name(job));
      for (const TaskPlacement& p : decisions.placements_of(decision)) {
        const auto task = static_cast<TaskIndex>(index(p.task) - index(decision.first_task));
        line += fmt::format(" {} on {}{}", scenario_.task_name(job, task),
                            scenario_.node_name(static_cast<NodeIndex>(index(p.node))),
                            p.devices == 0 ? "" : fmt::format("[{}]", mask_text(p.devices)));
      }
      break;
    case DecisionKind::kStart: line += fmt::format("start {}", scenario_.job_name(job)); break;
    case DecisionKind::kRelease: line += fmt::format("give up the hold of {}", scenario_.job_name(job)); break;
    case DecisionKind::kStop:
      line +=
          fmt::format("stop {}{}: {}", scenario_.job_name(job),
                      decision.task < 0 ? "" : "/" + scenario_.task_name(job, decision.task), to_text(decision.cause));
      break;
    case DecisionKind::kEnd:
      line += fmt::format("{} is {}", scenario_.job_name(job), to_text(decision.end_state));
      break;
  }
  transcript_.push_back(std::move(line));
}

}  // namespace weft::scenario
