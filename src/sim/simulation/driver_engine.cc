#include "sim/simulation/driver.h"

#include <algorithm>
#include <functional>

// What follows from the core's decisions: the engine's side of a run.

namespace weft::sim {

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
  if (keeps_places()) places_.start(decision.job);
  set_end(decision.job, clock_.start(live.work, now, speed_of(decision.job)));
  note_drift(decision.job, now);
  note_neighbours(decision.job);
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
  if (!keeps_places()) return;
  note_neighbours(job);
  if (plan_.wants_spans != 0) {
    for (const Places::Part& part : places_.of(job)) {
      out_.spans.push_back({.job = static_cast<uint32_t>(index(job)),
                            .node = part.node,
                            .gpus = part.gpus,
                            .from = now - ran,
                            .to = now});
    }
  }
  places_.leave(job);
}

void Driver::on_stop(const Decision& decision, Instant now) {
  Live& live = live_[index(decision.job)];
  if (live.started == kNever) return;
  clock_.stop(live.work, now);
  leave(decision.job, now);
  const bool is_for_others = decision.cause == StopCause::kPreempted || decision.cause == StopCause::kReclaimed ||
                             decision.cause == StopCause::kMoved;
  if (is_for_others) ++out_.jobs[index(decision.job)].preempts;
  pending_milli_ += live.gpu_milli;
  ++pending_count_;
  if (reports_left()) report_left(decision.job, now, answers_);
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
        if (keeps_places()) places_.hold(decision.job, decisions.placements_of(decision));
        answers_.push_back({.at = now, .body = HoldAccepted{.job = decision.job, .attempt = decision.attempt}});
        break;
      case DecisionKind::kStart:
        answers_.push_back({.at = now, .body = GangStarted{.job = decision.job, .attempt = decision.attempt}});
        on_start(decision, now);
        break;
      case DecisionKind::kStop:
        answers_.push_back({.at = now,
                            .body = GangEnded{.job = decision.job,
                                              .attempt = decision.attempt,
                                              .outcome = TaskOutcome::kStopped,
                                              .exit_status = 0}});
        on_stop(decision, now);
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
  settle_speeds(now);
}

// ---- Speeds

bool Driver::keeps_places() const { return plan_.wants_spans != 0 || plan_.speeds != nullptr; }

/// As slow as on the slowest of its devices.
int64_t Driver::speed_of(JobId job) const {
  if (plan_.speeds == nullptr) return kFullSpeed;
  const std::span<const Places::Part> parts = places_.of(job);
  JobPlace place{.network = networks_[index(job)], .nodes = static_cast<int32_t>(parts.size())};
  for (const Places::Part& part : parts) place.gpus += part.gpus;
  if (plan_.speeds->reads_sharers()) place.sharers = places_.sharers(job);
  int64_t slowest = kNever.ns;
  for (const Places::Part& part : parts) {
    const std::vector<DeviceSpec>& devices = plan_.cluster.nodes[part.node].devices;
    const std::string_view model = devices.empty() ? std::string_view() : std::string_view(devices.front().model);
    if (slowest != kNever.ns && model == place.device_model) continue;
    place.device_model = model;
    slowest = std::min(slowest, plan_.speeds->speed_ppm(place));
  }
  return parts.empty() ? kFullSpeed : slowest;
}

void Driver::note_neighbours(JobId job) {
  if (plan_.speeds == nullptr || !plan_.speeds->reads_sharers()) return;
  places_.for_neighbours(job, [&](JobId other) { disturbed_.push_back(other); });
}

/// Those beside whom somebody came or went get on at another speed from now on.
void Driver::settle_speeds(Instant now) {
  std::ranges::sort(disturbed_);
  disturbed_.erase(std::unique(disturbed_.begin(), disturbed_.end()), disturbed_.end());
  for (const JobId job : disturbed_) {
    Live& live = live_[index(job)];
    const int64_t speed = speed_of(job);
    if (live.started == kNever || speed == live.work.speed_ppm) continue;
    set_end(job, clock_.change_speed(live.work, now, speed));
    note_drift(job, now);
  }
  disturbed_.clear();
}

// ---- What is left

bool Driver::reports_left() const {
  return plan_.rules == Rules::kNative && policy_.config.mode == CycleMode::kElect &&
         (plan_.speeds != nullptr || plan_.restart_cost.ns > 0 || plan_.checkpoint_every.ns > 0);
}

/// The core counts every second that a job has run as one of its run time. Where that is not so it hears what is left,
/// as the job's own master would tell: of the run time that it was told, at full speed. (What is left says nothing of
/// the place, and nothing of the cost of a start: or two jobs could pass each other for ever, each the shorter one
/// when it waits.)
void Driver::report_left(JobId job, Instant now, std::vector<Event>& into) const {
  const Live& live = live_[index(job)];
  if (live.told >= kEndless) return;
  const Duration error = live.told - out_.jobs[index(job)].run_time;
  const Duration left = std::max(Duration{0}, RunClock::left_at(live.work, now) + error);
  into.push_back({.at = now, .body = ProgressReported{.job = job, .remaining = left}});
}

/// Those who do not get on by the second, once more when they have begun to.
void Driver::report_drifting(Instant now) {
  std::erase_if(drifting_, [&](JobId job) {
    const Live& live = live_[index(job)];
    if (live.started == kNever) return true;
    report_left(job, now, events_);
    return !RunClock::drifts(live.work, now);
  });
}

void Driver::note_drift(JobId job, Instant now) {
  if (!reports_left() || !RunClock::drifts(live_[index(job)].work, now)) return;
  if (std::ranges::find(drifting_, job) == drifting_.end()) drifting_.push_back(job);
}

}  // namespace weft::sim
