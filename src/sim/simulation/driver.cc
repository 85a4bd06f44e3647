#include "sim/simulation/driver.h"

#include "base/bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <variant>

namespace weft::sim {

Driver::Driver(TraceReader& trace, const RunPlan& plan, const PolicyPlan& policy, std::unique_ptr<Scheduler> core,
               const RunListeners& listeners)
    : trace_(trace),
      plan_(plan),
      listeners_(listeners),
      policy_(policy),
      core_(std::move(core)),
      mapping_(policy.layout, plan.cluster),
      clock_(plan),
      random_(plan.seed) {}

Result<void> Driver::add_cluster() {
  std::vector<Event> events;
  events.push_back({.at = {}, .body = QueueDefined{.queue = {.name = "default", .guarantee = kUnlimitedResources}}});
  for (const std::string& model : plan_.cluster.models)
    events.push_back({.at = {}, .body = DeviceModelDefined{.model = {.name = model, .vendor = "trace"}}});
  for (const NodeSpec& node : plan_.cluster.nodes) events.push_back({.at = {}, .body = NodeAdded{.node = node}});
  if (const Result<const Decisions*> told = tell(CoreCall::kApply, events); !told) return std::unexpected(told.error());
  if (!core_->last_errors().empty()) return fail(ErrorCode::kInvalidInput, core_->last_errors().front());
  for (const NodeSpec& node : plan_.cluster.nodes) out_.nodes.push_back(node.name);
  out_.total_gpu_milli = plan_.cluster.gpu_count() * 1000;
  return {};
}

// ---- What comes

Result<void> Driver::look_ahead() {
  const auto begun = std::chrono::steady_clock::now();
  const Result<TraceReader::Step> step = trace_.next(next_);
  out_.read_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (!step) return std::unexpected(step.error());
  has_next_ = *step == TraceReader::Step::kJob ? 1 : 0;
  return {};
}

Duration Driver::told_run_time(const TraceJob& job, Duration run_time) {
  switch (plan_.estimates.kind) {
    case Estimates::Kind::kOracle: return run_time;
    case Estimates::Kind::kUser: return job.estimate < kEndless ? job.estimate : job.limit;
    case Estimates::Kind::kNoise: break;
  }
  // Two uniform numbers make a normal one (Box and Muller): the same on every machine that rounds as IEEE 754 says.
  const auto uniform = [&] { return (static_cast<double>(random_.next() >> 11) + 0.5) * 0x1p-53; };
  const double radius = std::sqrt(-2 * std::log(uniform()));
  const double normal = radius * std::cos(2 * 3.14159265358979323846 * uniform());
  const double told = static_cast<double>(run_time.ns) * std::exp(plan_.estimates.sigma * normal);
  return Duration{std::max<int64_t>(1, static_cast<int64_t>(std::min(told, static_cast<double>(kEndless.ns) / 2)))};
}

/// A job that no empty cluster could hold is found out at its coming, once for each kind.
Result<void> Driver::check_possible(const TraceJob& job, const JobSpec& spec) {
  const auto demand = std::tie(job.tasks, job.gpus_per_task, job.gpu_milli, job.is_gpu_count, job.cpu_milli,
                               job.memory_bytes, job.gpu_models);
  if (checked_.contains(demand)) return {};
  const Result<Verdict> verdict = core_->what_if(spec);
  if (!verdict) return std::unexpected(verdict.error());
  if (verdict->is_never && plan_.skips_impossible == 0)
    return fail(ErrorCode::kInvalidInput, fmt::format("job {}: {}", spec.name, core_->text(*verdict)));
  checked_.emplace(demand);
  return {};
}

Result<void> Driver::take_arrivals(Instant now) {
  size_t count = 0;
  while (has_next_ != 0 && submit_by(plan_.rules, next_) <= now) {
    if (count == arrivals_.size()) arrivals_.push_back({.at = {}, .body = JobSubmitted{}});
    Event& event = arrivals_[count++];
    event.at = now;
    JobSpec& spec = std::get<JobSubmitted>(event.body).job;
    mapping_.describe(next_, spec);
    const Duration run_time = run_time_by(plan_.rules, next_);
    spec.estimate = told_run_time(next_, run_time);
    if (Result<void> possible = check_possible(next_, spec); !possible) return possible;
    const int64_t gpu_milli = gpu_milli_of(next_);
    out_.jobs.push_back({.id = next_.id,
                         .user = next_.user,
                         .queue = next_.queue,
                         .gpus = static_cast<int32_t>((gpu_milli + 999) / 1000),
                         .gpu_milli = gpu_milli,
                         .submit = now,
                         .run_time = run_time});
    live_.push_back({.work = clock_.admit(next_, run_time), .gpu_milli = gpu_milli});
    pending_milli_ += gpu_milli;
    ++pending_count_;
    if (Result<void> next = look_ahead(); !next) return next;
  }
  // The specs are lent to the cycle and come back with their memory.
  for (size_t i = 0; i < count; ++i) events_.push_back(std::move(arrivals_[i]));
  lent_ = count;
  return {};
}

void Driver::take_endings(Instant now) {
  for (const Ending* first = first_ending(); first != nullptr && first->at <= now; first = first_ending()) {
    const JobId job = first->job;
    leave(job, now);
    events_.push_back(
        {.at = now,
         .body = GangEnded{
             .job = job, .attempt = live_[index(job)].attempt, .outcome = TaskOutcome::kDone, .exit_status = 0}});
  }
}

/// Muri's rules: whoever runs and does not end now gets on, and the core hears what is left.
void Driver::pass_event(Instant now) {
  for (const JobId job : running_) {
    Live& live = live_[index(job)];
    set_end(job, clock_.pass_event(live.work, now));
    events_.push_back({.at = now, .body = ProgressReported{.job = job, .remaining = live.work.left}});
  }
}

// ---- The engine

void Driver::set_end(JobId job, Instant end) {
  Live& live = live_[index(job)];
  live.end = end;
  endings_.push_back({.at = end, .start = live.start, .job = job});
  std::ranges::push_heap(endings_, std::greater{});
}

void Driver::on_start(const Decision& decision, Instant now) {
  Live& live = live_[index(decision.job)];
  JobOutcome& job = out_.jobs[index(decision.job)];
  if (job.start == kNever) job.start = now;
  live.started = now;
  live.start = ++starts_;
  live.attempt = decision.attempt;
  set_end(decision.job, clock_.start(live.work, now));
  if (clock_.passes_events()) running_.push_back(decision.job);
  used_milli_ += live.gpu_milli;
  pending_milli_ -= live.gpu_milli;
  ++running_count_;
  --pending_count_;
}

void Driver::leave(JobId job, Instant now) {
  Live& live = live_[index(job)];
  const Duration ran = now - live.started;
  live.started = kNever;
  out_.jobs[index(job)].executed = out_.jobs[index(job)].executed + ran;
  out_.busy_gpu_seconds += ran.seconds() * static_cast<double>(live.gpu_milli) / 1000;
  used_milli_ -= live.gpu_milli;
  --running_count_;
  if (clock_.passes_events()) std::erase(running_, job);
  if (plan_.wants_spans != 0) {
    for (const Held& held : held_[job]) {
      out_.spans.push_back({.job = static_cast<uint32_t>(index(job)),
                            .node = held.node,
                            .gpus = held.gpus,
                            .from = now - ran,
                            .to = now});
    }
    held_.erase(job);
  }
}

void Driver::on_stop(const Decision& decision, Instant now) {
  Live& live = live_[index(decision.job)];
  if (live.started == kNever) return;
  clock_.stop(live.work, now);
  leave(decision.job, now);
  if (decision.cause == StopCause::kPreempted) ++out_.jobs[index(decision.job)].preempts;
  pending_milli_ += live.gpu_milli;
  ++pending_count_;
}

void Driver::on_end(const Decision& decision, Instant now) {
  JobOutcome& job = out_.jobs[index(decision.job)];
  job.end = now;
  ++ended_;
  switch (decision.end_state) {
    case JobState::kDone: job.how = JobEnd::kDone; return;
    case JobState::kFailed: job.how = JobEnd::kFailed; break;
    default: job.how = JobEnd::kCancelled; break;
  }
  job.why = core_->job(decision.job).why;
}

void Driver::answer(const Decisions& decisions, Instant now) {
  answers_.clear();
  out_.decisions += decisions.list.size();
  for (const Decision& decision : decisions.list) {
    switch (decision.kind) {
      case DecisionKind::kHold:
        if (plan_.wants_spans != 0) {
          std::vector<Held>& held = held_[decision.job];
          held.clear();
          for (const TaskPlacement& at : decisions.placements_of(decision)) {
            const auto gpus = static_cast<int32_t>(popcount(at.devices));
            const auto node = static_cast<uint32_t>(index(at.node));
            const bool is_same = !held.empty() && held.back().node == node;
            is_same ? held.back().gpus += gpus : held.emplace_back(Held{node, gpus}).gpus;
          }
        }
        answers_.push_back({.at = now, .body = HoldAccepted{.job = decision.job, .attempt = decision.attempt}});
        break;
      case DecisionKind::kStart:
        on_start(decision, now);
        answers_.push_back({.at = now, .body = GangStarted{.job = decision.job, .attempt = decision.attempt}});
        break;
      case DecisionKind::kStop:
        on_stop(decision, now);
        answers_.push_back({.at = now,
                            .body = GangEnded{.job = decision.job,
                                              .attempt = decision.attempt,
                                              .outcome = TaskOutcome::kStopped,
                                              .exit_status = 0}});
        break;
      case DecisionKind::kEnd: on_end(decision, now); break;
      case DecisionKind::kReject: {
        JobOutcome& job = out_.jobs[index(decision.job)];
        job.how = JobEnd::kRejected;
        job.why = core_->job(decision.job).why;
        pending_milli_ -= live_[index(decision.job)].gpu_milli;
        --pending_count_;
        ++ended_;
        break;
      }
      case DecisionKind::kAdmit:
      case DecisionKind::kRelease: break;
    }
  }
}

Result<const Decisions*> Driver::tell(CoreCall call, std::span<const Event> events) {
  out_.events += events.size();
  const Decisions& decisions = call == CoreCall::kApply ? core_->apply(events) : core_->absorb(events);
  for (RunObserver* observer : listeners_.observers) {
    if (Result<void> heard = observer->on_call(call, events, decisions, *core_); !heard)
      return std::unexpected(heard.error());
  }
  return &decisions;
}

Result<void> Driver::cycle(Instant now) {
  if (events_.empty()) events_.push_back({.at = now, .body = Tick{}});
  Result<const Decisions*> decisions = tell(CoreCall::kApply, events_);
  if (!decisions) return std::unexpected(decisions.error());
  answer(**decisions, now);
  for (; lent_ > 0; --lent_, events_.pop_back()) arrivals_[lent_ - 1] = std::move(events_.back());
  while (!answers_.empty()) {
    std::swap(events_, answers_);
    decisions = tell(CoreCall::kApply, events_);
    if (!decisions) return std::unexpected(decisions.error());
    answer(**decisions, now);
  }
  return {};
}

void Driver::sample(Instant now) {
  samples_.add({.at = now,
                .used_gpu_milli = used_milli_,
                .pending_gpu_milli = pending_milli_,
                .running = running_count_,
                .pending = pending_count_});
}

// ---- The run

const Driver::Ending* Driver::first_ending() {
  while (!endings_.empty()) {
    const Ending& first = endings_.front();
    const Live& live = live_[index(first.job)];
    if (live.started != kNever && live.start == first.start && live.end == first.at) return &first;
    std::ranges::pop_heap(endings_, std::greater{});
    endings_.pop_back();
  }
  return nullptr;
}

Instant Driver::next_instant() {
  Instant next = core_->next_timer();
  if (has_next_ != 0) next = std::min(next, submit_by(plan_.rules, next_));
  if (const Ending* first = first_ending()) next = std::min(next, first->at);
  return next;
}

Result<RunOutcome> Driver::run() {
  const auto begun = std::chrono::steady_clock::now();
  if (Result<void> added = add_cluster(); !added) return std::unexpected(added.error());
  if (Result<void> first = look_ahead(); !first) return std::unexpected(first.error());
  Instant now;
  for (uint64_t step = 0;; ++step) {
    const Instant next = next_instant();
    if (next == kNever) break;
    now = std::max(now, next);
    events_.clear();
    take_endings(now);
    pass_event(now);
    if (Result<void> arrived = take_arrivals(now); !arrived) return std::unexpected(arrived.error());
    if (Result<void> cycled = cycle(now); !cycled) return std::unexpected(cycled.error());
    sample(now);
    if (listeners_.progress && step % 1024 == 0)
      listeners_.progress({.jobs_come = out_.jobs.size(), .jobs_ended = ended_, .now = now});
  }
  finish(out_);
  out_.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() - out_.read_seconds;
  return std::move(out_);
}

void Driver::finish(RunOutcome& out) {
  for (size_t i = 0; i < out.jobs.size(); ++i) {
    JobOutcome& job = out.jobs[i];
    const Duration left = job.how == JobEnd::kDone ? Duration{0} : live_[i].work.left;
    job.lost = job.executed - (job.run_time - left);
    if (job.how == JobEnd::kUnfinished) job.why = core_->job(make_id<JobId>(i)).why;
  }
  out.policy = plan_.policy;
  out.placement = policy_.placement;
  out.cluster = plan_.cluster.name;
  out.rules = std::string(rules_name(plan_.rules));
  out.seed = plan_.seed;
  out.samples = samples_.take();
  out.decision_hash = core_->decision_hash();
}

Result<RunOutcome> simulate(TraceReader& trace, const RunPlan& plan, const RunListeners& listeners) {
  const Result<PolicyPlan> policy = plan_policy(plan);
  if (!policy) return std::unexpected(policy.error());
  Result<std::unique_ptr<Scheduler>> core = Scheduler::create(policy->config);
  if (!core) return std::unexpected(core.error());
  return Driver(trace, plan, *policy, std::move(*core), listeners).run();
}

}  // namespace weft::sim
