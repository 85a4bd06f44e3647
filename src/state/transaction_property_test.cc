#include "state/test_world.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

using testing::Lease;
using testing::Snapshot;
using testing::snapshot_of;

/// What a reader that follows the change log believes of a node.
struct Belief {
  DeviceMask available = 0;
  int64_t free_cpu_milli = 0;
  int64_t device_sum = 0;
  bool operator==(const Belief&) const = default;
};

Belief belief_of(const ClusterState& state, NodeId node) {
  const size_t n = index(node);
  Belief belief{.available = state.available(node), .free_cpu_milli = state.nodes().free_cpu_milli[n]};
  for (size_t row = state.nodes().first_device[n]; row < state.nodes().first_device[n] + state.nodes().device_count[n];
       ++row) {
    belief.device_sum += state.devices().free_milli[row] * 7 + state.devices().mig_occupied[row] +
                         state.devices().free_memory_bytes[row];
  }
  return belief;
}

/// A cache kept right from the change log alone.
class Follower {
 public:
  explicit Follower(const ClusterState& state) : state_(state) {}
  void catch_up() {
    const uint64_t behind = state_.change_count() - seen_;
    if (behind > state_.changes_kept() || beliefs_.size() != state_.nodes().size()) {
      beliefs_.resize(state_.nodes().size());
      for (size_t n = 0; n < beliefs_.size(); ++n) beliefs_[n] = belief_of(state_, make_id<NodeId>(n));
    } else {
      for (uint64_t i = seen_; i < state_.change_count(); ++i) {
        beliefs_[index(state_.changed_node(i))] = belief_of(state_, state_.changed_node(i));
      }
    }
    seen_ = state_.change_count();
  }
  bool is_right() const {
    for (size_t n = 0; n < beliefs_.size(); ++n) {
      if (beliefs_[n] != belief_of(state_, make_id<NodeId>(n))) return false;
    }
    return true;
  }

 private:
  const ClusterState& state_;
  std::vector<Belief> beliefs_;
  uint64_t seen_ = 0;
};

/// Random writes to one world, without jobs behind the leases, so that nothing is left out that a caller might do.
class Writer {
 public:
  Writer(uint64_t seed, size_t nodes) : rng_(seed), follower_(state_) {
    testing::build_random_world(state_, rng_, nodes);
    JobSpec spec{.name = "j", .queue = "red", .roles = {RoleSpec{.count = 3}}};
    const auto shape = state_.resolve(spec);
    WEFT_CHECK(shape.has_value(), "a job for tests");
    for (int i = 0; i < 20; ++i) state_.add_job(state_.intern(*shape), UserId{0}, Instant{i}, kEndless);
  }

  /// Writes that did something: a take that found no room is not one.
  uint64_t writes() const { return writes_; }
  ClusterState& state() { return state_; }

  /// One transaction with nested marks; checks that every rollback restores everything.
  void run_transaction() {
    const Snapshot before = snapshot_of(state_);
    const std::vector<Lease> leases_before = leases_;
    {
      Transaction txn(state_);
      for (uint64_t steps = rng_.below(40); steps > 0; --steps) step(txn, 0);
      if (rng_.below(3) == 0) return txn.commit();
    }
    leases_ = leases_before;
    ASSERT_TRUE(snapshot_of(state_) == before);
  }

  void change_health() {
    const NodeId node = random_node();
    const auto yes = static_cast<uint8_t>(rng_.below(4) != 0);
    const size_t devices = state_.nodes().device_count[index(node)];
    switch (rng_.below(4)) {
      case 0: state_.set_node_up(node, yes); break;
      case 1: state_.set_node_cordoned(node, yes ^ 1); break;
      case 2:
        if (devices > 0) state_.set_device_healthy(node, static_cast<unsigned>(rng_.below(devices)), yes);
        break;
      default:
        if (devices > 0) state_.set_device_cordoned(node, static_cast<unsigned>(rng_.below(devices)), yes ^ 1);
        break;
    }
  }

  void add_node() {
    ASSERT_EQ(testing::error_of(state_.add_node(testing::random_node(rng_, state_.nodes().size()))), "");
  }

  void check_follower() {
    follower_.catch_up();
    ASSERT_TRUE(follower_.is_right());
  }

 private:
  NodeId random_node() { return make_id<NodeId>(rng_.below(state_.nodes().size())); }
  JobId random_job() { return make_id<JobId>(rng_.below(state_.jobs().size())); }

  void step(Transaction& txn, int depth) {
    if (depth < 3 && rng_.below(12) == 0) return nested(txn, depth);
    switch (rng_.below(8)) {
      case 0:
      case 1:
      case 2: return take(txn);
      case 3:
      case 4: return give(txn);
      case 5: return charge(txn);
      case 6: return write_job(txn);
      default: return write_task(txn);
    }
  }

  void nested(Transaction& txn, int depth) {
    const Snapshot before = snapshot_of(state_);
    const std::vector<Lease> leases_before = leases_;
    const Transaction::Mark mark = txn.mark();
    for (uint64_t steps = rng_.below(12); steps > 0; --steps) step(txn, depth + 1);
    if (rng_.below(4) == 0) check_follower();
    if (rng_.below(3) == 0) return;
    txn.rollback(mark);
    leases_ = leases_before;
    ASSERT_TRUE(snapshot_of(state_) == before);
    if (rng_.below(4) == 0) check_follower();
  }

  void take(Transaction& txn) {
    Lease lease;
    if (!testing::random_lease(state_, rng_, lease)) return;
    txn.take(lease.demand, lease.at);
    ++writes_;
    leases_.push_back(std::move(lease));
  }

  void give(Transaction& txn) {
    if (leases_.empty()) return;
    std::swap(leases_[rng_.below(leases_.size())], leases_.back());
    txn.give(leases_.back().demand, leases_.back().at);
    ++writes_;
    leases_.pop_back();
  }

  void charge(Transaction& txn) {
    const QueueId queue = make_id<QueueId>(rng_.below(state_.queues().size()));
    const ResourceVector amount{rng_.between(0, 5) * kGpuUnits, rng_.between(0, 1000), rng_.between(0, 1) * kGiB};
    txn.charge(queue, amount, static_cast<uint8_t>(rng_.below(2)));
    ++writes_;
  }

  void write_job(Transaction& txn) {
    const JobId job = random_job();
    ++writes_;
    switch (rng_.below(3)) {
      case 0: return txn.set_job_state(job, static_cast<JobState>(rng_.below(4)));
      case 1: return txn.set_job_attempt(job, static_cast<uint32_t>(rng_.below(100)));
      default:
        return txn.set_job_times(job, Instant{rng_.between(0, 9)},
                                 rng_.below(3) == 0 ? kNever : Instant{rng_.between(0, 30)});
    }
  }

  void write_task(Transaction& txn) {
    const TaskId task = make_id<TaskId>(rng_.below(state_.tasks().size()));
    ++writes_;
    if (rng_.below(2) == 0) return txn.set_task_state(task, TaskState::kPending);
    txn.set_task(task, TaskState::kPending, testing::whole_on(random_node(), rng_.below(256)));
  }

  Rng rng_;
  ClusterState state_;
  Follower follower_;
  std::vector<Lease> leases_;
  uint64_t writes_ = 0;
};

std::string joined(const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings) text += finding + "\n";
  return text;
}

void run_world(uint64_t seed, size_t nodes, uint64_t writes) {
  Writer writer(seed, nodes);
  for (uint64_t i = 0; writer.writes() < writes; ++i) {
    ASSERT_NO_FATAL_FAILURE(writer.run_transaction()) << "seed " << seed << ", transaction " << i;
    if (i % 5 == 0) writer.change_health();
    if (i % 40 == 0) {
      ASSERT_NO_FATAL_FAILURE(writer.check_follower()) << "seed " << seed << ", transaction " << i;
      ASSERT_EQ(joined(writer.state().audit_indices()), "") << "seed " << seed << ", transaction " << i;
    }
    if (i % 2000 == 1999) writer.add_node();
  }
}

TEST(TransactionProperty, RollbacksRestoreEverythingAndIndicesEqualTheirSlowTwinsInSmallWorlds) {
  for (uint64_t seed = 1; seed <= 16; ++seed) ASSERT_NO_FATAL_FAILURE(run_world(seed, 3 + seed, 50'000));
}

TEST(TransactionProperty, RollbacksRestoreEverythingAndIndicesEqualTheirSlowTwinsInAWiderWorld) {
  for (uint64_t seed = 100; seed < 102; ++seed) ASSERT_NO_FATAL_FAILURE(run_world(seed, 70, 150'000));
}

}  // namespace
}  // namespace weft
