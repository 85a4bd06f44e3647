#include "sim/scenario/needs.h"

#include "sim/scenario/scenario_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace weft::scenario {
namespace {

struct Case {
  std::string_view name;
  std::string_view text;   ///< all behind `scenario: x`
  std::string_view needs;  ///< features joined by a comma and a blank; empty: it is judged
};

/// What a failing test prints as its parameter.
void PrintTo(const Case& shown, std::ostream* out) { *out << shown.name; }

class Needs : public ::testing::TestWithParam<Case> {};

TEST_P(Needs, AreFoundWhereAnOutcomeCouldDependOnThem) {
  const RunResult result = run_text(fmt::format("scenario: x\n{}", GetParam().text));
  EXPECT_EQ(fmt::format("{}", fmt::join(result.needs, ", ")), GetParam().needs);
  EXPECT_EQ(result.outcome == Outcome::kNotSupported, !GetParam().needs.empty());
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Written, Needs, ::testing::Values(
    Case{"Slurm", "cluster: {nodes: [{name: n}]}\npolicy: slurm\nsteps: [{run: 1 cycle}]", "preset slurm"},
    Case{"Recut", "cluster: {nodes: [{name: n}]}\npolicy: {mig: recut}\nsteps: [{run: 1 cycle}]", "mig recut"},
    Case{"Rebalance", "cluster: {nodes: [{name: n}]}\npolicy: {rebalance: on}\nsteps: [{run: 1 cycle}]", "rebalance"},
    Case{"NoRebalance", "cluster: {nodes: [{name: n}]}\npolicy: {rebalance: off}\nsteps: [{run: 1 cycle}]", ""},
    Case{"Usage", "cluster: {nodes: [{name: n}]}\npolicy: {usage: {half_life: 7d}}\nsteps: [{run: 1 cycle}]", "usage history"},
    Case{"Multifactor", "cluster: {nodes: [{name: n}]}\npolicy: {multifactor: {age: 1}}\nsteps: [{run: 1 cycle}]", "multifactor order"}),
    [](const auto& instance) { return std::string(instance.param.name); });

INSTANTIATE_TEST_SUITE_P(Rest, Needs, ::testing::Values(
    Case{"SavedWork", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: j, gpus: 1, gang: none, runtime: 1h, checkpoint: {every: 10m}, at: {w/0: n}}]
steps: [{fail: n}, {run: 1 cycle}, {recover: n}, {run: until stable}])", "checkpoints"},
    Case{"SavedWorkOfAGang", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: j, gpus: 1, runtime: 1h, checkpoint: {every: 10m}, at: {w/0: n}}]
steps: [{fail: n}, {run: 1 cycle}, {recover: n}, {run: until stable}])", ""}),
    [](const auto& instance) { return std::string(instance.param.name); });

// clang-format on

TEST(NeedsWatch, AnUnsupportedScenarioIsNotJudgedEvenWhereItFails) {
  const RunResult result = run_text(R"(
scenario: x
cluster: {nodes: [{name: n, gpus: 1}]}
policy: {rebalance: on}
steps: [{submit: {name: one, gpus: 1}}, {run: until stable}, {expect: {one: pending}}])");
  EXPECT_EQ(result.outcome, Outcome::kNotSupported);
  EXPECT_EQ(result.needs, (std::vector<std::string>{"rebalance"}));
}

}  // namespace
}  // namespace weft::scenario
