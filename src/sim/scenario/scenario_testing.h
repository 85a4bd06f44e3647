#pragma once

#include "sim/scenario/runner.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace weft::scenario {

/// The one scenario of `text`; fails the test where it is malformed.
inline Scenario one_scenario(std::string_view text) {
  auto documents = read_scenarios(text);
  EXPECT_EQ(documents.size(), 1U);
  for (const Problem& problem : documents[0].problems) {
    ADD_FAILURE() << problem.at.line << ":" << problem.at.column << ": " << problem.message;
  }
  return documents[0].scenario ? *documents[0].scenario : Scenario{};
}

inline RunResult run_text(std::string_view text) { return run_scenario(one_scenario(text), Transcript::kOff); }

/// The failures of a result, a line each.
inline std::string failure_text(const RunResult& result) {
  std::string out;
  for (const Failure& failure : result.failures) out += failure.text + "\n";
  return out;
}

}  // namespace weft::scenario
