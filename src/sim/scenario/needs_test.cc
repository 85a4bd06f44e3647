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
    Case{"Fair", "cluster: {nodes: [{name: n}]}\npolicy: {preset: fair}\nsteps: [{run: 1 cycle}]", "preset fair"},
    Case{"Backfill", "cluster: {nodes: [{name: n}]}\npolicy: easy-backfill\nsteps: [{run: 1 cycle}]", "preset easy-backfill"},
    Case{"Conservative", "cluster: {nodes: [{name: n}]}\npolicy: conservative-backfill\nsteps: [{run: 1 cycle}]", "preset conservative-backfill"},
    Case{"Recut", "cluster: {nodes: [{name: n}]}\npolicy: {mig: recut}\nsteps: [{run: 1 cycle}]", "mig recut"},
    Case{"Rebalance", "cluster: {nodes: [{name: n}]}\npolicy: {rebalance: on}\nsteps: [{run: 1 cycle}]", "rebalance"},
    Case{"NoRebalance", "cluster: {nodes: [{name: n}]}\npolicy: {rebalance: off}\nsteps: [{run: 1 cycle}]", ""},
    Case{"Usage", "cluster: {nodes: [{name: n}]}\npolicy: {usage: {half_life: 7d}}\nsteps: [{run: 1 cycle}]", "usage history"},
    Case{"Multifactor", "cluster: {nodes: [{name: n}]}\npolicy: {multifactor: {age: 1}}\nsteps: [{run: 1 cycle}]", "multifactor order"},
    Case{"Scale", "cluster: {nodes: [{name: n}]}\njobs: [{name: a, at: {w/0: n}}]\nsteps: [{scale: {a: 1}}]", "scale"}),
    [](const auto& instance) { return std::string(instance.param.name); });

INSTANTIATE_TEST_SUITE_P(Preempt, Needs, ::testing::Values(
    Case{"LowerInTheSameQueue", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: low, gpus: 1, priority: 10, at: {w/0: n}}]
steps: [{submit: {name: high, gpus: 1, priority: 90}}, {run: until stable}])", "preempt"},
    Case{"EqualPriority", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: low, gpus: 1, at: {w/0: n}}]
steps: [{submit: {name: high, gpus: 1}}, {run: until stable}])", ""},
    Case{"FirmVictim", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: low, gpus: 1, priority: 10, preemptible: false, at: {w/0: n}}]
steps: [{submit: {name: high, gpus: 1, priority: 90}}, {run: until stable}])", ""},
    Case{"WouldNotHelp", R"(
cluster: {nodes: [{name: n, count: 2, gpus: 2}]}
jobs: [{name: low, gpus: 1, priority: 10, at: {w/0: n0}}, {name: firm, gpus: 1, preemptible: false, at: {w/0: n1}}]
steps: [{submit: {name: high, count: 2, gpus: 2, priority: 90}}, {run: until stable}])", ""},
    Case{"HelpsOnlyTogetherWithAMove", R"(
cluster: {nodes: [{name: n, count: 2, gpus: 2}]}
jobs:
  - {name: low, gpus: 1, priority: 10, at: {w/0: n0}}
  - {name: same, gpus: 1, priority: 90, at: {w/0: n1}}
  - {name: firm, gpus: 1, preemptible: false, at: {w/0: n1}}
steps: [{submit: {name: high, gpus: 2, priority: 90}}, {run: until stable}])", "preempt"},
    Case{"ForTheLimitOfTheQueue", R"(
cluster: {nodes: [{name: n, gpus: 4}]}
queues: [{name: q, limit: {gpu: 1}}]
jobs: [{name: low, queue: q, gpus: 1, priority: 10, at: {w/0: n}}]
steps: [{submit: {name: high, queue: q, gpus: 1, priority: 90}}, {run: until stable}])", "preempt"},
    Case{"NotForTheGuarantee", R"(
cluster: {nodes: [{name: n, gpus: 4}]}
queues: [{name: q, guarantee: {gpu: 1}}]
jobs: [{name: low, queue: q, gpus: 4, priority: 10, at: {w/0: n}}]
steps: [{submit: {name: high, queue: q, gpus: 2, priority: build}}, {run: until stable}])", ""},
    Case{"OtherQueueWithinItsGuarantee", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
queues: [{name: a, guarantee: {gpu: 1}}, {name: b}]
jobs: [{name: low, queue: a, gpus: 1, priority: 10, at: {w/0: n}}]
steps: [{submit: {name: high, queue: b, gpus: 1, priority: 90}}, {run: until stable}])", ""},
    Case{"WaitsOnlyForABeginTime", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: low, gpus: 1, priority: 10, at: {w/0: n}}]
steps: [{submit: {name: high, gpus: 1, priority: 90, start_no_earlier: 1h}}, {run: until stable}])", ""},
    Case{"SurplusOfEqualPriority", R"(
cluster: {nodes: [{name: n, gpus: 2}]}
jobs: [{name: flex, count: 2, min: 1, gpus: 1, at: {w/0: n, w/1: n}}]
steps: [{submit: {name: next, gpus: 1}}, {run: until stable}])", "preempt"}),
    [](const auto& instance) { return std::string(instance.param.name); });

INSTANTIATE_TEST_SUITE_P(Reclaim, Needs, ::testing::Values(
    Case{"VictimAboveItsGuarantee", R"(
cluster: {nodes: [{name: n, gpus: 2}]}
queues: [{name: a, guarantee: {gpu: 1}}, {name: b, guarantee: {gpu: 1}}]
jobs: [{name: j, queue: a, gpus: 2, at: {w/0: n}}]
steps: [{submit: {name: k, queue: b, gpus: 1}}, {run: until stable}])", "reclaim"},
    Case{"TakerHasNoClaim", R"(
cluster: {nodes: [{name: n, gpus: 2}]}
queues: [{name: a, guarantee: {gpu: 1}}, {name: b, weight: 0}]
jobs: [{name: j, queue: a, gpus: 2, at: {w/0: n}}]
steps: [{submit: {name: k, queue: b, gpus: 1}}, {run: until stable}])", ""},
    Case{"GuaranteesLeaveNoSurplus", R"(
cluster: {nodes: [{name: n, gpus: 4}]}
queues: [{name: a, guarantee: {gpu: 2}}, {name: b, guarantee: {gpu: 2}}]
jobs: [{name: j, queue: a, gpus: 3, at: {w/0: n}}, {name: k, queue: b, gpus: 1, at: {w/0: n}}]
steps: [{submit: {name: l, queue: b, gpus: 2}}, {run: until stable}])", ""},
    Case{"VictimOfHigherPriority", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
queues: [{name: a, priority: 1}, {name: b}]
jobs: [{name: j, queue: a, gpus: 1, at: {w/0: n}}]
steps: [{submit: {name: k, queue: b, gpus: 1}}, {run: until stable}])", ""},
    Case{"VictimOfLowerPriority", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
queues: [{name: a}, {name: b, priority: 1}]
jobs: [{name: j, queue: a, gpus: 1, at: {w/0: n}}]
steps: [{submit: {name: k, queue: b, gpus: 1}}, {run: until stable}])", "reclaim"},
    Case{"ForTheLimitOfTheParent", R"(
cluster: {nodes: [{name: n, gpus: 4}]}
queues: [{name: p, limit: {gpu: 2}}, {name: a, parent: p, guarantee: {gpu: 1}}, {name: b, parent: p, guarantee: {gpu: 1}}]
jobs: [{name: j, queue: a, gpus: 2, at: {w/0: n}}]
steps: [{submit: {name: k, queue: b, gpus: 1}}, {run: until stable}])", "reclaim"}),
    [](const auto& instance) { return std::string(instance.param.name); });

INSTANTIATE_TEST_SUITE_P(Consolidate, Needs, ::testing::Values(
    Case{"AMoveMakesRoom", R"(
cluster: {nodes: [{name: n, count: 2, gpus: 2}]}
jobs: [{name: a, gpus: 1, at: {w/0: n0}}, {name: b, gpus: 1, at: {w/0: n1}}]
steps: [{submit: {name: c, gpus: 2}}, {run: until stable}])", "consolidate"},
    Case{"NoMoveMakesRoom", R"(
cluster: {nodes: [{name: n, count: 2, gpus: 4}]}
jobs: [{name: a, gpus: 3, at: {w/0: n0}}, {name: b, gpus: 3, at: {w/0: n1}}]
steps: [{submit: {name: c, gpus: 2}}, {run: until stable}])", ""},
    Case{"FirmJobsAreNotMoved", R"(
cluster: {nodes: [{name: n, count: 2, gpus: 2}]}
jobs: [{name: a, gpus: 1, preemptible: false, at: {w/0: n0}}, {name: b, gpus: 1, preemptible: false, at: {w/0: n1}}]
steps: [{submit: {name: c, gpus: 2}}, {run: until stable}])", ""},
    Case{"TheRackOfAGangBindsItsMoves", R"(
cluster:
  levels: [rack]
  nodes:
    - {name: a, count: 2, gpus: 2, labels: {rack: r1}}
    - {name: b, gpus: 2, labels: {rack: r2}}
jobs:
  - {name: gang, count: 2, gpus: 1, within: rack, at: {w/0: a0, w/1: a1}}
  - {name: firm, gpus: 1, preemptible: false, at: {w/0: b}}
steps: [{submit: {name: c, gpus: 2, labels: {rack: r1}, count: 2}}, {run: until stable}])", ""},
    Case{"OnACordonedNodeThereIsNoRoom", R"(
cluster: {nodes: [{name: n, count: 3, gpus: 2}]}
jobs: [{name: a, gpus: 1, at: {w/0: n0}}, {name: b, gpus: 2, at: {w/0: n1}}]
steps: [{cordon: n2}, {submit: {name: c, gpus: 2}}, {run: until stable}])", ""}),
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

INSTANTIATE_TEST_SUITE_P(FairShares, Needs, ::testing::Values(
    Case{"OnlyOneOfTwoQueuesGotRoom", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
queues: [{name: a, guarantee: {gpu: 1}}, {name: b, guarantee: {gpu: 1}}]
jobs: [{name: j, queue: a, gpus: 1, preemptible: false}, {name: k, queue: b, gpus: 1, preemptible: false}]
steps: [{run: until stable}])", "fair shares, reservations"},
    Case{"BothGotRoomOnOneNode", R"(
cluster: {nodes: [{name: n, gpus: 2}]}
queues: [{name: a, guarantee: {gpu: 1}}, {name: b, guarantee: {gpu: 1}}]
jobs: [{name: j, queue: a, gpus: 1}, {name: k, queue: b, gpus: 1}]
steps: [{run: until stable}, {expect: {j: running, k: running}}])", ""},
    Case{"BothGotRoomButWhereCounts", R"(
cluster: {nodes: [{name: n, count: 2, gpus: 1}]}
queues: [{name: a, guarantee: {gpu: 1}}, {name: b, guarantee: {gpu: 1}}]
jobs: [{name: j, queue: a, gpus: 1}, {name: k, queue: b, gpus: 1}]
steps: [{run: until stable}, {expect: {j: {nodes: [n0]}}}])", "fair shares"},
    Case{"BothGotRoomAndTheOrderShapesWhatIsLeft", R"(
cluster: {nodes: [{name: n, count: 2, gpus: 4}]}
queues: [{name: a, guarantee: {gpu: 4}}, {name: b, guarantee: {gpu: 4}}]
jobs: [{name: j, queue: a, gpus: 1}, {name: k, queue: b, gpus: 2}]
steps: [{run: until stable}, {expect: {j: running, k: running}}])", "fair shares"},
    Case{"PriorityOfQueuesDecides", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
queues: [{name: a, guarantee: {gpu: 0}}, {name: b, guarantee: {gpu: 0}, priority: 1}]
jobs: [{name: j, queue: a, gpus: 1}, {name: k, queue: b, gpus: 1}]
steps: [{run: until stable}])", ""}),
    [](const auto& instance) { return std::string(instance.param.name); });

INSTANTIATE_TEST_SUITE_P(Elastic, Needs, ::testing::Values(
    Case{"ThereIsRoomToGrow", R"(
cluster: {nodes: [{name: n, gpus: 2}]}
jobs: [{name: flex, count: 3, min: 1, gpus: 1, at: {w/0: n}}]
steps: [{run: until stable}])", "elastic"},
    Case{"ThereIsNoRoomToGrow", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: flex, count: 3, min: 1, gpus: 1, at: {w/0: n}}]
steps: [{run: until stable}])", ""},
    Case{"TheMinimumDoesNotStart", R"(
cluster: {nodes: [{name: n, gpus: 2}]}
jobs: [{name: flex, count: 4, min: 3, gpus: 1}]
steps: [{run: until stable}])", ""},
    Case{"SurplusForSurplus", R"(
cluster: {nodes: [{name: n, gpus: 3}]}
jobs: [{name: a, count: 2, min: 1, gpus: 1, at: {w/0: n, w/1: n}}, {name: b, count: 2, min: 1, gpus: 1, priority: 90, at: {w/0: n}}]
steps: [{run: until stable}])", "elastic"}),
    [](const auto& instance) { return std::string(instance.param.name); });

INSTANTIATE_TEST_SUITE_P(Rest, Needs, ::testing::Values(
    Case{"HeldIsNotPending", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: old, gpus: 1, at: {w/0: n}}]
steps: [{submit: {name: new, gpus: 1}}, {cancel: old}, {run: 1 cycle}, {expect: {new: held}}])", "planning on what is being released"},
    Case{"PendingMightBeHeld", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: old, gpus: 1, at: {w/0: n}}]
steps: [{submit: {name: new, gpus: 1}}, {cancel: old}, {run: 1 cycle}, {expect: {new: pending}}])", "planning on what is being released"},
    Case{"EitherWillDo", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: old, gpus: 1, at: {w/0: n}}]
steps: [{submit: {name: new, gpus: 1}}, {cancel: old}, {run: 1 cycle}, {expect: {one of: [{new: pending}, {new: held}]}}])", ""},
    Case{"NeverHeld", R"(
cluster: {nodes: [{name: n, gpus: 1}]}
jobs: [{name: old, gpus: 1, at: {w/0: n}}]
steps: [{submit: {name: new, gpus: 1}}, {never: {new: held}}, {cancel: old}, {run: until stable}])", "planning on what is being released"},
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
    Case{"TheSameInTheLadder", R"(
cluster: {nodes: [{name: n, gpus: 2}]}
policy: {order: priority}
jobs: [{name: low, gpus: 1, runtime: 1m, priority: 10, at: {w/0: n}}]
steps: [{submit: [{name: high, gpus: 2, runtime: 1h, priority: 90}, {name: small, gpus: 1, runtime: 1m}]}, {run: until stable}])", "preempt, reservations"},
    Case{"ElasticJobsAlsoThere", R"(
cluster: {nodes: [{name: n, gpus: 2}]}
policy: {order: srtf}
steps: [{submit: {name: grows, count: 2, min: 1, gpus: 1}}, {run: until stable}])", "elastic"},
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
jobs: [{name: low, gpus: 1, priority: 10, at: {w/0: n}}]
steps: [{submit: {name: high, gpus: 1, priority: 90}}, {run: until stable}, {expect: {high: running, low: pending}}])");
  EXPECT_EQ(result.outcome, Outcome::kNotSupported);
  EXPECT_EQ(result.needs, (std::vector<std::string>{"preempt"}));
}

}  // namespace
}  // namespace weft::scenario
