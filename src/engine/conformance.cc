#include "engine/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <variant>

namespace weft {
namespace {

constexpr JobId kJob = make_id<JobId>(0);
constexpr JobId kOther = make_id<JobId>(1);

/// Gives commands and counts answers. Every answer that came is kept in `seen_`.
class Driver {
 public:
  explicit Driver(EngineHarness& harness) : harness_(harness) {}

  void describe(JobId job, int32_t tasks, TaskBehaviour behaviour) {
    harness_.describe_job(job, tasks, behaviour);
    task_counts_.resize(std::max(task_counts_.size(), index(job) + 1));
    task_counts_[index(job)] = tasks;
  }

  void hold(JobId job, uint32_t attempt) {
    Decisions decisions;
    decisions.placements = harness_.places(job, task_counts_[index(job)]);
    const TaskId first = make_id<TaskId>(index(job) * 1000);
    for (size_t i = 0; i < decisions.placements.size(); ++i)
      decisions.placements[i].task = make_id<TaskId>(index(first) + i);
    decisions.list.push_back({.kind = DecisionKind::kHold,
                              .job = job,
                              .attempt = attempt,
                              .placement_count = static_cast<uint32_t>(decisions.placements.size()),
                              .first_task = first});
    harness_.engine().execute(decisions);
  }
  void start(JobId job, uint32_t attempt) { give({.kind = DecisionKind::kStart, .job = job, .attempt = attempt}); }
  void release(JobId job, uint32_t attempt) { give({.kind = DecisionKind::kRelease, .job = job, .attempt = attempt}); }
  void stop(JobId job, uint32_t attempt, int32_t task) {
    give({.kind = DecisionKind::kStop, .cause = StopCause::kCancelled, .job = job, .attempt = attempt, .task = task});
  }

  /// Polls until `done` holds or nothing more happens; true where it holds.
  bool await(const std::function<bool()>& done) {
    for (;;) {
      poll();
      if (done()) return true;
      if (!harness_.wait()) {
        poll();
        return done();
      }
    }
  }
  /// Polls until nothing more happens.
  void settle() {
    await([] { return false; });
  }
  /// Holds and starts, and waits for both answers. Empty where they are the expected ones.
  std::string bring_up(JobId job, uint32_t attempt) {
    hold(job, attempt);
    if (!await([&] { return accepted(job, attempt) > 0; })) return "a hold of free devices was not accepted\n" + log();
    start(job, attempt);
    if (!await([&] { return started(job, attempt) > 0; }))
      return "a gang whose hold was accepted was not started\n" + log();
    return "";
  }

  template <typename Body>
  int count(const std::function<bool(const Body&)>& is_counted) const {
    int n = 0;
    for (const Event& event : seen_) {
      const Body* body = std::get_if<Body>(&event.body);
      n += body != nullptr && is_counted(*body) ? 1 : 0;
    }
    return n;
  }
  int accepted(JobId job, uint32_t attempt) const { return of_attempt<HoldAccepted>(job, attempt); }
  int refused(JobId job, uint32_t attempt) const { return of_attempt<HoldRefused>(job, attempt); }
  int started(JobId job, uint32_t attempt) const { return of_attempt<GangStarted>(job, attempt); }
  int start_failed(JobId job, uint32_t attempt) const { return of_attempt<StartFailed>(job, attempt); }
  int ended(JobId job, uint32_t attempt) const { return of_attempt<TaskEnded>(job, attempt); }
  int ended(JobId job, uint32_t attempt, int32_t task, TaskOutcome outcome) const {
    return count<TaskEnded>([&](const TaskEnded& e) {
      return e.job == job && e.attempt == attempt && e.task == task && e.outcome == outcome;
    });
  }
  int answers() const { return static_cast<int>(seen_.size()); }
  const std::vector<Event>& seen() const { return seen_; }

  std::string log() const {
    std::string out = "what the engine said:";
    for (const Event& event : seen_) out += fmt::format("\n  {}", text(event.body));
    return out;
  }

 private:
  void give(const Decision& decision) {
    Decisions decisions;
    decisions.list.push_back(decision);
    harness_.engine().execute(decisions);
  }
  void poll() { harness_.engine().poll(seen_); }

  template <typename Body>
  int of_attempt(JobId job, uint32_t attempt) const {
    return count<Body>([&](const Body& e) { return e.job == job && e.attempt == attempt; });
  }

  static std::string text(const EventBody& body) {
    if (const auto* e = std::get_if<HoldAccepted>(&body))
      return fmt::format("hold of job {} attempt {} accepted", index(e->job), e->attempt);
    if (const auto* e = std::get_if<HoldRefused>(&body))
      return fmt::format("hold of job {} refused: {}", index(e->job), e->reason);
    if (const auto* e = std::get_if<GangStarted>(&body))
      return fmt::format("job {} attempt {} started", index(e->job), e->attempt);
    if (const auto* e = std::get_if<StartFailed>(&body))
      return fmt::format("start of job {} failed: {}", index(e->job), e->reason);
    if (const auto* e = std::get_if<TaskEnded>(&body)) {
      return fmt::format("job {} attempt {} task {} ended, outcome {}, exit status {}", index(e->job), e->attempt,
                         e->task, static_cast<int>(e->outcome), e->exit_status);
    }
    return fmt::format("event {}", body.index());
  }

  EngineHarness& harness_;
  std::vector<int32_t> task_counts_;
  std::vector<Event> seen_;
};

std::string must(bool holds, std::string_view rule, const Driver& driver) {
  return holds ? std::string() : fmt::format("{}\n{}", rule, driver.log());
}

std::string hold_has_one_answer(EngineHarness& harness) {
  Driver driver(harness);
  driver.describe(kJob, 2, TaskBehaviour::kRunsUntilStopped);
  driver.hold(kJob, 1);
  driver.settle();
  return must(driver.accepted(kJob, 1) == 1 && driver.answers() == 1, "a hold has one answer, and nothing else happens",
              driver);
}

std::string every_task_ends_once(EngineHarness& harness) {
  Driver driver(harness);
  driver.describe(kJob, 3, TaskBehaviour::kEndsWell);
  if (std::string wrong = driver.bring_up(kJob, 1); !wrong.empty()) return wrong;
  driver.settle();
  bool is_right = driver.ended(kJob, 1) == 3 && driver.started(kJob, 1) == 1;
  for (int32_t task = 0; task < 3; ++task) is_right = is_right && driver.ended(kJob, 1, task, TaskOutcome::kDone) == 1;
  return must(is_right, "every task that ends well is reported once as done, by its own index", driver);
}

std::string ends_come_after_the_start(EngineHarness& harness) {
  Driver driver(harness);
  driver.describe(kJob, 2, TaskBehaviour::kEndsWell);
  driver.hold(kJob, 1);
  if (!driver.await([&] { return driver.accepted(kJob, 1) > 0; })) return "the hold was not accepted";
  driver.start(kJob, 1);
  driver.settle();
  bool has_started = false;
  for (const Event& event : driver.seen()) {
    has_started = has_started || std::holds_alternative<GangStarted>(event.body);
    if (std::holds_alternative<TaskEnded>(event.body) && !has_started)
      return must(false, "no end comes before its gang's start", driver);
  }
  return must(driver.ended(kJob, 1) == 2, "both tasks end", driver);
}

std::string failure_is_told(EngineHarness& harness) {
  Driver driver(harness);
  driver.describe(kJob, 1, TaskBehaviour::kFails);
  if (std::string wrong = driver.bring_up(kJob, 1); !wrong.empty()) return wrong;
  driver.settle();
  const int failed = driver.count<TaskEnded>(
      [](const TaskEnded& e) { return e.job == kJob && e.outcome == TaskOutcome::kFailed && e.exit_status != 0; });
  return must(failed == 1 && driver.ended(kJob, 1) == 1,
              "a task that fails is reported once as failed, with its exit status", driver);
}

std::string stop_ends_all(EngineHarness& harness) {
  Driver driver(harness);
  driver.describe(kJob, 2, TaskBehaviour::kRunsUntilStopped);
  if (std::string wrong = driver.bring_up(kJob, 1); !wrong.empty()) return wrong;
  driver.stop(kJob, 1, -1);
  driver.settle();
  const bool is_right =
      driver.ended(kJob, 1, 0, TaskOutcome::kStopped) == 1 && driver.ended(kJob, 1, 1, TaskOutcome::kStopped) == 1;
  return must(is_right && driver.ended(kJob, 1) == 2, "every task that was told to stop ends once, as stopped", driver);
}

std::string stop_of_one_leaves_the_other(EngineHarness& harness) {
  Driver driver(harness);
  driver.describe(kJob, 2, TaskBehaviour::kRunsUntilStopped);
  if (std::string wrong = driver.bring_up(kJob, 1); !wrong.empty()) return wrong;
  driver.stop(kJob, 1, 1);
  driver.settle();
  if (driver.ended(kJob, 1, 1, TaskOutcome::kStopped) != 1 || driver.ended(kJob, 1) != 1) {
    return must(false, "stopping one task ends that one alone", driver);
  }
  driver.stop(kJob, 1, -1);
  driver.settle();
  return must(driver.ended(kJob, 1, 0, TaskOutcome::kStopped) == 1 && driver.ended(kJob, 1) == 2,
              "the other one can be stopped later", driver);
}

std::string stop_of_an_ended_task_is_ignored(EngineHarness& harness) {
  Driver driver(harness);
  driver.describe(kJob, 1, TaskBehaviour::kEndsWell);
  if (std::string wrong = driver.bring_up(kJob, 1); !wrong.empty()) return wrong;
  driver.settle();
  const int before = driver.answers();
  driver.stop(kJob, 1, 0);
  driver.stop(kJob, 1, -1);
  driver.settle();
  return must(driver.answers() == before, "a stop of what has ended has no answer", driver);
}

std::string commands_given_twice_count_once(EngineHarness& harness) {
  Driver driver(harness);
  driver.describe(kJob, 2, TaskBehaviour::kRunsUntilStopped);
  driver.hold(kJob, 1);
  driver.hold(kJob, 1);
  driver.settle();
  if (driver.answers() != 1) return must(false, "the same hold given twice has one answer", driver);
  driver.start(kJob, 1);
  driver.start(kJob, 1);
  driver.settle();
  if (driver.started(kJob, 1) != 1 || driver.answers() != 2)
    return must(false, "the same start given twice has one answer", driver);
  driver.hold(kJob, 1);
  driver.settle();
  if (driver.answers() != 2) return must(false, "a hold of an attempt that runs is a repetition", driver);
  driver.stop(kJob, 1, -1);
  driver.stop(kJob, 1, 0);
  driver.stop(kJob, 1, -1);
  driver.settle();
  return must(driver.ended(kJob, 1) == 2 && driver.answers() == 4, "a stop given twice ends each task once", driver);
}

std::string release_has_no_answer(EngineHarness& harness) {
  Driver driver(harness);
  driver.describe(kJob, 2, TaskBehaviour::kRunsUntilStopped);
  driver.hold(kJob, 1);
  driver.settle();
  driver.release(kJob, 1);
  driver.release(kJob, 1);
  driver.settle();
  if (driver.answers() != 1) return must(false, "a release has no answer", driver);
  driver.start(kJob, 1);
  driver.settle();
  if (driver.started(kJob, 1) != 0) return must(false, "an attempt whose hold was given up cannot start", driver);
  if (std::string wrong = driver.bring_up(kJob, 2); !wrong.empty())
    return "the devices of a released hold are free again: " + wrong;
  driver.stop(kJob, 2, -1);
  driver.settle();
  return must(driver.ended(kJob, 2) == 2, "the second attempt ends", driver);
}

std::string attempts_are_apart(EngineHarness& harness) {
  Driver driver(harness);
  driver.describe(kJob, 1, TaskBehaviour::kRunsUntilStopped);
  if (std::string wrong = driver.bring_up(kJob, 1); !wrong.empty()) return wrong;
  driver.stop(kJob, 1, -1);
  driver.settle();
  if (std::string wrong = driver.bring_up(kJob, 2); !wrong.empty()) return wrong;
  const int before = driver.answers();
  driver.stop(kJob, 1, -1);  // over
  driver.stop(kJob, 7, -1);  // never held
  driver.start(kJob, 7);
  driver.release(kJob, 7);
  driver.settle();
  const int strange = driver.started(kJob, 7);
  if (strange != 0) return must(false, "an attempt that was never held cannot start", driver);
  const int ended_early = driver.ended(kJob, 2);
  if (ended_early != 0) return must(false, "commands about another attempt leave this one alone", driver);
  const int failures = driver.start_failed(kJob, 7);
  if (driver.answers() != before + failures)
    return must(false, "commands about unknown attempts have no other effect", driver);
  driver.stop(kJob, 2, -1);
  driver.settle();
  return must(driver.ended(kJob, 2, 0, TaskOutcome::kStopped) == 1, "the second attempt ends by its own stop", driver);
}

std::string jobs_are_apart(EngineHarness& harness) {
  Driver driver(harness);
  driver.describe(kJob, 1, TaskBehaviour::kRunsUntilStopped);
  driver.describe(kOther, 1, TaskBehaviour::kRunsUntilStopped);
  if (std::string wrong = driver.bring_up(kJob, 1); !wrong.empty()) return wrong;
  if (std::string wrong = driver.bring_up(kOther, 1); !wrong.empty()) return wrong;
  driver.stop(kJob, 1, -1);
  driver.settle();
  if (driver.ended(kJob, 1) != 1 || driver.ended(kOther, 1) != 0)
    return must(false, "stopping one job leaves the other alone", driver);
  driver.stop(kOther, 1, -1);
  driver.settle();
  return must(driver.ended(kOther, 1) == 1, "the other job ends by its own stop", driver);
}

constexpr ConformanceCase kCases[] = {
    {"AHoldHasOneAnswer", hold_has_one_answer},
    {"EveryTaskEndsOnce", every_task_ends_once},
    {"EndsComeAfterTheStart", ends_come_after_the_start},
    {"AFailureIsToldWithItsExitStatus", failure_is_told},
    {"AStopEndsEveryTaskOfTheAttempt", stop_ends_all},
    {"AStopOfOneTaskLeavesTheOther", stop_of_one_leaves_the_other},
    {"AStopOfAnEndedTaskIsIgnored", stop_of_an_ended_task_is_ignored},
    {"CommandsGivenTwiceCountOnce", commands_given_twice_count_once},
    {"AReleaseHasNoAnswerAndFreesTheDevices", release_has_no_answer},
    {"AttemptsAreApart", attempts_are_apart},
    {"JobsAreApart", jobs_are_apart},
};

}  // namespace

std::span<const ConformanceCase> conformance_cases() { return kCases; }

}  // namespace weft
