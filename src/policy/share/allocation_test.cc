#include "base/allocation_count_testing.h"
#include "policy/share/entitlement.h"
#include "policy/share/fair_tree.h"

#include <gtest/gtest.h>

#include <vector>

// Counts what is allocated in this program, to show that shares are worked out again and again without allocating.

namespace weft::testing {
namespace {

constexpr int32_t kQueues = 40;

/// Queue q is below queue (q - 1) / 3: a tree of three children each.
int32_t parent_of(int32_t queue) { return queue == 0 ? -1 : (queue - 1) / 3; }

TEST(ShareAllocation, EntitlementsAllocateNothingWhenComputedAgain) {
  std::vector<QueueClaim> queues;
  for (int32_t q = 0; q < kQueues; ++q) {
    queues.push_back(
        {.parent = parent_of(q), .guarantee = {.gpu_units = q}, .priority = q % 2, .demand = {.gpu_units = 9}});
  }
  Entitlements entitlements;
  entitlements.compute(queues, {.gpu_units = 100}, 1000);
  const uint64_t before = allocation_count;
  queues[7].demand.gpu_units = 3;
  entitlements.compute(queues, {.gpu_units = 120}, 500);
  EXPECT_EQ(allocation_count - before, 0U);
  EXPECT_EQ(entitlements.of(0).gpu_units, 120);
}

TEST(ShareAllocation, FairTreeAllocatesNothingWhenComputedAgain) {
  std::vector<FairTreeNode> nodes;
  for (int32_t n = 0; n < kQueues; ++n) {
    const auto kind = 3 * n + 1 < kQueues ? FairTreeNode::Kind::kAccount : FairTreeNode::Kind::kUser;
    nodes.push_back({.parent = parent_of(n), .kind = kind, .usage = n % 5});
  }
  FairTree tree;
  tree.compute(nodes);
  const uint64_t before = allocation_count;
  for (FairTreeNode& node : nodes) node.usage = 0;  // all are equal, and all accounts of a level are merged
  tree.compute(nodes);
  EXPECT_EQ(allocation_count - before, 0U);
  EXPECT_EQ(tree.rank(kQueues - 1), 27);
}

}  // namespace
}  // namespace weft::testing
