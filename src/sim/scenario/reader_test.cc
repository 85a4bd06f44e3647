#include "sim/scenario/fields.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/scenario_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace weft::scenario {
namespace {

namespace fs = std::filesystem;

std::string first_problem(std::string_view text) {
  for (const ScenarioDocument& document : read_scenarios(text)) {
    if (!document.problems.empty()) {
      const Problem& p = document.problems[0];
      return fmt::format("{}:{}: {}", p.at.line, p.at.column, p.message);
    }
  }
  return {};
}

constexpr std::string_view kEverything = R"(
scenario: everything that a world may hold
tags: [a, b]
cluster:
  levels: [rack, block]
  nodes:
    - {name: a, count: 2, gpus: 8, gpu: A100-SXM4-80GB, gpu_memory: 40Gi, cpus: 63.5, memory: 256Gi, disk: 2Ti, share: mps,
       labels: {rack: r1, block: 7}, taints: [t, k=v, {key: x, value: y}], islands: [[0, 1], [2, 3, 4]],
       numa: [{gpus: [0, 1, 2, 3], cpus: 16}, {gpus: [4, 5, 6, 7], cpus: 16}]}
    - {name: m, gpus: 2, gpu: A100-SXM4-80GB, mig: {0: [2g.20gb, 3g.40gb], 1: []}}
queues:
  - {name: org, guarantee: {gpu: 8, cpu: 4}, limit: {gpu: 12.5, memory: unlimited}}
  - {name: red, parent: org, weight: 0.5, priority: -2, min_runtime: {reclaim: 1h, preempt: 2m}, usage: {gpu_hours: 7.5}}
policy: {preset: default, nodes: spread, devices: pack, backfill: {reservation_depth: all}, drain_after: 12h}
jobs:
  - {name: old, queue: red, count: 2, gpus: 2, at: {w/1: {node: a1, devices: [2, 3], numa: 0}}, started: -2h, submitted: -3h, runtime: 5h}
  - {name: cut, queue: red, mig: 2g.20gb, at: {w/0: {node: m, devices: ["0:2g.20gb@4"]}}}
  - name: big
    copies: 3
    queue: red
    user: ann
    priority: build
    preemptible: true
    roles:
      - {name: x, count: 4, min: 2, gpus: 0.25, cpus: 0.1, memory: 3Gi, node: a0, labels: {rack: r1}, numa: one, within: node}
      - {name: y, gpu_memory: 5Gi, gpu: [A100-SXM4-80GB, H100-SXM5-80GB], prefer: rack}
    gang: all
    groups: [{name: g, roles: [x], within: rack}, {name: h, roles: [y], groups: [g], min: 1}]
    min_groups: 1
    within: block
    estimate: 1h
    limit: 2h
    checkpoint: {every: 30m, last: -10m, save: 10s, restore: 30s}
    grace: 30s
    patience: 1m
    stale_after: 5m
    data: {shards: [{size: 10Gi, nodes: [a0, m]}]}
    start_no_earlier: 10m
    deadline: 5h
    after: [old]
    retries: 2
steps:
  - submit: {name: new, queue: red}
  - run: 3 cycles
  - run: until stable
  - run: 1h30m
  - crash: old/w/1
  - fail: {node: a0, device: 3}
  - uncordon: m
  - scale: {big0: 4}
  - stick: big2/y/0
  - expect: {big1: {state: held, running: ">=2", devices: {x/3: [1, "0:1g.10gb"]}}, together: {[old, big0/h]: rack}}
)";

TEST(ScenarioReader, ReadsTheWorld) {
  const Scenario s = one_scenario(kEverything);
  EXPECT_EQ(s.title, "everything that a world may hold");
  EXPECT_EQ(s.tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(s.topology.levels, (std::vector<std::string>{"rack", "block"}));
  ASSERT_EQ(s.nodes.size(), 2U);
  EXPECT_EQ(s.node_count, 3U);
  EXPECT_EQ(s.node_name(1), "a1");
  EXPECT_EQ(s.node_name(2), "m");
  const NodeSpec& a = s.nodes[0].spec;
  EXPECT_EQ(a.cpu_milli, 63'500);
  EXPECT_EQ(a.memory_bytes, 256 * kGiB);
  EXPECT_EQ(a.disk_bytes, 2 * kTiB);
  EXPECT_EQ(a.share, ShareMode::kMps);
  EXPECT_EQ(a.devices.size(), 8U);
  EXPECT_EQ(a.devices[5].memory_bytes, 40 * kGiB);
  EXPECT_EQ(a.devices[5].numa_zone, 1);
  EXPECT_EQ(a.islands, (std::vector<DeviceMask>{0b11, 0b11100, 1 << 5, 1 << 6, 1 << 7}))
      << "a device that no island names is alone";
  EXPECT_EQ(a.labels[1], (std::pair<std::string, std::string>("block", "7")));
  EXPECT_EQ(a.taints, (std::vector<TaintSpec>{{"t", ""}, {"k", "v"}, {"x", "y"}}));
  const NodeSpec& m = s.nodes[1].spec;
  EXPECT_EQ(m.devices[0].mig_cut, MigCut::kFixed);
  EXPECT_EQ(m.devices[0].mig_instances.size(), 2U);
  EXPECT_GE(m.devices[0].mig_instances[0].start, 0) << "every fixed instance has a start";
  EXPECT_EQ(m.devices[1].mig_mode, MigMode::kOn);
  EXPECT_EQ(m.devices[1].mig_cut, MigCut::kByScheduler);
}

TEST(ScenarioReader, ReadsQueuesAndPolicy) {
  const Scenario s = one_scenario(kEverything);
  ASSERT_EQ(s.queues.size(), 2U);
  EXPECT_EQ(s.queues[0].guarantee, (ResourceVector{8 * kGpuUnits, 4000, kUnlimited}));
  EXPECT_EQ(s.queues[0].limit, (ResourceVector{12 * kGpuUnits + kGpuUnits / 2, kUnlimited, kUnlimited}));
  EXPECT_EQ(s.queues[1].parent, "org");
  EXPECT_EQ(s.queues[1].guarantee, (ResourceVector{0, kUnlimited, kUnlimited}));
  EXPECT_EQ(s.queues[1].weight_milli, 500);
  EXPECT_EQ(s.queues[1].priority, -2);
  EXPECT_EQ(s.queues[1].min_runtime_before_reclaim, hours(1));
  EXPECT_EQ(s.queues[1].min_runtime_before_preempt, minutes(2));
  EXPECT_DOUBLE_EQ(s.queues[1].past_usage_gpu_hours, 7.5);
  EXPECT_EQ(s.policy.nodes, PackOrSpread::kSpread);
  EXPECT_EQ(s.policy.devices, PackOrSpread::kPack);
  EXPECT_EQ(s.policy.reservation_depth, kUnlimited);
  EXPECT_EQ(s.policy.drain_after, hours(12));
}

PolicyConfig policy_of(std::string_view policy) {
  return make_policy(
      one_scenario(
          fmt::format("{{scenario: x, cluster: {{nodes: [{{name: n}}]}}, policy: {}, steps: [{{run: 1 cycle}}]}}",
                      policy))
          .policy);
}

TEST(ScenarioReader, EveryKeyOfAPolicyReachesTheScheduler) {
  PolicyConfig preset;
  preset.rungs = {.elastic = 1, .consolidate = 1, .reclaim = 1, .preempt = 1};
  preset.share = ShareBasis::kEntitlement;
  preset.backfill.reservation_depth = 1;
  EXPECT_EQ(policy_of("{preset: default}"), preset);
  PolicyConfig all;
  all.order = "2d-las";
  all.mode = CycleMode::kElect;
  all.elect_places = ElectPlaces::kAfresh;
  all.service = {.limits = {hours(1), hours(10)},
                 .looks = LevelLooks::kFloorOfEach,
                 .history = {seconds(8), seconds(9)},
                 .quantum = seconds(10)};
  all.node_scores = {{"fgd", 2}, {"pack", 1}};
  all.devices = PackOrSpread::kSpread;
  all.search_steps_max = 100;
  all.pass_steps_max = 1000;
  all.attempts_max = 5;
  all.share = ShareBasis::kEntitlement;
  EXPECT_EQ(
      policy_of("{order: 2d-las, places: afresh, service: {limits: [1h, 10h], looks: floor-of-each, history: [8s, "
                "9s], quantum: 10s}, score: {fgd: 2, pack: 1}, devices: spread, search_steps_max: 100, "
                "pass_steps_max: 1000, attempts_max: 5}"),
      all);
}

TEST(ScenarioReader, AnOrderBringsTheModeThatItNeeds) {
  EXPECT_EQ(policy_of("{order: fifo}").mode, CycleMode::kLadder);
  EXPECT_EQ(policy_of("{order: priority}").mode, CycleMode::kLadder);
  EXPECT_EQ(policy_of("{order: priority, mode: elect}").mode, CycleMode::kElect);
  EXPECT_EQ(policy_of("{order: sjf-gpus}").mode, CycleMode::kElect);
  EXPECT_EQ(policy_of("{mode: elect}").mode, CycleMode::kElect);
  EXPECT_EQ(policy_of("fifo").strict, StrictOrder::kYes);
  EXPECT_EQ(policy_of("fifo").order, "fifo");
  EXPECT_EQ(policy_of("{preset: fifo, strict: false}").strict, StrictOrder::kNo);
  EXPECT_EQ(policy_of("{preset: fifo, order: srtf}").strict, StrictOrder::kNo) << "it elects: nobody is held back";
  EXPECT_EQ(policy_of("{order: fifo, strict: true}").strict, StrictOrder::kYes);
}

TEST(ScenarioReader, ReadsWhatRunsAtTheStart) {
  const Scenario s = one_scenario(kEverything);
  ASSERT_EQ(s.initial_groups, 3U);
  const JobGroup& old = s.jobs[0];
  ASSERT_EQ(old.seats.size(), 1U);
  EXPECT_EQ(old.seats[0].task, 1);
  EXPECT_EQ(old.seats[0].node, 1U);
  EXPECT_EQ(old.seats[0].devices, 0b1100U);
  EXPECT_EQ(old.seats[0].numa_zone, 0);
  EXPECT_EQ(old.started, Duration{} - hours(2));
  EXPECT_EQ(old.submitted, Duration{} - hours(3));
  EXPECT_EQ(old.runtime, hours(5));
  EXPECT_EQ(old.spec.estimate, hours(5)) << "the estimate is the run time where none is written";
  EXPECT_EQ(s.jobs[1].seats[0].mig_start, 4);
  EXPECT_EQ(s.jobs[1].spec.estimate, kEndless);
}

TEST(ScenarioReader, ReadsEveryKeyOfAJob) {
  const Scenario s = one_scenario(kEverything);
  const JobGroup& big = s.jobs[2];
  EXPECT_EQ(big.count, 3U);
  EXPECT_EQ(big.after, (std::vector<JobIndex>{0}));
  EXPECT_EQ(s.job_name(4), "big2");
  EXPECT_EQ(s.task_name(4, 4), "y/0");
  const JobSpec& j = big.spec;
  EXPECT_EQ(j.user, "ann");
  EXPECT_EQ(j.priority, kPriorityBuild);
  EXPECT_EQ(j.preemptible, true);
  ASSERT_EQ(j.roles.size(), 2U);
  const RoleSpec& x = j.roles[0];
  EXPECT_EQ(x.count, 4);
  EXPECT_EQ(x.min, 2);
  EXPECT_EQ(x.devices.kind, DeviceNeedKind::kMilli);
  EXPECT_EQ(x.devices.milli, 250);
  EXPECT_EQ(x.cpu_milli, 100);
  EXPECT_EQ(x.memory_bytes, 3 * kGiB);
  EXPECT_EQ(x.node, "a0");
  EXPECT_EQ(x.numa, NumaNeed::kOneZone);
  EXPECT_EQ(x.topology.within, "node");
  const RoleSpec& y = j.roles[1];
  EXPECT_EQ(y.devices.kind, DeviceNeedKind::kMemory);
  EXPECT_EQ(y.devices.memory_bytes, 5 * kGiB);
  EXPECT_EQ(y.constraint.models.size(), 2U);
  EXPECT_EQ(y.topology.prefer, "rack");
  EXPECT_EQ(j.groups[0].topology.within, "rack");
  EXPECT_EQ(j.groups[1].groups, (std::vector<std::string>{"g"}));
  EXPECT_EQ(j.groups[1].min, 1);
  EXPECT_EQ(j.min_groups, 1);
  EXPECT_EQ(j.topology.within, "block");
  EXPECT_EQ(j.estimate, hours(1));
  EXPECT_EQ(j.time_limit, hours(2));
  EXPECT_EQ(j.checkpoint->last, Duration{} - minutes(10));
  EXPECT_EQ(j.checkpoint->restore, seconds(30));
  EXPECT_EQ(j.grace, seconds(30));
  EXPECT_EQ(j.patience, minutes(1));
  EXPECT_EQ(j.stale_after, minutes(5));
  EXPECT_EQ(j.data[0].nodes, (std::vector<std::string>{"a0", "m"}));
  EXPECT_EQ(j.start_no_earlier, Instant{} + minutes(10));
  EXPECT_EQ(j.deadline, Instant{} + hours(5));
  EXPECT_EQ(j.retries, 2);
}

TEST(ScenarioReader, ReadsTheSteps) {
  const Scenario s = one_scenario(kEverything);
  ASSERT_EQ(s.steps.size(), 10U);
  EXPECT_EQ(std::get<SubmitStep>(s.steps[0].body).groups, (std::vector<uint32_t>{3}));
  EXPECT_EQ(std::get<RunCyclesStep>(s.steps[1].body).count, 3);
  EXPECT_TRUE(std::holds_alternative<RunUntilStableStep>(s.steps[2].body));
  EXPECT_EQ(std::get<RunForStep>(s.steps[3].body).time, minutes(90));
  EXPECT_EQ(std::get<CrashStep>(s.steps[4].body).task, 1);
  EXPECT_EQ(std::get<FaultStep>(s.steps[5].body).device, 3);
  EXPECT_EQ(std::get<FaultStep>(s.steps[6].body).kind, FaultStep::Kind::kUncordon);
  EXPECT_EQ(std::get<ScaleStep>(s.steps[7].body).wishes, (std::vector<std::pair<JobIndex, int64_t>>{{2, 4}}));
  EXPECT_EQ(std::get<StickStep>(s.steps[8].body).task, 4);
  const Expectation& expectation = std::get<ExpectStep>(s.steps[9].body).expectation;
  ASSERT_EQ(expectation.checks.size(), 2U);
  const auto& job = std::get<JobCheck>(expectation.checks[0].body);
  EXPECT_EQ(job.job, 3U);
  EXPECT_EQ(job.state, StateWord::kHeld);
  EXPECT_EQ(job.running->text(), ">=2");
  EXPECT_EQ(job.devices[0].second[1].profile, "1g.10gb");
  const auto& together = std::get<TogetherCheck>(expectation.checks[1].body);
  ASSERT_EQ(together.parts.size(), 2U);
  EXPECT_EQ(together.parts[1].tasks, (std::vector<TaskIndex>{0, 1, 2, 3, 4}))
      << "a group holds the tasks of the groups in it";
  EXPECT_EQ(together.level, "rack");
}

TEST(ScenarioReader, WithoutQueuesThereIsOneWithoutBounds) {
  const Scenario s = one_scenario("{scenario: x, cluster: {nodes: [{name: n}]}, steps: [{run: 1 cycle}]}");
  ASSERT_EQ(s.queues.size(), 1U);
  EXPECT_EQ(s.queues[0].name, "default");
  EXPECT_EQ(s.queues[0].guarantee, kUnlimitedResources);
}

TEST(ScenarioReader, NegativeRequestsAreLeftToTheScheduler) {
  const Scenario s = one_scenario(
      "{scenario: x, cluster: {nodes: [{name: n}]}, jobs: [{name: a, gpus: -1, cpus: -0.5, memory: -1Gi, count: -2}], "
      "steps: []}");
  const RoleSpec& role = s.jobs[0].spec.roles[0];
  EXPECT_EQ(role.devices.count, -1);
  EXPECT_EQ(role.cpu_milli, -500);
  EXPECT_EQ(role.memory_bytes, -kGiB);
  EXPECT_EQ(role.count, -2);
}

TEST(ScenarioReader, HugeWorldsAreRefusedAtOnce) {
  EXPECT_EQ(first_problem("{scenario: x, cluster: {nodes: [{name: a, count: 200000}, {name: b}]}, steps: []}"),
            "1:59: more than 200,000 nodes");
  EXPECT_EQ(
      first_problem(
          "{scenario: x, cluster: {nodes: [{name: n}]}, jobs: [{name: j, copies: 1001, count: 1000}], steps: []}"),
      "1:53: more than 200,000 jobs or 1,000,000 tasks");
  EXPECT_EQ(
      first_problem(
          "{scenario: x, cluster: {nodes: [{name: n}]}, jobs: [{name: a, copies: 200000}, {name: b}], steps: []}"),
      "1:80: more than 200,000 jobs or 1,000,000 tasks");
}

TEST(ScenarioReader, TheBeginningOfModelNamesStandsForAllOfThem) {
  const auto documents = read_scenarios(
      "{scenario: x, cluster: {nodes: [{name: n, gpus: 1, gpu: h100-nvl}]},"
      " jobs: [{name: a, gpus: 1, gpu: H100}], steps: []}");
  ASSERT_EQ(documents.size(), 1U);
  ASSERT_TRUE(documents[0].scenario) << documents[0].problems[0].message;
  EXPECT_EQ(documents[0].scenario->nodes[0].spec.devices[0].model, "H100-NVL");
  EXPECT_EQ(documents[0].scenario->jobs[0].spec.roles[0].constraint.models,
            (std::vector<std::string>{"H100-PCIE-80GB", "H100-SXM5-80GB", "H100-NVL"}));
  EXPECT_EQ(first_problem("{scenario: x, cluster: {nodes: [{name: n, gpus: 1, gpu: H100}]}, steps: []}"),
            "1:57: gpu 'H100' may be each of H100-PCIE-80GB, H100-SXM5-80GB, H100-NVL; write one of them");
}

TEST(ScenarioReader, ManyHugeWorldsInOneFileAreRefusedTogether) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "--- {scenario: x, cluster: {nodes: [{name: a, count: 200000}]}, steps: []}\n";
  EXPECT_EQ(first_problem(text), "6:37: the scenarios of one file have at most 1,000,000 nodes and jobs together");
}

TEST(ScenarioReader, OneLookShowsManyProblemsButNotEndlesslyMany) {
  std::string text = "scenario: x\ncluster: {nodes: [{name: n}]}\nsteps:\n";
  for (int i = 0; i < 100; ++i) text += "  - walk: 1\n";
  const auto documents = read_scenarios(text);
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_EQ(documents[0].problems.size(), Problems::kProblemsMax);
  EXPECT_FALSE(documents[0].scenario);
}

TEST(ScenarioReader, TextWithoutAScenarioIsAProblem) {
  for (const std::string_view text : {"", "\n", "# only a comment\n", "---\n", "---\n---\n", "\xef\xbb\xbf"}) {
    EXPECT_EQ(first_problem(text), "1:1: the file is empty; a scenario starts with `scenario:`") << text;
  }
}

TEST(ScenarioReader, AMarkerAtTheEndOpensNoScenario) {
  const auto documents = read_scenarios("---\n{scenario: x, cluster: {nodes: []}, steps: []}\n---\n");
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_TRUE(documents[0].problems.empty());
}

std::string read_file(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(out).str();
}

/// The folder of this checkout: from where the compiler saw this file, or above where the test runs.
fs::path find_bad_files() {
  const fs::path inside = "tests/scenarios/bad";
  const fs::path by_source = fs::path(__FILE__).parent_path() / "../../.." / inside;
  if (fs::is_directory(by_source)) return by_source;
  for (fs::path above = fs::current_path(); above != above.root_path(); above = above.parent_path()) {
    if (fs::is_directory(above / inside)) return above / inside;
  }
  return inside;
}

/// Files that are wrong on purpose stand in tests/scenarios/bad, each beside the lines that must be said about it.
TEST(ScenarioReader, SaysWhatIsWrongWithBadFilesAndWhere) {
  const fs::path folder = find_bad_files();
  ASSERT_TRUE(fs::is_directory(folder)) << "run the test inside of the checkout: " << folder;
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".bad") continue;
    ++files;
    std::string found;
    for (const ScenarioDocument& document : read_scenarios(read_file(entry.path()))) {
      EXPECT_FALSE(document.scenario) << entry.path() << " line " << document.at.line;
      for (const Problem& p : document.problems) found += fmt::format("{}:{}: {}\n", p.at.line, p.at.column, p.message);
    }
    fs::path expected = entry.path();
    EXPECT_EQ(found, read_file(expected.replace_extension(".expected"))) << entry.path();
  }
  EXPECT_GE(files, 4);
}

}  // namespace
}  // namespace weft::scenario
