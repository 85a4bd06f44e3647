#include "sim/scenario/runner.h"

#include "base/text.h"
#include "sim/scenario/expect.h"
#include "sim/scenario/needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace weft::scenario {
namespace {

constexpr int64_t kCyclesUntilStableMax = 1000;
constexpr int64_t kInstantsMax = 1'000'000;  ///< of one `run`
constexpr size_t kFailuresMax = 50;

class Run {
 public:
  Run(const Scenario& scenario, World& world, RunResult& result)
      : scenario_(scenario), world_(world), result_(result), needs_(scenario) {}

  void steps() {
    for (const Step& step : scenario_.steps) {
      at_ = step.at;
      if (is_over_) break;
      std::visit([this](const auto& body) { take(body); }, step.body);
      collect();
    }
    for (const std::string& violation : world_.engine().violations())
      fail_here("the scheduler broke its own rule: " + violation);
    for (const auto& [feature, note] : needs_.found()) {
      result_.needs.push_back(feature);
      result_.need_notes.push_back({note.at, fmt::format("{}: {}", feature, note.text)});
    }
    if (!result_.needs.empty())
      result_.outcome = Outcome::kNotSupported;
    else if (!result_.failures.empty())
      result_.outcome = Outcome::kFailed;
  }

 private:
  void fail_at(Place at, std::string text) {
    if (result_.failures.size() < kFailuresMax) result_.failures.push_back({at, std::move(text)});
  }
  void fail_here(std::string text) {
    if (!text.empty()) fail_at(at_, std::move(text));
  }
  void collect() {
    auto lines = world_.take_transcript();
    std::move(lines.begin(), lines.end(), std::back_inserter(result_.transcript));
  }

  void take(const SubmitStep& step) {
    for (const uint32_t group : step.groups) world_.submit(group);
  }
  void take(const FinishStep& step) { fail_here(world_.finish(step.job)); }
  void take(const CrashStep& step) { fail_here(world_.crash(step.job, step.task)); }
  void take(const CancelStep& step) { world_.cancel(step.job); }
  void take(const FaultStep& step) { world_.fault(step); }
  void take(const StickStep& step) { world_.stick(step); }
  void take(const ScaleStep& step) {
    for (const auto& [job, wish] : step.wishes) world_.scale(job, wish);
  }
  void take(const NeverStep& step) { nevers_.push_back(&step.expectation); }

  void take(const ExpectStep& step) {
    for (const Mismatch& mismatch : find_mismatches(step.expectation, world_)) {
      fail_at(mismatch.at, fmt::format("expected {}, found {}", mismatch.expected, mismatch.found));
    }
    world_.clear_tally();
  }

  void take(const RunCyclesStep& step) {
    for (int64_t i = 0; i < step.count && !is_over_; ++i) {
      // The clock stands still: where nothing changed, the cycles that are left are all like this one.
      if (!cycle()) return;
    }
  }

  void take(const RunUntilStableStep& /*step*/) {
    for (int64_t cycles = 0; cycles < kCyclesUntilStableMax && !is_over_; ++cycles) {
      if (cycle()) continue;
      const Instant next = world_.next_grace_or_stale_end();
      if (next >= kNever) return;
      advance_to(std::min(next, std::max(world_.next_event(), world_.now())));
    }
    if (!is_over_) end_here(fmt::format("nothing is stable after {} cycles", format_count(kCyclesUntilStableMax)));
  }

  void take(const RunForStep& step) {
    const Instant end = world_.now() + step.time;
    if (end > Instant{} + kTimeMax)
      return end_here(fmt::format("the scenario takes longer than {}", format_duration(kTimeMax)));
    for (int64_t instants = 0; instants < kInstantsMax && !is_over_; ++instants) {
      until_quiet();
      if (world_.now() == end) return;
      advance_to(std::min(end, world_.next_event()));
    }
    if (!is_over_) end_here(fmt::format("more than {} things happened in this time", format_count(kInstantsMax)));
  }

  /// Cycles at the present instant until nothing changes.
  void until_quiet() {
    for (int64_t cycles = 0; cycles < kCyclesUntilStableMax && !is_over_; ++cycles) {
      if (!cycle()) return;
    }
    if (!is_over_) end_here(fmt::format("nothing is stable after {} cycles", format_count(kCyclesUntilStableMax)));
  }

  void advance_to(Instant to) {
    if (to > Instant{} + kTimeMax)
      return end_here(fmt::format("the scenario takes longer than {}", format_duration(kTimeMax)));
    world_.advance_to(std::max(to, world_.now()));
  }

  bool cycle() {
    const bool has_changed = world_.cycle();
    collect();
    needs_.observe(world_, at_);
    std::erase_if(nevers_, [this](const Expectation* never) {
      if (!find_mismatches(*never, world_).empty()) return false;
      fail_at(never->at, fmt::format("expected never to hold, found to hold after cycle {} at {}", world_.cycle_count(),
                                     format_duration(world_.now() - Instant{})));
      return true;
    });
    return has_changed;
  }

  void end_here(std::string text) {
    fail_here(std::move(text));
    is_over_ = true;
  }

  const Scenario& scenario_;
  World& world_;
  RunResult& result_;
  NeedsWatch needs_;
  std::vector<const Expectation*> nevers_;
  Place at_;
  bool is_over_ = false;
};

}  // namespace

RunResult run_scenario(const Scenario& scenario, Transcript transcript) {
  RunResult result;
  auto world = World::create(scenario, transcript);
  if (!world) {
    result.outcome = Outcome::kFailed;
    result.failures.push_back({world.error().at, world.error().message});
    result.refused = std::move(world.error());
    return result;
  }
  Run(scenario, **world, result).steps();
  return result;
}

}  // namespace weft::scenario
