#pragma once

#include "base/ids.h"
#include "model/verdict.h"
#include "sim/simulation/simulation.h"

#include <string>
#include <vector>

namespace weft::sim {

/// Writes down what the core decided about one job of a run, and why: every decision as a line, and while the job
/// waits why it does, once for each reason that takes the place of another.
class JobStory final : public RunObserver {
 public:
  /// `job`: as the trace calls it.
  explicit JobStory(std::string job) : name_(std::move(job)) {}

  Result<void> on_call(CoreCall call, std::span<const Event> events, const Decisions& decisions,
                       Scheduler& core) override;
  /// Whether the job has come.
  bool is_begun() const { return is_set(job_); }
  /// A line for each thing that happened, the instant before it.
  std::string text() const;

 private:
  struct Line {
    Instant at;
    std::string text;
  };
  void add(Instant at, std::string text) { lines_.push_back({at, std::move(text)}); }
  void hear_events(std::span<const Event> events);
  void tell(const Decision& decision, const Decisions& decisions, Scheduler& core);
  void tell_hold(const Decision& decision, const Decisions& decisions, Scheduler& core);
  void tell_wait(Scheduler& core);
  void end_wait();
  void note_winners(const Decisions& decisions, Scheduler& core);

  std::string name_;
  JobId job_ = kNone<JobId>;
  uint64_t jobs_seen_ = 0;
  std::vector<Line> lines_;

  // Of the reason that was told last: how often it was found again since, and as what.
  std::string reason_;
  std::string reason_text_;
  Instant reason_seen_;
  uint64_t reason_count_ = 0;

  // Who got places when the job was stopped: told with the stop.
  size_t stop_line_ = 0;  ///< one past its place in lines_; 0: none is open
  Instant stopped_;
  uint64_t winners_ = 0;
};

}  // namespace weft::sim
