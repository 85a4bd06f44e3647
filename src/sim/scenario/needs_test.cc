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
    Case{"Backfill", "cluster: {nodes: [{name: n}]}\npolicy: easy-backfill\nsteps: [{run: 1 cycle}]", "preset easy-backfill"},
    Case{"Conservative", "cluster: {nodes: [{name: n}]}\npolicy: conservative-backfill\nsteps: [{run: 1 cycle}]", "preset conservative-backfill"},
    Case{"Recut", "cluster: {nodes: [{name: n}]}\npolicy: {mig: recut}\nsteps: [{run: 1 cycle}]", "mig recut"},
    Case{"Rebalance", "cluster: {nodes: [{name: n}]}\npolicy: {rebalance: on}\nsteps: [{run: 1 cycle}]", "rebalance"},
    Case{"NoRebalance", "cluster: {nodes: [{name: n}]}\npolicy: {rebalance: off}\nsteps: [{run: 1 cycle}]", ""},
    Case{"Usage", "cluster: {nodes: [{name: n}]}\npolicy: {usage: {half_life: 7d}}\nsteps: [{run: 1 cycle}]", "usage history"},
    Case{"Multifactor", "cluster: {nodes: [{name: n}]}\npolicy: {multifactor: {age: 1}}\nsteps: [{run: 1 cycle}]", "multifactor order"}),
    [](const auto& instance) { return std::string(instance.param.name); });

INSTANTIATE_TEST_SUITE_P(Reservations, Needs, ::testing::Values(
    Case{"OvertakenWithAnEndInSight", R"(
cluster: {nodes: [{name: n, gpus: 4}]}
jobs: [{name: old, gpus: 2, preemptible: false, estimate: 1h, at: {w/0: n}}]
steps: [{submit: {name: wide, gpus: 4}}, {submit: {name: small, gpus: 1, preemptible: false}}, {run: until stable}])", "reservations"},
    Case{"OvertakenWithoutAnEndInSight", R"(
cluster: {nodes: [{name: n, gpus: 4}]}
jobs: [{name: old, gpus: 2, preemptible: false, at: {w/0: n}}]
steps: [{submit: {name: wide, gpus: 4}}, {submit: {name: small, gpus: 1, preemptible: false}}, {run: until stable}])", ""},
    Case{"HasWaitedForADay", R"(
cluster: {nodes: [{name: n, gpus: 4}]}
jobs:
  - {name: old, gpus: 2, preemptible: false, at: {w/0: n}, started: -3d}
  - {name: wide, gpus: 4, submitted: -2d}
steps: [{submit: {name: small, gpus: 1, preemptible: false}}, {run: until stable}])", "reservations"},
    Case{"GreedyByThePolicy", R"(
cluster: {nodes: [{name: n, gpus: 4}]}
policy: {preset: default, backfill: {reservation_depth: 0}}
jobs: [{name: old, gpus: 2, preemptible: false, estimate: 1h, at: {w/0: n}}]
steps: [{submit: {name: wide, gpus: 4}}, {submit: {name: small, gpus: 1, preemptible: false}}, {run: until stable}])", ""},
    Case{"TheOneInFrontIsNotOvertaken", R"(
cluster: {nodes: [{name: n, gpus: 4}]}
jobs: [{name: old, gpus: 2, preemptible: false, estimate: 1h, at: {w/0: n}}]
steps: [{submit: {name: small, gpus: 1, preemptible: false}}, {submit: {name: wide, gpus: 4}}, {run: until stable}])", ""},
    Case{"ALimitReservesNothing", R"(
cluster: {nodes: [{name: n, gpus: 4}]}
queues: [{name: q, guarantee: {gpu: 4}, limit: {gpu: 3}}]
jobs: [{name: old, queue: q, gpus: 2, preemptible: false, estimate: 1h, at: {w/0: n}}]
steps: [{submit: {name: wide, queue: q, gpus: 2}}, {submit: {name: small, queue: q, gpus: 1, preemptible: false}}, {run: until stable}])", ""}),
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

INSTANTIATE_TEST_SUITE_P(Order, Needs, ::testing::Values(
    Case{"NoRungsWhereTheRunningSetIsElected", R"(
cluster: {nodes: [{name: n, gpus: 2}]}
policy: {order: srtf}
jobs: [{name: low, gpus: 1, runtime: 1m, priority: 10, at: {w/0: n}}]
steps: [{submit: [{name: high, gpus: 2, runtime: 1h, priority: 90}, {name: small, gpus: 1, runtime: 1m}]}, {run: until stable}])", ""},
    Case{"NobodyOvertakesInAStrictOrder", R"(
cluster: {nodes: [{name: n, gpus: 2}]}
policy: {order: fifo, strict: true}
jobs: [{name: busy, gpus: 1, preemptible: false, runtime: 1m, at: {w/0: n}}]
steps: [{submit: [{name: large, gpus: 2, runtime: 1h}, {name: small, gpus: 1, runtime: 1m}]}, {run: until stable}])", ""},
    Case{"AnOrderByArrivalKnowsNoPriorities", R"(
cluster: {nodes: [{name: n, gpus: 2}]}
policy: {order: fifo}
jobs: [{name: busy, gpus: 1, preemptible: false, runtime: 1m, at: {w/0: n}}]
steps: [{submit: [{name: large, gpus: 2, runtime: 1h, priority: 10}, {name: small, gpus: 1, runtime: 1m, priority: 90}]}, {run: until stable}])", "reservations"}),
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
