#include "sim/simulation/job_story.h"

#include "base/bits.h"
#include "base/printable.h"
#include "base/text.h"
#include "scheduler/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace weft::sim {

namespace {

constexpr size_t kWinnersNamed = 3;
constexpr size_t kNodesNamed = 8;

std::string_view cause_text(StopCause cause) {
  switch (cause) {
    case StopCause::kNone: return "stopped";
    case StopCause::kCancelled: return "stopped: cancelled";
    case StopCause::kPreempted: return "stopped for jobs that go before it";
    case StopCause::kReclaimed: return "stopped: its queue gave back what was another's";
    case StopCause::kMoved: return "stopped to be moved";
    case StopCause::kShrunk: return "stopped in part: it shrinks";
    case StopCause::kNodeFault: return "stopped: a node failed";
    case StopCause::kGangBroken: return "stopped: too few of its tasks were left";
    case StopCause::kTimeLimit: return "stopped: it reached its time limit";
  }
  return "stopped";
}

std::string_view end_text(JobState state) {
  switch (state) {
    case JobState::kDone: return "ends: done";
    case JobState::kFailed: return "ends: failed";
    case JobState::kCancelled: return "ends: cancelled";
    default: return "ends: rejected";
  }
}

}  // namespace

void JobStory::hear_events(std::span<const Event> events) {
  for (const Event& event : events) {
    const auto* submitted = std::get_if<JobSubmitted>(&event.body);
    if (submitted == nullptr) continue;
    const JobId job = make_id<JobId>(jobs_seen_++);
    if (is_begun() || submitted->job.name != name_) continue;
    job_ = job;
    const Duration estimate = submitted->job.estimate;
    add(event.at, estimate < kEndless ? fmt::format("comes; expected to run {}", format_duration(estimate))
                                      : "comes; nobody knows how long it will run");
  }
}

Result<void> JobStory::on_call(CoreCall /*call*/, std::span<const Event> events, const Decisions& decisions,
                               Scheduler& core) {
  hear_events(events);
  if (!is_begun()) return {};
  note_winners(decisions, core);
  for (const Decision& decision : decisions.list) {
    if (decision.job == job_) tell(decision, decisions, core);
  }
  if (core.job_state(job_) == JobState::kPending) tell_wait(core);
  return {};
}

void JobStory::tell(const Decision& decision, const Decisions& decisions, Scheduler& core) {
  end_wait();
  switch (decision.kind) {
    case DecisionKind::kAdmit: add(decision.at, "admitted"); return;
    case DecisionKind::kReject:
      add(decision.at, "rejected: " + core.text(decisions.verdicts[decision.verdict]));
      return;
    case DecisionKind::kHold: tell_hold(decision, decisions, core); return;
    case DecisionKind::kStart: add(decision.at, fmt::format("starts (attempt {})", decision.attempt)); return;
    case DecisionKind::kRelease: add(decision.at, "gives up what was held for it"); return;
    case DecisionKind::kStop:
      add(decision.at, std::string(cause_text(decision.cause)));
      stop_line_ = decision.cause == StopCause::kPreempted ? lines_.size() : 0;
      stopped_ = decision.at;
      winners_ = 0;
      return;
    case DecisionKind::kEnd: add(decision.at, std::string(end_text(decision.end_state))); return;
  }
}

void JobStory::tell_hold(const Decision& decision, const Decisions& decisions, Scheduler& core) {
  std::map<NodeId, int64_t> milli;
  for (const TaskPlacement& at : decisions.placements_of(decision))
    milli[at.node] += at.milli > 0 ? at.milli : 1000 * static_cast<int64_t>(popcount(at.devices));
  std::string text = "held for it: ";
  size_t named = 0;
  for (const auto& [node, gpus] : milli) {
    if (named == kNodesNamed) {
      text += fmt::format(" and {} more nodes", milli.size() - named);
      break;
    }
    text += fmt::format("{}{} {} of {}", named++ == 0 ? "" : ", ", format_milli(gpus), gpus <= 1000 ? "GPU" : "GPUs",
                        core.node(node).name);
  }
  add(decision.at, std::move(text));
}

/// The reason, and the same reason again only with the next one.
void JobStory::tell_wait(Scheduler& core) {
  const JobView view = core.job(job_);
  if (view.why.empty()) return;
  std::string reason = core.word(view.verdict);
  if (reason_count_ > 0 && reason == reason_) {
    ++reason_count_;
    reason_seen_ = core.now();
    reason_text_ = view.why;
    return;
  }
  end_wait();
  add(core.now(), "waits: " + view.why);
  reason_ = std::move(reason);
  reason_text_ = view.why;
  reason_count_ = 1;
}

void JobStory::end_wait() {
  if (reason_count_ > 1 && reason_seen_ != lines_.back().at) {
    add(reason_seen_, fmt::format("has waited on, found so {} more {}; the last time: {}",
                                  format_count(static_cast<int64_t>(reason_count_ - 1)),
                                  reason_count_ == 2 ? "time" : "times", reason_text_));
  }
  reason_count_ = 0;
}

/// Whoever got places at the instant at which the job was stopped.
void JobStory::note_winners(const Decisions& decisions, Scheduler& core) {
  if (stop_line_ == 0) return;
  for (const Decision& decision : decisions.list) {
    if (decision.at != stopped_) {
      stop_line_ = 0;
      return;
    }
    if (decision.kind != DecisionKind::kHold || decision.job == job_) continue;
    if (++winners_ > kWinnersNamed + 1) continue;
    lines_[stop_line_ - 1].text +=
        winners_ > kWinnersNamed
            ? " and others"
            : fmt::format("{}{}", winners_ == 1 ? "; then places went to " : ", ", core.job(decision.job).name);
  }
}

std::string JobStory::text() const {
  std::vector<std::string> times;
  size_t width = 0;
  for (const Line& line : lines_) {
    times.push_back(fmt::format("{:.3f}", static_cast<double>((line.at - Instant{}).ns) / 1e9));
    if (times.back().ends_with(".000")) times.back().resize(times.back().size() - 4);
    width = std::max(width, times.back().size());
  }
  std::string text = fmt::format("job {}, by seconds from the beginning of the trace:\n", printable(name_));
  for (size_t i = 0; i < lines_.size(); ++i)
    text += fmt::format("  {:>{}}  {}\n", times[i], width, printable(lines_[i].text));
  if (reason_count_ > 1)
    text += fmt::format("  and it waits on, found so {} more times\n",
                        format_count(static_cast<int64_t>(reason_count_ - 1)));
  return text;
}

}  // namespace weft::sim
