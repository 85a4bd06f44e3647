#include "model/shape.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

LevelNeed level(size_t i) { return {.kind = LevelNeed::Kind::kLevel, .level = make_id<LevelId>(i)}; }

/// Every field away from its default.
Shape rich_shape() {
  RoleShape role;
  role.count = 4;
  role.min = 2;
  role.demand.cpu_milli = 500;
  role.demand.memory_bytes = kGiB;
  role.demand.disk_bytes = kMiB;
  role.demand.devices = {.kind = DeviceNeedKind::kMig,
                         .count = 1,
                         .milli = 2,
                         .memory_bytes = 3,
                         .mig = {{make_id<DeviceModelId>(4), 1}},
                         .models = {make_id<DeviceModelId>(5)},
                         .memory_bytes_min = 6,
                         .compute_capability_min = 80};
  role.demand.node = make_id<NodeId>(7);
  role.demand.labels = {make_id<LabelId>(8)};
  role.demand.tolerations = {make_id<LabelId>(9)};
  role.scope = {.within = level(1), .prefer = level(0)};
  Shape shape;
  shape.queue = make_id<QueueId>(1);
  shape.priority = 50;
  shape.roles = {role, RoleShape{}};
  shape.groups = {
      {.parent = -1, .roles = {0}, .groups = {1}, .min = 2, .scope = {.within = level(2), .prefer = level(1)}},
      {.parent = 0, .roles = {1}, .groups = {}, .min = 1, .scope = {}}};
  shape.elasticity.scaling_curve = {1, 1.9};
  shape.data = {{.node = make_id<NodeId>(3), .bytes = kGiB}};
  return shape;
}

using Change = std::pair<std::string, std::function<void(Shape&)>>;

std::vector<Change> changes_of_the_job() {
  return {
      {"queue", [](Shape& s) { s.queue = make_id<QueueId>(2); }},
      {"priority", [](Shape& s) { s.priority = -50; }},
      {"is_preemptible", [](Shape& s) { s.is_preemptible = false; }},
      {"qos", [](Shape& s) { s.qos = QosClass::kLatency; }},
      {"gang", [](Shape& s) { s.gang = GangRule::kNone; }},
      {"a role more", [](Shape& s) { s.roles.emplace_back(); }},
      {"roles swapped", [](Shape& s) { std::swap(s.roles[0], s.roles[1]); }},
      {"a group more", [](Shape& s) { s.groups.emplace_back(); }},
      {"group parent", [](Shape& s) { s.groups[1].parent = -1; }},
      {"group roles", [](Shape& s) { s.groups[1].roles.push_back(0); }},
      {"group groups", [](Shape& s) { s.groups[0].groups.clear(); }},
      {"group roles as groups", [](Shape& s) { std::swap(s.groups[1].roles, s.groups[1].groups); }},
      {"group min", [](Shape& s) { s.groups[0].min = 1; }},
      {"group within", [](Shape& s) { s.groups[0].scope.within = level(3); }},
      {"group prefer", [](Shape& s) { s.groups[0].scope.prefer = {}; }},
      {"elasticity step", [](Shape& s) { s.elasticity.step = 2; }},
      {"scaling curve", [](Shape& s) { s.elasticity.scaling_curve[1] = 1.8; }},
      {"data node", [](Shape& s) { s.data[0].node = make_id<NodeId>(4); }},
      {"data bytes", [](Shape& s) { ++s.data[0].bytes; }},
      {"data more", [](Shape& s) { s.data.push_back({.node = make_id<NodeId>(5), .bytes = 1}); }},
  };
}

std::vector<Change> changes_of_a_role() {
  return {
      {"count", [](Shape& s) { s.roles[0].count = 5; }},
      {"min", [](Shape& s) { s.roles[0].min = 3; }},
      {"cpu", [](Shape& s) { ++s.roles[0].demand.cpu_milli; }},
      {"memory", [](Shape& s) { ++s.roles[0].demand.memory_bytes; }},
      {"disk", [](Shape& s) { ++s.roles[0].demand.disk_bytes; }},
      {"node", [](Shape& s) { s.roles[0].demand.node = kNone<NodeId>; }},
      {"labels", [](Shape& s) { s.roles[0].demand.labels.push_back(make_id<LabelId>(10)); }},
      {"tolerations", [](Shape& s) { s.roles[0].demand.tolerations.clear(); }},
      {"a label as a toleration", [](Shape& s) { std::swap(s.roles[0].demand.labels, s.roles[0].demand.tolerations); }},
      {"numa", [](Shape& s) { s.roles[0].demand.numa = NumaNeed::kOneZone; }},
      {"network", [](Shape& s) { s.roles[0].demand.network = NetworkNeed::kSameRail; }},
      {"within kind", [](Shape& s) { s.roles[0].scope.within.kind = LevelNeed::Kind::kNode; }},
      {"within level", [](Shape& s) { s.roles[0].scope.within.level = make_id<LevelId>(0); }},
      {"prefer", [](Shape& s) { s.roles[0].scope.prefer = level(2); }},
      {"device kind", [](Shape& s) { s.roles[0].demand.devices.kind = DeviceNeedKind::kWhole; }},
      {"device count", [](Shape& s) { ++s.roles[0].demand.devices.count; }},
      {"device milli", [](Shape& s) { ++s.roles[0].demand.devices.milli; }},
      {"device memory", [](Shape& s) { ++s.roles[0].demand.devices.memory_bytes; }},
      {"MIG model", [](Shape& s) { s.roles[0].demand.devices.mig[0].first = make_id<DeviceModelId>(6); }},
      {"MIG profile", [](Shape& s) { s.roles[0].demand.devices.mig[0].second = 2; }},
      {"models", [](Shape& s) { s.roles[0].demand.devices.models.clear(); }},
      {"device memory min", [](Shape& s) { ++s.roles[0].demand.devices.memory_bytes_min; }},
      {"compute capability", [](Shape& s) { s.roles[0].demand.devices.compute_capability_min = 90; }},
  };
}

TEST(ShapeKey, AndEqualitySeeAChangeOfAnyField) {
  const Shape shape = rich_shape();
  std::vector<Change> changes = changes_of_the_job();
  for (Change& change : changes_of_a_role()) changes.push_back(std::move(change));
  std::set<uint64_t> keys{shape_key(shape)};
  for (const auto& [what, change] : changes) {
    Shape changed = shape;
    change(changed);
    EXPECT_NE(changed, shape) << what;
    EXPECT_TRUE(keys.insert(shape_key(changed)).second) << what;
  }
}

TEST(ShapeKey, IsTheSameForEqualShapes) {
  EXPECT_EQ(rich_shape(), rich_shape());
  EXPECT_EQ(shape_key(rich_shape()), shape_key(rich_shape()));
  Shape zero = rich_shape();
  zero.elasticity.scaling_curve = {0.0};
  Shape minus_zero = zero;
  minus_zero.elasticity.scaling_curve = {-0.0};
  ASSERT_EQ(zero, minus_zero);
  EXPECT_EQ(shape_key(zero), shape_key(minus_zero));
}

RoleShape role_of(int32_t count, int32_t min) {
  RoleShape role;
  role.count = count;
  role.min = min;
  return role;
}

TEST(Shape, CountsTheTasksThatMustStartTogether) {
  Shape shape;
  shape.roles = {role_of(4, 2), role_of(3, 3)};
  shape.groups = {{.parent = -1, .roles = {0, 1}, .groups = {}, .min = 2, .scope = {}}};
  EXPECT_EQ(shape.task_count(), 7);
  EXPECT_EQ(shape.min_task_count(), 5);
  shape.gang = GangRule::kNone;
  EXPECT_EQ(shape.min_task_count(), 1);
}

TEST(Shape, CountsOnlyTheSmallestMembersThatAGroupNeeds) {
  Shape shape;  // the job: role 0 and at least one of two groups of one role each
  shape.roles = {role_of(1, 1), role_of(8, 8), role_of(2, 2)};
  shape.groups = {{.parent = -1, .roles = {0}, .groups = {1}, .min = 2, .scope = {}},
                  {.parent = 0, .roles = {}, .groups = {2, 3}, .min = 1, .scope = {}},
                  {.parent = 1, .roles = {1}, .groups = {}, .min = 1, .scope = {}},
                  {.parent = 1, .roles = {2}, .groups = {}, .min = 1, .scope = {}}};
  EXPECT_EQ(shape.task_count(), 11);
  EXPECT_EQ(shape.min_task_count(), 3);
  shape.groups[1].min = 2;
  EXPECT_EQ(shape.min_task_count(), 11);
  shape.groups[0].min = 1;
  EXPECT_EQ(shape.min_task_count(), 1);
}

TaskDemand demand_of(DeviceDemand devices) {
  TaskDemand demand;
  demand.cpu_milli = 1500;
  demand.memory_bytes = kGiB;
  demand.devices = std::move(devices);
  return demand;
}

TEST(QueueCharge, CountsADeviceOnceHoweverItIsCut) {
  const auto gpu_units = [](DeviceDemand devices, int64_t memory, unsigned slices, unsigned of) {
    return queue_charge(demand_of(std::move(devices)), memory, slices, of).gpu_units;
  };
  EXPECT_EQ(gpu_units({}, 0, 0, 7), 0);
  EXPECT_EQ(gpu_units({.kind = DeviceNeedKind::kWhole, .count = 8}, 0, 0, 7), 8 * kGpuUnits);
  EXPECT_EQ(gpu_units({.kind = DeviceNeedKind::kMilli, .milli = 500}, 0, 0, 7), kGpuUnits / 2);
  EXPECT_EQ(gpu_units({.kind = DeviceNeedKind::kMilli, .milli = 1}, 0, 0, 7), 7);
  EXPECT_EQ(gpu_units({.kind = DeviceNeedKind::kMemory, .memory_bytes = 20 * kGiB}, 80 * kGiB, 0, 7), kGpuUnits / 4);
  EXPECT_EQ(gpu_units({.kind = DeviceNeedKind::kMemory, .memory_bytes = 80 * kGiB - 1}, 80 * kGiB, 0, 7),
            kGpuUnits - 1);
  EXPECT_EQ(gpu_units({.kind = DeviceNeedKind::kMemory, .memory_bytes = 1}, 80 * kGiB, 0, 7), 0);
  EXPECT_EQ(gpu_units({.kind = DeviceNeedKind::kMig}, 0, 3, 7), 3000);
  EXPECT_EQ(gpu_units({.kind = DeviceNeedKind::kMig}, 0, 7, 7), kGpuUnits);
  EXPECT_EQ(gpu_units({.kind = DeviceNeedKind::kMig}, 0, 1, 4), kGpuUnits / 4);
  EXPECT_EQ(gpu_units({.kind = DeviceNeedKind::kMig}, 0, 4, 4), kGpuUnits);
}

TEST(QueueCharge, HoldsForSizesThatNoDeviceHas) {
  const DeviceDemand huge{.kind = DeviceNeedKind::kMemory, .memory_bytes = kUnlimited};
  EXPECT_EQ(queue_charge(demand_of(huge), 1, 0).gpu_units, kUnlimited);
  EXPECT_EQ(queue_charge(demand_of(huge), 256 * kTiB, 0).gpu_units, kUnlimited / (256 * kTiB) * kGpuUnits + 6999);
}

TEST(QueueCharge, CountsCpusAndMemoryAsTheyAre) {
  const ResourceVector charge = queue_charge(demand_of({}), 0, 0);
  EXPECT_EQ(charge.cpu_milli, 1500);
  EXPECT_EQ(charge.memory_bytes, kGiB);
}

}  // namespace
}  // namespace weft
