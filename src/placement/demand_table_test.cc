#include "placement/demand_table.h"

#include "base/rng.h"
#include "placement/device_choice.h"
#include "placement/test_world.h"

namespace weft::testing {
namespace {

NodeSpec random_node(Rng& rng, size_t number) {
  NodeSpec node = gpu_node("n" + std::to_string(number), static_cast<unsigned>(rng.below(4)),
                           rng.below(2) == 0 ? ShareMode::kExclusive : ShareMode::kTimeSlice);
  for (DeviceSpec& device : node.devices) {
    if (rng.below(3) == 0) device.model = "A100-SXM4-80GB";
    if (rng.below(3) == 0) device.memory_bytes = 40 * kGiB;
  }
  for (const char* value : {"red", "blue"}) {
    if (rng.below(2) == 0) node.labels.emplace_back(value, "yes");
  }
  for (const char* key : {"keep", "old"}) {
    if (rng.below(5) == 0) node.taints.push_back({.key = key, .value = ""});
  }
  return node;
}

JobSpec random_job(Rng& rng) {
  const std::vector<DeviceNeed> needs{{}, whole(1), whole(2), milli(300), memory(60 * kGiB)};
  JobSpec job = job_of(1, needs[rng.below(needs.size())]);
  RoleSpec& role = job.roles[0];
  if (rng.below(3) == 0) role.constraint.models = {"A100-SXM4-80GB"};
  if (rng.below(3) == 0) role.constraint.memory_bytes_min = 50 * kGiB;
  if (rng.below(2) == 0) role.labels.emplace_back("red", "yes");
  if (rng.below(4) == 0) role.labels.emplace_back("blue", "yes");
  if (rng.below(2) == 0) role.tolerations.emplace_back("keep");
  if (rng.below(8) == 0) role.node = "n3";
  return job;
}

TEST(DemandTable, TheBitmapIsWhatALookAtEachNodeGivesAlsoAfterNewNodes) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    TestWorld world;
    DemandTable table;
    std::vector<DemandId> ids;
    for (size_t n = 0; n < 130; ++n) {
      world.add(random_node(rng, n));
      if (n < 4 || rng.below(20) != 0) continue;
      ids.push_back(table.intern(world.state.shapes()[world.shape(random_job(rng))].roles[0].demand));
      for (const DemandId id : ids) {
        const KnownDemand& known = table.get(world.state, id);
        ASSERT_EQ(known.suits.count(), known.suits_count);
        for (size_t i = 0; i <= n; ++i) {
          const NodeId node = make_id<NodeId>(i);
          const bool is_standing = standing_obstacle(world.state, node, known.task) == Reason::kNone;
          // The bitmap goes by pools: a mixed node may pass it without a device that is right in both model and memory.
          TaskPlacement at;
          const bool fits =
              choose_devices(world.state, node, known.task, {}, PackOrSpread::kPack, -1, at) == Reason::kNone;
          ASSERT_TRUE(!known.suits.test(i) || is_standing);
          ASSERT_TRUE(known.suits.test(i) || !fits) << "seed " << seed << " node " << i;
        }
      }
    }
  }
}

TEST(DemandTable, EqualDemandsAreOne) {
  TestWorld world;
  world.add(gpu_node("a", 1));
  DemandTable table;
  const TaskDemand one = world.state.shapes()[world.shape(job_of(1, whole(1)))].roles[0].demand;
  TaskDemand other = one;
  other.disk_bytes = 1;  // not in the key, but a difference all the same
  EXPECT_EQ(table.intern(one), table.intern(one));
  EXPECT_NE(table.intern(one), table.intern(other));
  EXPECT_EQ(table.size(), 2U);
}

}  // namespace
}  // namespace weft::testing
