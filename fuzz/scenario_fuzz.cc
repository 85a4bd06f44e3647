// The reader of scenario files under arbitrary bytes: every document is a scenario or has its problems, each with a
// place. Small worlds that it lets through are run as well, on the real scheduler: whatever a file says, the scheduler
// must not break its own rules.

#include "base/check.h"
#include "sim/scenario/runner.h"
#include "sim/scenario/scenario.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

namespace {

using weft::scenario::Scenario;

/// Runs in moments, however it ends.
bool is_small(const Scenario& scenario) {
  int64_t tasks = 0;
  for (const auto& group : scenario.jobs) tasks += int64_t{weft::scenario::task_count(group.spec)} * group.count;
  if (scenario.node_count > 8 || scenario.job_count > 16 || tasks > 64 || scenario.steps.size() > 16) return false;
  for (const auto& step : scenario.steps) {
    const auto* cycles = std::get_if<weft::scenario::RunCyclesStep>(&step.body);
    if (cycles != nullptr && cycles->count > 100) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto documents = weft::scenario::read_scenarios(text);
  WEFT_CHECK(!documents.empty(), "a file without a document has a problem");
  for (const auto& document : documents) {
    WEFT_CHECK(document.scenario.has_value() == document.problems.empty(), "a document is a scenario or has problems");
    for (const auto& problem : document.problems) {
      WEFT_CHECK(problem.at.line > 0 && problem.at.column > 0 && !problem.message.empty(),
                 "a problem has a place and a text");
      for (const char c : problem.message) WEFT_CHECK(static_cast<unsigned char>(c) >= 0x20, "a problem is one line");
    }
    if (document.scenario && is_small(*document.scenario)) {
      weft::scenario::run_scenario(*document.scenario, weft::scenario::Transcript::kOff);
    }
  }
  return 0;
}
