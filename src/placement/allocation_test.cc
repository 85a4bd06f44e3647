#include "base/allocation_count_testing.h"
#include "placement/test_world.h"

// Counts what is allocated in this program, to show that placing allocates nothing once everything has been seen.

namespace weft::testing {
namespace {

struct Allocation : ::testing::Test {
  Allocation() : world({"rack", "block"}) {
    for (int n = 0; n < 256; ++n) {
      NodeSpec node = gpu_node("n" + std::to_string(n), 8, ShareMode::kMps);
      node.islands = {0x0f, 0xf0};
      node = with_label(with_label(node, "rack", "r" + std::to_string(n / 16)), "block", "b" + std::to_string(n / 64));
      world.add(node);
      if (n % 3 != 0) world.occupy(make_id<NodeId>(static_cast<size_t>(n)), static_cast<DeviceMask>(n % 255 + 1));
    }
  }

  /// Allocations of the third of three equal questions.
  size_t allocated(const JobSpec& job, bool is_possible) {
    const ShapeId shape = world.shape(job);
    const std::vector<int32_t> counts = world.minimum(shape);
    GangPlacement at;
    size_t before = 0;
    for (int round = 0; round < 3; ++round) {
      before = allocation_count;
      Transaction txn(world.state);
      EXPECT_EQ(world.placer->place_gang(txn, {.shape_id = shape, .counts = counts}, at).is_yes(), is_possible);
    }
    return allocation_count - before;
  }

  TestWorld world;
};

TEST_F(Allocation, PlacingAgainAllocatesNothing) {
  EXPECT_EQ(allocated(job_of(1, whole(3)), true), 0U);
  EXPECT_EQ(allocated(job_of(40, whole(8)), true), 0U);
  EXPECT_EQ(allocated(within(job_of(8, whole(4)), "rack"), true), 0U);
  EXPECT_EQ(allocated(prefer(job_of(100, whole(2)), "rack"), true), 0U);
  EXPECT_EQ(allocated(within(job_of(1, whole(4)), "nvlink"), true), 0U);
  EXPECT_EQ(allocated(job_of({role_of("launcher", 1, {}), role_of("w", 20, whole(4))}), true), 0U);
  EXPECT_EQ(allocated(job_of(50, milli(300)), true), 0U);
}

TEST_F(Allocation, SayingNoAgainAllocatesNothing) {
  EXPECT_EQ(allocated(job_of(2000, whole(1)), false), 0U);
  EXPECT_EQ(allocated(job_of(200, whole(8)), false), 0U);
  EXPECT_EQ(allocated(within(job_of(16, whole(8)), "rack"), false), 0U);
  EXPECT_EQ(allocated(job_of(1, whole(9)), false), 0U);
}

TEST_F(Allocation, TheCounterCounts) {
  const uint64_t before = allocation_count;
  int* volatile kept = new int(1);  // seen, so that the pair is not optimised away
  delete kept;
  EXPECT_EQ(allocation_count - before, 1U);
}

}  // namespace
}  // namespace weft::testing
