#include "placement/score_cache.h"

#include "base/rng.h"
#include "placement/test_world.h"

#include <algorithm>

namespace weft::testing {
namespace {

/// Depends on everything of the node that a task changes, with many ties; counts how often it is asked.
class CountingScore final : public NodeScore {
 public:
  std::string_view name() const override { return "counting"; }
  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand& demand, int& device) const override {
    ++asked;
    const ClusterState& state = context.state;
    const auto free = static_cast<int32_t>(popcount(state.available(node)));
    if (demand.devices.kind == DeviceNeedKind::kMilli) device = chosen_device;
    return (free * 7 + static_cast<int32_t>(state.nodes().free_cpu_milli[index(node)] / 1000)) % 5;
  }
  mutable int asked = 0;
  int chosen_device = -1;
};

/// Another order for every choice.
class DrawScore final : public NodeScore {
 public:
  std::string_view name() const override { return "draw"; }
  DependsOn depends_on() const override { return DependsOn::kCluster; }
  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand&, int&) const override {
    return static_cast<int32_t>((context.draw * 2654435761U + index(node) * 40503U) % 1000);
  }
};

NodeSpec with_cpus(NodeSpec node, int cpus) {
  node.cpu_milli = int64_t{cpus} * 1000;
  return node;
}

struct ScoredWorld : TestWorld {
  ScoredWorld(std::vector<ActiveScore> scores, std::vector<std::string> levels = {}) : TestWorld(std::move(levels)) {
    placer = std::make_unique<Placer>(config, std::move(scores));
  }
};

TEST(ScoreCache, TheBestNodeIsThatOfAScanAfterAnyChange) {
  const CountingScore score;
  ScoredWorld world({{&score, 3}}, {"rack"});
  Rng rng(5);
  for (int n = 0; n < 200; ++n) {
    NodeSpec node = gpu_node("n" + std::to_string(n), 4);
    node.cpu_milli = 20'000;
    world.add(with_label(node, "rack", "r" + std::to_string(n % 7)));
  }
  std::vector<std::pair<TaskDemand, TaskPlacement>> running;
  for (int step = 0; step < 3000; ++step) {
    if (!running.empty() && rng.below(3) == 0) {
      const size_t i = rng.below(running.size());
      Transaction txn(world.state);
      txn.give(running[i].first, running[i].second);
      txn.commit();
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (rng.below(40) == 0)
      world.state.set_node_cordoned(make_id<NodeId>(rng.below(200)), static_cast<uint8_t>(rng.below(2)));
    const ShapeId shape = world.shape(job_of(1, whole(static_cast<int32_t>(rng.between(1, 4)))));
    const TaskDemand& demand = world.state.shapes()[shape].roles[0].demand;
    NodeId expected = kNone<NodeId>;
    int32_t best = 0;
    for (size_t n = 0; n < 200; ++n) {
      TaskPlacement at;
      const NodeId node = make_id<NodeId>(n);
      if (choose_devices(world.state, node, demand, {}, PackOrSpread::kPack, -1, at) != Reason::kNone) continue;
      int device = -1;
      const int32_t of_node = score.score({.state = world.state, .workload = {}}, node, demand, device);
      if (is_set(expected) && of_node <= best) continue;
      expected = node;
      best = of_node;
    }
    Transaction txn(world.state);
    GangPlacement at;
    const std::vector<int32_t> one{1};
    const bool is_yes = world.placer->place_gang(txn, {.shape_id = shape, .counts = one}, at).is_yes();
    ASSERT_EQ(is_yes, is_set(expected));
    if (!is_yes) continue;
    ASSERT_EQ(at.tasks[0].node, expected) << "step " << step;
    if (rng.below(4) == 0) continue;  // rolled back
    txn.commit();
    running.emplace_back(demand, at.tasks[0]);
  }
}

TEST(ScoreCache, OnlyNodesThatChangedAreScoredAgain) {
  const CountingScore score;
  ScoredWorld world({{&score, 1}});
  for (int n = 0; n < 100; ++n) world.add(with_cpus(gpu_node("n" + std::to_string(n), 4), 16 + n));
  world.start(job_of(1, whole(1)));
  EXPECT_EQ(score.asked, 100);
  world.start(job_of(1, whole(1)));
  EXPECT_EQ(score.asked, 101);
  world.what_if(job_of(1, whole(1)));
  const int before = score.asked;
  world.what_if(job_of(1, whole(1)));
  EXPECT_EQ(score.asked, before) << "what was undone is as it was";
}

TEST(ScoreCache, NodesThatAreAlikeAreScoredOnceAtFirstSight) {
  const CountingScore score;
  ScoredWorld world({{&score, 1}});
  for (int n = 0; n < 100; ++n) world.add(with_cpus(gpu_node("n" + std::to_string(n), 4), n % 4 == 0 ? 16 : 32));
  world.start(job_of(1, whole(1)));
  EXPECT_EQ(score.asked, 2);
  world.start(job_of(1, whole(2)));
  EXPECT_EQ(score.asked, 2 + 3) << "two kinds, and the node that runs something";
}

TEST(ScoreCache, ScoresOfTheClusterAreAskedAfreshAndDrawsAreTheJobsOwn) {
  const DrawScore score;
  ScoredWorld world({{&score, 1}});
  for (int n = 0; n < 50; ++n) world.add(gpu_node("n" + std::to_string(n), 8));
  const Placed many = world.what_if(job_of(20, whole(1)));
  std::vector<NodeId> nodes;
  for (const TaskPlacement& task : many.at.tasks) nodes.push_back(task.node);
  std::ranges::sort(nodes);
  EXPECT_GT(std::unique(nodes.begin(), nodes.end()) - nodes.begin(), 5);
  EXPECT_EQ(world.what_if(job_of(20, whole(1))).at.tasks, many.at.tasks) << "a question leaves no trace";
}

TEST(ScoreCache, WeightsAreSummed) {
  const CountScore pack(NodeScore::IndexOrder::kFewestFreeFirst);
  const CountScore spread(NodeScore::IndexOrder::kMostFreeFirst);
  ScoredWorld world({{&pack, 1}, {&spread, 2}});
  world.add(gpu_node("small", 2));
  world.add(gpu_node("large", 4));
  EXPECT_EQ(world.what_if(job_of(1, whole(1))).nodes(world.state), "large");
  ScoredWorld other({{&pack, 3}, {&spread, 2}});
  other.add(gpu_node("large", 4));
  other.add(gpu_node("small", 2));
  EXPECT_EQ(other.what_if(job_of(1, whole(1))).nodes(other.state), "small");
}

TEST(ScoreCache, TheScoresChoiceOfDeviceIsTakenWhenItFits) {
  CountingScore score;
  ScoredWorld world({{&score, 1}});
  world.add(gpu_node("n", 4, ShareMode::kMps));
  score.chosen_device = 2;
  EXPECT_EQ(world.start(job_of(1, milli(600))).at.tasks.at(0).devices, 0b0100U);
  EXPECT_EQ(world.start(job_of(1, milli(600))).at.tasks.at(0).devices, 0b0001U) << "the wish is full";
}

TEST(ScoreCache, DemandsThatTakeOverTheTablesOfOthersGetAnswersOfTheirOwn) {
  const CountingScore score;
  ScoredWorld world({{&score, 1}});
  constexpr size_t kNodes = 30'000;  // so large that there are fewer tables than demands
  for (size_t n = 0; n < kNodes; ++n) world.add(gpu_node("n" + std::to_string(n), 0));
  for (int round = 0; round < 2; ++round) {
    for (size_t n = 0; n < kNodes; n += kNodes / 160) {
      JobSpec job = job_of(1, {});
      job.roles[0].node = "n" + std::to_string(n);
      ASSERT_EQ(world.what_if(job).nodes(world.state), job.roles[0].node) << "round " << round;
    }
  }
}

TEST(ScoreCache, ADomainBoundsTheChoice) {
  const CountScore spread(NodeScore::IndexOrder::kMostFreeFirst);
  const CountingScore counting;
  ScoredWorld world({{&spread, 1}, {&counting, 1}}, {"rack"});
  for (int n = 0; n < 130; ++n)
    world.add(with_label(gpu_node("n" + std::to_string(n), n == 100 ? 4 : 2), "rack", n < 65 ? "a" : "b"));
  EXPECT_EQ(world.what_if(job_of(1, whole(2))).nodes(world.state), "n100");
  const Placed placed = world.what_if(within(job_of(2, whole(2)), "rack"));
  ASSERT_TRUE(placed.is_yes());
  EXPECT_LT(index(placed.at.tasks[0].node), 65U) << "rack a has less free, and the domain goes before the node";
  EXPECT_LT(index(placed.at.tasks[1].node), 65U);
}

TEST(ScoreCache, DiskThatOthersTakeIsSeen) {
  const CountingScore score;
  ScoredWorld world({{&score, 1}});
  NodeSpec node = gpu_node("n", 0);
  node.disk_bytes = 10 * kGiB;
  world.add(node);
  JobSpec job = job_of(1, {});
  job.roles[0].cpu_milli = 0;
  job.roles[0].memory_bytes = 0;
  job.roles[0].disk_bytes = 6 * kGiB;
  EXPECT_TRUE(world.start(job).is_yes());
  EXPECT_EQ(world.start(job).verdict.reason, Reason::kDisk);
}

/// Keeps `demand` at `at` for as long as it lives.
class Lease {
 public:
  Lease(ClusterState& state, TaskDemand demand, TaskPlacement at) : state_(state), demand_(std::move(demand)), at_(at) {
    Transaction txn(state_);
    txn.take(demand_, at_);
    txn.commit();
  }
  ~Lease() {
    Transaction txn(state_);
    txn.give(demand_, at_);
    txn.commit();
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

 private:
  ClusterState& state_;
  TaskDemand demand_;
  TaskPlacement at_;
};

TEST(ScoreCache, CpusThatMoveFromOneZoneToTheOtherAreSeen) {
  const CountingScore score;
  ScoredWorld world({{&score, 1}});
  NodeSpec node = gpu_node("n", 0);
  node.cpu_milli = 24'000;
  node.numa = {{.cpu_milli = 16'000}, {.cpu_milli = 8000}};
  world.add(node);
  JobSpec job = job_of(1, {});
  job.roles[0].cpu_milli = 10'000;
  job.roles[0].numa = NumaNeed::kOneZone;
  const TaskDemand filler{.cpu_milli = 8000};
  {
    const Lease small_zone(world.state, filler, {.node = NodeId{0}, .numa_zone = 1});
    EXPECT_TRUE(world.what_if(job).is_yes());
  }
  const Lease large_zone(world.state, filler, {.node = NodeId{0}, .numa_zone = 0});
  EXPECT_EQ(world.what_if(job).verdict.reason, Reason::kNuma);
}

TEST(ScoreCache, InstancesThatMoveToAnotherStartAreSeen) {
  const CountingScore score;
  ScoredWorld world({{&score, 1}});
  NodeSpec node = gpu_node("n", 1);
  node.devices[0].model = "A100-SXM4-80GB";
  node.devices[0].mig_mode = MigMode::kOn;
  world.add(node);
  const DeviceCatalogue& catalogue = world.state.names().devices;
  const DeviceModel& model = catalogue.model(catalogue.find("A100-SXM4-80GB"));
  const TaskDemand& small = world.state.shapes()[world.shape(job_of(1, mig("1g.10gb")))].roles[0].demand;
  TaskPlacement at{.node = NodeId{0}, .kind = DeviceNeedKind::kMig, .devices = 1};
  at.mig_profile = find_mig_profile(model, "1g.10gb");
  at.mig_start = 6;
  {
    const Lease at_the_end(world.state, small, at);
    EXPECT_TRUE(world.what_if(job_of(1, mig("4g.40gb"))).is_yes());
  }
  at.mig_start = 0;
  const Lease at_the_front(world.state, small, at);
  EXPECT_EQ(world.what_if(job_of(1, mig("4g.40gb"))).verdict.reason, Reason::kMig);
}

TEST(ScoreCache, EachJobDrawsItsOwnOrder) {
  const DrawScore score;
  ScoredWorld world({{&score, 1}});
  for (int n = 0; n < 50; ++n) world.add(gpu_node("n" + std::to_string(n), 8));
  std::vector<NodeId> nodes;
  for (int job = 0; job < 20; ++job) nodes.push_back(world.start(job_of(1, whole(1))).at.tasks.at(0).node);
  std::ranges::sort(nodes);
  EXPECT_GT(std::unique(nodes.begin(), nodes.end()) - nodes.begin(), 5);
}

/// Ranks by the workload that is expected.
class WorkloadScore final : public NodeScore {
 public:
  std::string_view name() const override { return "workload"; }
  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand&, int&) const override {
    const auto cpus = static_cast<int32_t>(context.state.nodes().total_cpu_milli[index(node)] / 1000);
    return context.workload.empty() ? -cpus : cpus;
  }
};

TEST(ScoreCache, ANewWorkloadChangesTheScoresOfNodesThatHaveNot) {
  const WorkloadScore score;
  ScoredWorld world({{&score, 1}});
  world.add(with_cpus(gpu_node("small", 4), 16));
  world.add(with_cpus(gpu_node("large", 4), 32));
  EXPECT_EQ(world.what_if(job_of(1, whole(1))).nodes(world.state), "small");
  world.placer->set_workload({{.cpu_milli = 1000, .gpu_count = 1, .gpu_milli = 1000, .popularity = 1}});
  EXPECT_EQ(world.what_if(job_of(1, whole(1))).nodes(world.state), "large");
}

}  // namespace
}  // namespace weft::testing
