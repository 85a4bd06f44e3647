#pragma once

#include "sim/scenario/scenario.h"
#include "sim/scenario/world.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::scenario {

enum class Outcome : uint8_t {
  kPassed,
  kFailed,
  kNotSupported,  ///< it needs a feature that does not exist yet: not judged
};

/// What an expectation, or a step, came to.
struct Failure {
  Place at;
  std::string text;  ///< "expected …, found …"
};

struct RunResult {
  std::optional<Problem> refused;  ///< a world that the scheduler does not take: wrong input, and nothing was run
  Outcome outcome = Outcome::kPassed;
  std::vector<Failure> failures;
  std::vector<std::string> needs;       ///< features that do not exist yet, sorted
  std::vector<Failure> need_notes;      ///< of each of them: what in the file asks for it
  std::vector<std::string> transcript;  ///< only with Transcript::kOn: what was decided, a line each
};

/// Runs one scenario on the real scheduling core with the fake engine. Nothing sleeps.
RunResult run_scenario(const Scenario& scenario, Transcript transcript);

}  // namespace weft::scenario
