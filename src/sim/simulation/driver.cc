#include "sim/simulation/driver.h"

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
  const std::vector<Event> events = plan_.cluster.events();
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
Result<Driver::Room> Driver::check_possible(const TraceJob& job, const JobSpec& spec) {
  const auto demand = std::tie(job.tasks, job.gpus_per_task, job.gpu_milli, job.is_gpu_count, job.cpu_milli,
                               job.memory_bytes, job.gpu_models, spec.queue);
  if (const auto known = checked_.find(demand); known != checked_.end()) return known->second;
  const Result<Verdict> verdict = core_->what_if(spec);
  if (!verdict) return std::unexpected(verdict.error());
  if (verdict->is_never && plan_.skips_impossible == 0)
    return fail(ErrorCode::kInvalidInput, fmt::format("job {}: {}", spec.name, core_->text(*verdict)));
  return checked_.emplace(demand, verdict->is_never ? Room::kNever : Room::kPossible).first->second;
}

Result<void> Driver::take_arrivals(Instant now) {
  size_t count = 0;
  while (has_next_ != 0 && submit_by(plan_.rules, next_) <= now) {
    if (count == arrivals_.size()) arrivals_.push_back({.at = {}, .body = JobSubmitted{}});
    Event& event = arrivals_[count++];
    event.at = now;
    JobSpec& spec = std::get<JobSubmitted>(event.body).job;
    const Result<void> mapped = mapping_.describe(next_, spec);
    if (!mapped && plan_.skips_impossible == 0) return mapped;
    const Duration run_time = run_time_by(plan_.rules, next_);
    spec.estimate = told_run_time(next_, run_time);
    const Result<Room> room = mapped ? check_possible(next_, spec) : Result<Room>(Room::kPossible);
    if (!room) return std::unexpected(room.error());
    const int64_t gpu_milli = gpu_milli_of(next_);
    out_.jobs.push_back({.id = next_.id,
                         .user = next_.user,
                         .queue = next_.queue,
                         .gpus = static_cast<int32_t>((gpu_milli + 999) / 1000),
                         .gpu_milli = gpu_milli,
                         .submit = now,
                         .run_time = run_time});
    live_.push_back({.work = clock_.admit(next_, run_time), .told = spec.estimate, .gpu_milli = gpu_milli});
    live_.back().is_left_out = *room == Room::kNever ? 1 : 0;
    if (plan_.speeds != nullptr) networks_.push_back(next_.model);
    if (*room == Room::kPossible) {
      pending_milli_ += gpu_milli;
      ++pending_count_;
    }
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
    clock_.end(live_[index(job)].work, now);
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

// ---- The core

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
  const CoreCall call = is_round(now) ? CoreCall::kApply : CoreCall::kAbsorb;
  is_waiting_for_round_ = call == CoreCall::kAbsorb ? 1 : 0;
  if (events_.empty()) events_.push_back({.at = now, .body = Tick{}});
  Result<const Decisions*> decisions = tell(call, events_);
  if (!decisions) return std::unexpected(decisions.error());
  answer(**decisions, now);
  for (; lent_ > 0; --lent_, events_.pop_back()) arrivals_[lent_ - 1] = std::move(events_.back());
  while (!answers_.empty()) {
    std::swap(events_, answers_);
    decisions = tell(call, events_);
    if (!decisions) return std::unexpected(decisions.error());
    answer(**decisions, now);
  }
  return {};
}

bool Driver::is_round(Instant now) const { return plan_.round.ns <= 0 || now.ns % plan_.round.ns == 0; }

/// The first round at or after `at`.
Instant Driver::round_from(Instant at) const {
  if (plan_.round.ns <= 0 || at == kNever) return at;
  const int64_t late = at.ns % plan_.round.ns;
  return late == 0 ? at : at + (plan_.round - Duration{late});
}

/// How much is of no use to anybody is asked less often on large clusters, where the answer takes longer; between two
/// answers the last one counts, as far as so much is free.
void Driver::measure_fragments(Instant now) {
  if (policy_.layout == Layout::kSingleGpus || !samples_.opens(now)) return;
  constexpr size_t kNodesPerSample = 64;
  if (samples_since_measured_++ % (1 + plan_.cluster.nodes.size() / kNodesPerSample) != 0) return;
  fragment_milli_ = core_->fragmentation().fragment_milli;
}

void Driver::sample(Instant now) {
  measure_fragments(now);
  const auto free = static_cast<double>(out_.total_gpu_milli - used_milli_);
  samples_.add({.at = now,
                .used_gpu_milli = used_milli_,
                .pending_gpu_milli = pending_milli_,
                .running = running_count_,
                .pending = pending_count_,
                .fragment_gpu_milli = std::isnan(fragment_milli_) ? fragment_milli_ : std::min(fragment_milli_, free)});
  out_.used_gpu_milli_max = std::max(out_.used_gpu_milli_max, used_milli_);
  out_.pending_max = std::max(out_.pending_max, pending_count_);
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

Instant Driver::next_instant(Instant now) {
  Instant next = round_from(std::max(core_->next_timer(), now));
  if (is_waiting_for_round_ != 0) next = std::min(next, round_from(now));
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
    const Instant next = next_instant(now);
    if (next == kNever) break;
    now = std::max(now, next);
    events_.clear();
    take_endings(now);
    pass_event(now);
    report_drifting(now);
    if (Result<void> arrived = take_arrivals(now); !arrived) return std::unexpected(arrived.error());
    if (Result<void> cycled = cycle(now); !cycled) return std::unexpected(cycled.error());
    sample(now);
    if (listeners_.progress && step % 1024 == 0) tell_progress(now);
  }
  finish(out_);
  out_.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() - out_.read_seconds;
  return std::move(out_);
}

void Driver::tell_progress(Instant now) const {
  const double come = static_cast<double>(out_.jobs.size());
  const double share = has_next_ != 0 ? trace_.share_given() : 1;
  listeners_.progress({.jobs_come = out_.jobs.size(),
                       .jobs_ended = ended_,
                       .jobs_expected = share > 0 ? static_cast<uint64_t>(come / share) : 0,
                       .now = now});
}

void Driver::finish(RunOutcome& out) {
  for (size_t i = 0; i < out.jobs.size(); ++i) {
    JobOutcome& job = out.jobs[i];
    job.lost = live_[i].work.lost;
    if (job.how != JobEnd::kUnfinished) continue;
    job.why = core_->job(make_id<JobId>(i)).why;
    if (live_[i].is_left_out != 0) job.how = JobEnd::kRejected;
  }
  out.policy = policy_.name;
  out.placement = policy_.placement;
  out.past = policy_.past;
  out.cluster = plan_.cluster.name;
  out.rules = std::string(rules_name(plan_.rules));
  out.seed = plan_.seed;
  out.samples = samples_.take();
  out.integrals = samples_.integrals();
  out.decision_hash = core_->decision_hash();
}

Result<RunOutcome> simulate(TraceReader& trace, const RunPlan& plan, const RunListeners& listeners) {
  if (plan.rules != Rules::kNative && plan.speeds != nullptr) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("--speeds: the rules of {} know one speed only; expected --rules native", rules_name(plan.rules)));
  }
  if (plan.rules != Rules::kNative && plan.round.ns > 0) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("--round: the rules of {} decide at every event; expected --rules native", rules_name(plan.rules)));
  }
  const Result<PolicyPlan> policy = plan_policy(plan);
  if (!policy) return std::unexpected(policy.error());
  Result<std::unique_ptr<Scheduler>> core = Scheduler::create(policy->config);
  if (!core) return std::unexpected(core.error());
  return Driver(trace, plan, *policy, std::move(*core), listeners).run();
}

}  // namespace weft::sim
