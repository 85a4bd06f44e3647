#include "state/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace weft {

/// Reaches what only the index itself writes, to break it.
struct CapacityIndexAccess {
  static BitSet& bucket(CapacityIndex& index, size_t pool, size_t free) { return index.buckets_[pool][free]; }
  static std::vector<uint32_t>& histograms(CapacityIndex& index) { return index.histograms_; }
  static std::vector<int64_t>& free_devices(CapacityIndex& index) { return index.free_devices_; }
  static BitSet& schedulable(CapacityIndex& index) { return index.schedulable_; }
  static BitSet& shared_room(CapacityIndex& index) { return index.shared_room_; }
  static BitSet& mig(CapacityIndex& index) { return index.mig_; }
};

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::queue;

/// Breaks one cell behind the state's back. The object is not const, so writing through the cast is allowed.
template <typename T>
T& broken(const T& part) {
  return const_cast<T&>(part);
}

class Audit : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(state_.define_topology({.levels = {"rack", "block"}}));
    ASSERT_TRUE(state_.define_queue(queue("org")));
    ASSERT_TRUE(state_.define_queue(queue("red", "org")));
    for (int i = 0; i < 3; ++i) {
      NodeSpec spec = testing::gpu_node("a" + std::to_string(i), 4, "A100-SXM4-80GB");
      spec.labels = {{"rack", "r" + std::to_string(i / 2)}, {"block", "b"}};
      spec.devices[3].mig_mode = MigMode::kOn;
      ASSERT_TRUE(state_.add_node(spec));
    }
    const auto shape = state_.resolve(
        JobSpec{.name = "j",
                .queue = "red",
                .roles = {RoleSpec{.count = 2, .devices = {.kind = DeviceNeedKind::kWhole, .count = 1}}}});
    ASSERT_TRUE(shape);
    state_.add_job(state_.intern(*shape), UserId{0}, Instant{}, hours(1));
    Transaction txn(state_);
    TaskPlacement at = testing::whole_on(NodeId{1}, 0b1);
    at.charge = {kGpuUnits, 1000, kGiB};
    txn.take(shape->roles[0].demand, at);
    txn.charge(shape->queue, at.charge, 1);
    txn.set_task(TaskId{0}, TaskState::kRunning, at);
    txn.set_job_times(JobId{0}, Instant{0}, Instant{100});
    txn.commit();
    ASSERT_THAT(state_.audit(), IsEmpty());
  }

  /// A fresh audit after `harm` must name it.
  void expect_found(const char* words, const std::function<void()>& harm) {
    harm();
    const std::vector<std::string> findings = state_.audit();
    std::string text;
    for (const std::string& finding : findings) text += finding + "\n";
    EXPECT_THAT(text, HasSubstr(words));
  }

  CapacityIndex& index_of() { return broken(state_.capacity()); }
  NodeTable& nodes() { return broken(state_.nodes()); }

  ClusterState state_;
};

TEST_F(Audit, FindsAFreeMaskThatTheIndexDoesNotKnow) {
  expect_found("pool 0: the bucket of 3 free is off", [&] { nodes().free[0] = 0b0011; });
}

TEST_F(Audit, FindsABucketThatIsOff) {
  expect_found("pool 0: the bucket of 1 free is off", [&] { CapacityIndexAccess::bucket(index_of(), 0, 1).set(2); });
}

TEST_F(Audit, FindsAHistogramThatIsOff) {
  expect_found("the histogram of pool 0 is off", [&] { ++CapacityIndexAccess::histograms(index_of())[0]; });
}

TEST_F(Audit, FindsASumOfADomainThatIsOff) {
  expect_found("domain 1: free_devices() is", [&] { ++CapacityIndexAccess::free_devices(index_of())[1]; });
}

TEST_F(Audit, FindsSetsOfNodesThatAreOff) {
  expect_found("node 2: schedulable() is off", [&] { CapacityIndexAccess::schedulable(index_of()).reset(2); });
  expect_found("node 0: with_shared_room() is off", [&] { CapacityIndexAccess::shared_room(index_of()).set(0); });
  expect_found("node 1: with_mig() is off", [&] { CapacityIndexAccess::mig(index_of()).reset(1); });
}

TEST_F(Audit, FindsADeviceOnTwoSides) {
  expect_found("node 0: devices both free and shared", [&] { nodes().shared[0] |= 0b1; });
  expect_found("node 2: devices in MIG mode are free", [&] { nodes().free[2] |= 0b1000; });
  expect_found("node 1: a mask names a device that does not exist", [&] { nodes().healthy[1] |= 0b10000; });
}

TEST_F(Audit, FindsDeviceRowsThatNoTaskExplains) {
  expect_found("node 0: device 0: not shared, but a part is taken",
               [&] { broken(state_.devices()).free_milli[0] = 900; });
  expect_found("node 0: device 3: its instances in use are not those of tasks",
               [&] { broken(state_.devices()).mig_occupied[3] = 1; });
  expect_found("node 0: device 1: instances in use outside of MIG mode",
               [&] { broken(state_.devices()).mig_compute_used[1] = 1; });
}

TEST_F(Audit, FindsADeviceThatNobodyOwns) {
  expect_found("node 1: device 0: owned whole by 0 tasks",
               [&] { broken(state_.tasks()).state[0] = TaskState::kPending; });
}

TEST_F(Audit, FindsADeviceWithTwoOwners) {
  expect_found("node 1: device 0: owned whole by 2 tasks", [&] {
    TaskTable& tasks = broken(state_.tasks());
    tasks.state[1] = TaskState::kHeld;
    tasks.placement[1] = tasks.placement[0];
    tasks.placement[1].task = TaskId{1};
  });
}

TEST_F(Audit, FindsSumsOfANodeThatAreOff) {
  expect_found("node 1: tasks hold other CPUs than are taken", [&] { ++nodes().free_cpu_milli[1]; });
  expect_found("node 1: tasks hold other memory than is taken", [&] { ++nodes().free_memory_bytes[1]; });
  expect_found("node 2: free disk out of range", [&] { ++nodes().free_disk_bytes[2]; });
  expect_found("node 0: zone 0: tasks hold other CPUs", [&] { --broken(state_.zones()).free_cpu_milli[0]; });
}

TEST_F(Audit, FindsUsageThatIsOff) {
  expect_found("queue org: usage is not", [&] { ++broken(state_.queues()).usage[0].gpu_units; });
  expect_found("queue red: firm usage is not", [&] { ++broken(state_.queues()).firm_usage[1].cpu_milli; });
}

TEST_F(Audit, FindsATimelineThatIsOff) {
  expect_found("the timeline has another job where job 0 ends",
               [&] { broken(state_.jobs()).expected_end[0] = Instant{101}; });
  broken(state_.jobs()).expected_end[0] = Instant{100};
  ASSERT_THAT(state_.audit(), IsEmpty());
  expect_found("the timeline holds 0 jobs, not 1", [&] { broken(state_.timeline()).erase(JobId{0}); });
}

TEST_F(Audit, FindsANodeInAnotherDomain) {
  expect_found("node 2: level rack: one domain has two paths", [&] { nodes().domains[2][0] = nodes().domains[0][0]; });
}

TEST_F(Audit, FindsRangesThatAreOff) {
  expect_found("its ranges are not its nodes", [&] { ++broken(state_.domains())[1].ranges[0].first; });
}

TEST_F(Audit, FindsEqualShapes) {
  const auto other = state_.resolve(JobSpec{.name = "k", .queue = "red", .roles = {RoleSpec{.count = 3}}});
  ASSERT_TRUE(other);
  const ShapeId id = state_.intern(*other);
  expect_found("shapes 0 and 1 are equal", [&] { broken(state_.shapes()[id]) = state_.shapes()[ShapeId{0}]; });
}

TEST_F(Audit, FindsTaskRowsOfAnotherJob) {
  expect_found("rows of tasks are used", [&] { broken(state_.tasks()).job[1] = kNone<JobId>; });
}

}  // namespace
}  // namespace weft
