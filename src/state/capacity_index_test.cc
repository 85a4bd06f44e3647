#include "state/capacity_index.h"

#include "state/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace weft {
namespace {

using ::testing::ElementsAre;
using testing::gpu_node;
using ::testing::IsEmpty;
using testing::share_on;
using testing::whole_demand;
using testing::whole_on;

std::vector<size_t> members(const BitSet& set) {
  std::vector<size_t> out;
  set.for_each([&](size_t i) { out.push_back(i); });
  return out;
}

std::vector<uint32_t> histogram(const ClusterState& state, DomainId domain, PoolId pool) {
  const auto row = state.capacity().histogram(domain, pool);
  return {row.begin(), row.end()};
}

NodeSpec labelled(std::string name, size_t gpus, std::string rack, std::string block) {
  NodeSpec spec = gpu_node(std::move(name), gpus);
  spec.labels = {{"rack", std::move(rack)}, {"block", std::move(block)}};
  return spec;
}

/// a (rack r1), b (rack r1), c (rack r2), all of block b1, four GPUs each.
void build_three(ClusterState& state) {
  ASSERT_TRUE(state.define_topology({.levels = {"rack", "block"}}));
  for (const auto& [name, rack] : {std::pair{"a", "r1"}, std::pair{"b", "r1"}, std::pair{"c", "r2"}}) {
    ASSERT_TRUE(state.add_node(labelled(name, 4, rack, "b1")));
  }
}

TEST(CapacityIndex, BucketsAndHistogramsFollowTakeAndGive) {
  ClusterState state;
  build_three(state);
  const DomainId r1 = state.nodes().domains[0][0];
  Transaction txn(state);
  txn.take(whole_demand(3), whole_on(NodeId{1}, 0b0111));
  EXPECT_THAT(members(state.capacity().bucket(PoolId{0}, 4)), ElementsAre(0, 2));
  EXPECT_THAT(members(state.capacity().bucket(PoolId{0}, 1)), ElementsAre(1));
  EXPECT_THAT(histogram(state, DomainId{0}, PoolId{0}), ElementsAre(0, 1, 0, 0, 2));
  EXPECT_THAT(histogram(state, r1, PoolId{0}), ElementsAre(0, 1, 0, 0, 1));
  EXPECT_EQ(state.capacity().free_devices(DomainId{0}), 9);
  EXPECT_EQ(state.capacity().free_devices(r1), 5);
  txn.give(whole_demand(3), whole_on(NodeId{1}, 0b0111));
  EXPECT_THAT(histogram(state, r1, PoolId{0}), ElementsAre(0, 0, 0, 0, 2));
  EXPECT_EQ(state.capacity().free_devices(DomainId{0}), 12);
}

TEST(CapacityIndex, NodesThatAreDownOrCordonedAreNotCounted) {
  ClusterState state;
  build_three(state);
  state.set_node_up(NodeId{0}, 0);
  state.set_node_cordoned(NodeId{2}, 1);
  EXPECT_THAT(members(state.capacity().schedulable()), ElementsAre(1));
  EXPECT_THAT(histogram(state, DomainId{0}, PoolId{0}), ElementsAre(0, 0, 0, 0, 1));
  EXPECT_EQ(state.capacity().free_devices(DomainId{0}), 4);
  EXPECT_EQ(state.available(NodeId{0}), 0U);
  state.set_node_up(NodeId{0}, 1);
  state.set_node_cordoned(NodeId{2}, 0);
  EXPECT_EQ(state.capacity().free_devices(DomainId{0}), 12);
  EXPECT_THAT(state.audit(), IsEmpty());
}

TEST(CapacityIndex, SayingAgainWhatIsKnownChangesNothing) {
  ClusterState state;
  build_three(state);
  state.set_device_healthy(NodeId{1}, 2, 0);
  const uint64_t version = state.structure_version();
  const uint64_t changes = state.change_count();
  state.set_node_up(NodeId{0}, 1);
  state.set_node_cordoned(NodeId{0}, 0);
  state.set_device_healthy(NodeId{1}, 2, 0);
  state.set_node_load(NodeId{0}, -1);
  EXPECT_EQ(state.structure_version(), version);
  EXPECT_EQ(state.change_count(), changes);
  state.set_node_load(NodeId{0}, 250);
  EXPECT_EQ(state.structure_version(), version) << "load is no fixed property";
  EXPECT_EQ(state.changed_node(changes), NodeId{0});
}

TEST(CapacityIndex, AnUnhealthyOrCordonedDeviceIsNotAvailable) {
  ClusterState state;
  build_three(state);
  state.set_device_healthy(NodeId{0}, 3, 0);
  state.set_device_cordoned(NodeId{0}, 0, 1);
  EXPECT_EQ(state.available(NodeId{0}), 0b0110U);
  EXPECT_EQ(state.usable(NodeId{0}), 0b0110U);
  EXPECT_THAT(members(state.capacity().bucket(PoolId{0}, 2)), ElementsAre(0));
  state.set_device_healthy(NodeId{0}, 3, 1);
  state.set_device_cordoned(NodeId{0}, 0, 0);
  EXPECT_EQ(state.available(NodeId{0}), 0b1111U);
  EXPECT_THAT(state.audit(), IsEmpty());
}

TEST(CapacityIndex, ADeviceThatFailsWhileOwnedComesBackFreeButNotAvailable) {
  ClusterState state;
  build_three(state);
  {
    Transaction txn(state);
    txn.take(whole_demand(2), whole_on(NodeId{0}, 0b0011));
    txn.commit();
  }
  state.set_device_healthy(NodeId{0}, 0, 0);
  EXPECT_EQ(state.available(NodeId{0}), 0b1100U);
  {
    Transaction txn(state);
    txn.give(whole_demand(2), whole_on(NodeId{0}, 0b0011));
    txn.commit();
  }
  EXPECT_EQ(state.nodes().free[0], 0b1111U);
  EXPECT_EQ(state.available(NodeId{0}), 0b1110U);
  EXPECT_THAT(members(state.capacity().bucket(PoolId{0}, 3)), ElementsAre(0));
  EXPECT_THAT(state.audit(), IsEmpty());
}

TEST(CapacityIndex, SharedRoomIsASharedUsableDeviceThatIsNotFull) {
  ClusterState state;
  build_three(state);
  const CapacityIndex& index = state.capacity();
  const int64_t memory = state.devices().memory_bytes[0];
  TaskDemand half;
  Transaction txn(state);
  EXPECT_THAT(members(index.with_shared_room()), IsEmpty());
  txn.take(half, share_on(NodeId{0}, 1, 500, memory / 4));
  EXPECT_THAT(members(index.with_shared_room()), ElementsAre(0));
  EXPECT_EQ(state.available(NodeId{0}), 0b1101U);
  txn.take(half, share_on(NodeId{0}, 1, 500, memory / 4));
  EXPECT_THAT(members(index.with_shared_room()), IsEmpty()) << "its time is gone";
  txn.give(half, share_on(NodeId{0}, 1, 500, memory / 4));
  txn.take(half, share_on(NodeId{0}, 1, 100, memory / 4 * 3));
  EXPECT_THAT(members(index.with_shared_room()), IsEmpty()) << "its memory is gone";
  txn.give(half, share_on(NodeId{0}, 1, 100, memory / 4 * 3));
  txn.give(half, share_on(NodeId{0}, 1, 500, memory / 4));
  EXPECT_THAT(members(index.with_shared_room()), IsEmpty()) << "nobody shares it any more";
  EXPECT_EQ(state.available(NodeId{0}), 0b1111U);
}

TEST(CapacityIndex, MigNodesAreThoseWithAUsableDeviceInMigMode) {
  ClusterState state;
  NodeSpec spec = gpu_node("a", 2, "A100-SXM4-80GB");
  spec.devices[1].mig_mode = MigMode::kOn;
  ASSERT_TRUE(state.add_node(spec));
  EXPECT_EQ(state.available(NodeId{0}), 0b01U) << "a device in MIG mode is not free";
  EXPECT_THAT(members(state.capacity().with_mig()), ElementsAre(0));
  EXPECT_EQ(state.capacity().free_max(PoolId{0}), 2U);
  state.set_device_healthy(NodeId{0}, 1, 0);
  EXPECT_THAT(members(state.capacity().with_mig()), IsEmpty());
  EXPECT_THAT(state.audit(), IsEmpty());
}

TEST(CapacityIndex, GrowthKeepsWhatWasCountedBefore) {
  ClusterState state;
  build_three(state);
  {
    Transaction txn(state);
    txn.take(whole_demand(3), whole_on(NodeId{1}, 0b0111));
    txn.commit();
  }
  ASSERT_TRUE(state.add_node(labelled("wide", 16, "r1", "b1")));                      // longer histograms
  for (const char* model : {"A100-SXM4-80GB", "H100-SXM5-80GB", "A100-SXM4-40GB"}) {  // more pools
    ASSERT_TRUE(state.add_node(gpu_node(model, 8, model)));
    ASSERT_EQ(state.audit_indices(), std::vector<std::string>{});
  }
  ASSERT_TRUE(state.add_node(labelled("far", 2, "r9", "b9")));  // more domains
  EXPECT_EQ(state.pools().size(), 4U);
  EXPECT_EQ(histogram(state, DomainId{0}, PoolId{0})[4], 2U);
  EXPECT_EQ(histogram(state, DomainId{0}, PoolId{0})[1], 1U);
  EXPECT_EQ(histogram(state, DomainId{0}, PoolId{0})[16], 1U);
  EXPECT_EQ(state.audit_indices(), std::vector<std::string>{});
}

TEST(CapacityIndex, ASuffixSumCountsTheNodesWithAtLeastSoManyFree) {
  ClusterState state;
  Rng rng(7);
  testing::build_random_world(state, rng, 60);
  for (size_t p = 0; p < state.pools().size(); ++p) {
    const auto row = state.capacity().histogram(DomainId{0}, make_id<PoolId>(p));
    for (unsigned k = 0; k <= state.capacity().free_max(make_id<PoolId>(p)); ++k) {
      uint32_t slow = 0;
      for (size_t n = 0; n < state.nodes().size(); ++n) {
        slow +=
            state.nodes().pool[n] == make_id<PoolId>(p) && popcount(state.available(make_id<NodeId>(n))) >= k ? 1 : 0;
      }
      EXPECT_EQ(std::accumulate(row.begin() + k, row.end(), 0U), slow);
    }
  }
}

}  // namespace
}  // namespace weft
