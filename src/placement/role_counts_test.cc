#include "placement/role_counts.h"

#include "base/rng.h"
#include "placement/test_world.h"

namespace weft::testing {
namespace {

/// A cluster of several pools, partly in use, and demands for whole devices.
class CountedWorld {
 public:
  explicit CountedWorld(uint64_t seed) : rng_(seed) {
    is_uniform_ = chance(40);
    const uint64_t nodes = 1 + rng_.below(200);
    for (uint64_t n = 0; n < nodes; ++n) add_node();
    for (uint64_t i = 0; i < 2 * nodes; ++i) {
      JobSpec filler = job_of(1, whole(static_cast<int32_t>(rng_.between(1, 3))));
      filler.roles[0].tolerations = {"keep"};
      world.start(filler);
    }
  }

  void add_node() {
    NodeSpec spec = gpu_node("n" + std::to_string(count_++), is_uniform_ ? 8 : static_cast<unsigned>(rng_.below(9)));
    spec.cpu_milli = rng_.between(1, 16) * 1000;
    spec.memory_bytes = rng_.between(1, 16) * kGiB;
    spec.disk_bytes = rng_.between(0, 8) * kGiB;
    if (chance(40)) spec.labels = {{"kind", "fast"}};
    if (chance(20)) spec.taints = {{.key = "keep", .value = "out"}};
    const bool is_other = !is_uniform_ && chance(40);
    for (DeviceSpec& device : spec.devices) {
      if (is_other) device.model = "A100-SXM4-80GB";
    }
    const NodeId node = world.add(spec);
    if (chance(5)) world.state.set_node_cordoned(node, 1);
    if (chance(5)) world.state.set_node_up(node, 0);
    if (!spec.devices.empty() && chance(5)) world.state.set_device_healthy(node, 0, 0);
  }

  JobSpec job() {
    JobSpec job = job_of(static_cast<int32_t>(rng_.between(1, 12)), whole(static_cast<int32_t>(rng_.between(1, 8))));
    RoleSpec& role = job.roles[0];
    role.cpu_milli = chance(50) ? rng_.between(1, 6) * 1000 : 0;
    role.memory_bytes = chance(50) ? rng_.between(1, 6) * kGiB : 0;
    role.disk_bytes = chance(20) ? rng_.between(1, 6) * kGiB : 0;
    if (chance(30)) role.labels = {{"kind", "fast"}};
    if (chance(50)) role.tolerations = {"keep"};
    if (chance(20)) role.constraint.models = {"A100-SXM4-80GB"};
    return job;
  }

  bool chance(uint64_t percent) { return rng_.below(100) < percent; }

  TestWorld world;

 private:
  Rng rng_;
  bool is_uniform_ = false;
  uint64_t count_ = 0;
};

template <typename View>
int64_t amount_of(const View& view, size_t n, FilterStage stage) {
  switch (stage) {
    case FilterStage::kDevices: return popcount(view.whole(make_id<NodeId>(n)));
    case FilterStage::kCpus: return view.cpu_milli(n);
    case FilterStage::kMemory: return view.memory_bytes(n);
    case FilterStage::kDisk: return view.disk_bytes(n);
    default: return 0;
  }
}

/// The slow twin: one node after the other.
template <typename View>
RoleNodeCounts count_one_by_one(const View& view, const CountQuestion& question) {
  RoleNodeCounts counts;
  counts.nodes = question.standing.nodes;
  counts.furthest = question.standing.furthest;
  counts.furthest_reason = question.standing.furthest_reason;
  const ClusterState& state = view.state;
  std::vector<Reason> reasons(state.nodes().size(), Reason::kNone);
  for (size_t n = 0; n < reasons.size(); ++n) {
    const NodeId node = make_id<NodeId>(n);
    if (!question.demand.suits.test(n)) continue;
    const NodeRoomCount room = count_room(view, node, question.demand.task, {}, question.limit);
    reasons[n] = room.reason;
    ++counts.nodes[static_cast<size_t>(room.reason)];
    counts.tasks += room.tasks;
    if (room.reason == Reason::kUnavailable) ++(state.nodes().is_up[n] == 0 ? counts.down : counts.cordoned);
    const auto free = static_cast<int32_t>(popcount(view.whole(node)));
    counts.free_devices += free;
    counts.most_free = std::max(counts.most_free, free);
    if (room.reason == Reason::kNone || stage_of(room.reason) <= counts.furthest) continue;
    counts.furthest = stage_of(room.reason);
    counts.furthest_reason = room.reason;
  }
  if (counts.furthest < FilterStage::kDevices) return counts;
  for (size_t n = 0; n < reasons.size(); ++n) {
    // Of devices the most on any node count, also on one that they are enough on.
    const bool counts_in = counts.furthest == FilterStage::kDevices
                               ? question.demand.suits.test(n) && reasons[n] != Reason::kUnavailable
                               : reasons[n] == counts.furthest_reason;
    const int64_t amount = amount_of(view, n, counts.furthest);
    if (!counts_in || (is_set(counts.nearest_node) && amount <= counts.nearest)) continue;
    counts.nearest = amount;
    counts.nearest_node = make_id<NodeId>(n);
  }
  return counts;
}

void expect_equal(const RoleNodeCounts& fast, const RoleNodeCounts& slow) {
  EXPECT_EQ(fast.nodes, slow.nodes);
  EXPECT_EQ(fast.down, slow.down);
  EXPECT_EQ(fast.cordoned, slow.cordoned);
  EXPECT_EQ(fast.tasks, slow.tasks);
  EXPECT_EQ(fast.free_devices, slow.free_devices);
  EXPECT_EQ(fast.most_free, slow.most_free);
  EXPECT_EQ(fast.furthest, slow.furthest);
  EXPECT_EQ(fast.furthest_reason, slow.furthest_reason);
  EXPECT_EQ(fast.nearest, slow.nearest);
  // Where nodes of two pools stand in one word of the bitmaps, that of the first pool is named.
  if (is_set(fast.nearest_node) && is_set(slow.nearest_node)) {
    EXPECT_EQ(index(fast.nearest_node) / 64, index(slow.nearest_node) / 64);
  } else {
    EXPECT_EQ(fast.nearest_node, slow.nearest_node);
  }
}

TEST(RoleCounts, WholeDevicesAreCountedAsALookAtEachNodeCountsThem) {
  std::array<int, 16> furthest{};
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    CountedWorld counted(seed);
    const ClusterState& state = counted.world.state;
    DemandTable table;
    for (int i = 0; i < 10; ++i) {
      const JobSpec job = counted.job();
      const DemandId id = table.intern(state.shapes()[counted.world.shape(job)].roles[0].demand);
      const CountQuestion question{.demand = table.get(state, id),
                                   .standing = table.standing(state, id),
                                   .limit = job.roles[0].count,
                                   .known = {}};
      const RoleNodeCounts present = count_role(PresentView{state}, question);
      expect_equal(present, count_one_by_one(PresentView{state}, question));
      expect_equal(count_role(EmptyView{state}, question), count_one_by_one(EmptyView{state}, question));
      if (HasFailure()) return;
      if (present.furthest >= FilterStage::kDevices) ++furthest[static_cast<size_t>(present.furthest)];
    }
  }
  for (const FilterStage stage : {FilterStage::kDevices, FilterStage::kCpus, FilterStage::kMemory, FilterStage::kDisk})
    EXPECT_GT(furthest[static_cast<size_t>(stage)], 20) << static_cast<int>(stage);
}

TEST(RoleCounts, OfNodesThatComeEquallyNearTheFirstIsNamedWhateverElseIsFreeThere) {
  TestWorld world;
  for (int n = 0; n < 3; ++n) {
    NodeSpec node = gpu_node("n" + std::to_string(n), 4);
    node.cpu_milli = 2000;
    world.add(node);
  }
  // The first of them stands under more free devices than the second, which is counted before it.
  JobSpec filler = job_of(1, whole(3));
  filler.roles[0].cpu_milli = 0;
  filler.roles[0].node = "n1";
  ASSERT_TRUE(world.start(filler).is_yes());
  JobSpec job = job_of(1, whole(1));
  job.roles[0].cpu_milli = 3000;
  DemandTable table;
  const DemandId id = table.intern(world.state.shapes()[world.shape(job)].roles[0].demand);
  const CountQuestion question{
      .demand = table.get(world.state, id), .standing = table.standing(world.state, id), .known = {}};
  const RoleNodeCounts counts = count_role(PresentView{world.state}, question);
  EXPECT_EQ(counts.furthest, FilterStage::kCpus);
  EXPECT_EQ(counts.nearest, 2000);
  EXPECT_EQ(counts.nearest_node, NodeId{0});
}

TEST(RoleCounts, StandingFiltersAreCountedAnewWhenNodesArriveAndAsIfAskedForTheFirstTime) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    CountedWorld counted(seed);
    const ClusterState& state = counted.world.state;
    DemandTable early;
    std::vector<TaskDemand> demands;
    for (int i = 0; i < 4; ++i) demands.push_back(state.shapes()[counted.world.shape(counted.job())].roles[0].demand);
    for (int arrivals = 0; arrivals < 3; ++arrivals) {
      DemandTable late;
      for (const TaskDemand& demand : demands) {
        const DemandId id = early.intern(demand);
        const KnownDemand& known = early.get(state, id);
        const StandingCounts& counts = early.standing(state, id);
        const DemandId late_id = late.intern(demand);
        late.get(state, late_id);
        const StandingCounts& anew = late.standing(state, late_id);
        EXPECT_EQ(counts.nodes, anew.nodes);
        EXPECT_EQ(counts.furthest, anew.furthest);
        EXPECT_EQ(counts.furthest_reason, anew.furthest_reason);
        uint32_t out = 0;
        for (const uint32_t nodes : counts.nodes) out += nodes;
        EXPECT_EQ(out + known.suits_count, state.nodes().size());
      }
      for (int n = 0; n < 5; ++n) counted.add_node();
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace weft::testing
