#include "base/allocation_count_testing.h"
#include "state/test_world.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

struct Book {
  JobId job;
  QueueId queue;
};

/// All kinds of writes, half of them undone, the rest given back before the commit.
void write_much(ClusterState& state, const std::vector<testing::Lease>& leases, const Book& book) {
  Transaction txn(state);
  for (const testing::Lease& lease : leases) {
    const Transaction::Mark mark = txn.mark();
    txn.take(lease.demand, lease.at);
    txn.charge(book.queue, lease.at.charge, 0);
    txn.set_task(TaskId{0}, TaskState::kHeld, lease.at);
    txn.set_job_times(book.job, Instant{1}, Instant{static_cast<int64_t>(mark)});
    txn.rollback(mark);
    txn.take(lease.demand, lease.at);
  }
  for (const testing::Lease& lease : leases) txn.give(lease.demand, lease.at);
  txn.commit();
  txn.set_job_state(book.job, JobState::kRunning);
}

TEST(Allocation, NoneInTakeGiveMarkRollbackAndCommitAfterWarmUp) {
  Rng rng(11);
  ClusterState state;
  testing::build_random_world(state, rng, 40);
  const auto shape = state.resolve(JobSpec{.name = "j", .queue = "red", .roles = {RoleSpec{}}});
  ASSERT_TRUE(shape);
  const Book book{.job = state.add_job(state.intern(*shape), UserId{0}, Instant{}, kEndless), .queue = QueueId{1}};
  std::vector<testing::Lease> leases;
  {
    Transaction txn(state);
    for (int i = 0; i < 400; ++i) {
      testing::Lease lease;
      if (!testing::random_lease(state, rng, lease)) continue;
      txn.take(lease.demand, lease.at);
      leases.push_back(std::move(lease));
    }
  }
  ASSERT_GT(leases.size(), 100U);
  write_much(state, leases, book);  // warm-up
  const uint64_t before = testing::allocation_count;
  for (int i = 0; i < 100; ++i) write_much(state, leases, book);
  EXPECT_EQ(testing::allocation_count, before);
  const std::vector<int> proof(3);
  EXPECT_GT(testing::allocation_count, before) << "the count does count";
  EXPECT_EQ(state.audit(), std::vector<std::string>{});
}

}  // namespace
}  // namespace weft
