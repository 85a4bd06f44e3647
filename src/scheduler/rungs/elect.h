#pragma once

#include "scheduler/core.h"
#include "scheduler/lifecycle.h"
#include "scheduler/rung.h"
#include "state/transaction.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// Elect mode: at every event the jobs that run are chosen afresh. All jobs, running and waiting, are walked in the
/// order of PolicyConfig::order; whoever fits into what those before it leave is chosen, whoever does not is passed
/// over (and with it everybody of its shape). Those who run and are not chosen are stopped, those who wait and are get
/// what is free, or what comes free by these stops. Jobs that are not preemptible go first once they run.
///
/// Where only the number of GPUs matters (every job asks for single whole GPUs and nothing else, no queue is bounded)
/// the walk counts; elsewhere it places in a transaction that is rolled back. Both choose the same jobs (a test
/// compares). Cost of an election: O(running) to see the ranks, O(lines x log(waiting)) to see that nobody's turn has
/// come; where somebody's has, O(running) placements at most.
class ElectRung final : public Rung {
 public:
  ElectRung(Core& core, Lifecycle& lifecycle);
  std::string_view name() const override { return "elect"; }
  void run() override;

 private:
  /// Where a job stands in the order of one election.
  struct Place {
    int64_t rank = 0;
    int64_t phase = 0;  ///< of equal ranks, see JobOrder::Ties
    int64_t turn = 0;
    JobId job = kNone<JobId>;
    auto operator<=>(const Place&) const = default;
  };
  enum class Fate : uint8_t { kKept, kMoved, kDropped };
  /// A job that runs, or is about to.
  struct Runner {
    Place place;
    int64_t need = 0;  ///< GPUs
    int64_t fall = 0;  ///< JobOrder::fall()
    Instant look = kNever;
    uint8_t is_steady = 0;  ///< it neither sinks nor changes its rank before `look`
    Fate fate = Fate::kKept;
  };
  /// The first of a line that has not been looked at yet.
  struct Waiter {
    Place place;
    int64_t need = 0;
    LineId line = kNone<LineId>;
    EntryId entry = kNone<EntryId>;
  };
  /// Somebody who waits and was chosen, or runs and is moved.
  struct Chosen {
    Place place;
    int64_t need = 0;
    size_t first = 0;  ///< of planned_
    size_t count = 0;  ///< 0: wherever it fits
    uint8_t is_move = 0;
  };

  // elect.cc
  void elect();
  bool is_everybody_once() const;
  bool is_calm() const;
  bool add_all_by_count();
  bool add_all_by_placement();
  void add_chosen();
  Runner runner_of(Place place, int64_t need) const;
  void note_look(Runner& runner, const JobKey& key) const;
  void sort_runners();
  bool is_absent(JobId job) const;
  void forget_absent();
  void see_runners();
  bool is_as_it_was(const Runner& runner) const;
  void see_waiters();
  bool settle_unchanged();
  void settle();
  Instant look() const;
  void place_chosen();
  bool try_chosen(const Chosen& chosen);
  int64_t running_rank(const JobKey& key) const;
  Place waiting_place(EntryId entry) const;
  /// The waiter goes on to the next of its line, or is out.
  void advance(Waiter& waiter);
  void close(Waiter& waiter, const Verdict& verdict);
  Waiter* first_waiter();
  int64_t need_of(JobId job) const;

  // elect_count.cc
  bool is_counting_cluster();
  bool are_waiters_counted();
  bool is_counting();
  bool is_counted(ShapeId id);
  void choose_by_count();
  void walk_by_count(size_t at, int64_t left);
  void close_short(Waiter& waiter, int64_t left);
  static Verdict short_of(int64_t have, int64_t need);

  // elect_place.cc
  void choose_by_placement();
  void lift(Transaction& txn, JobId job);
  bool put_back(Transaction& txn, JobId job);
  Verdict place_afresh(Transaction& txn, JobId job);
  void choose_runner(Transaction& txn, size_t at);
  Verdict place_before(Transaction& txn, JobId job, size_t first);
  bool take_plan(Transaction& txn, const Chosen& chosen);
  std::optional<TaskPlacement> again(const TaskDemand& demand, const TaskPlacement& at) const;
  bool is_where_it_was(JobId job) const;
  Chosen& plan(const Place& place, int64_t need);
  template <typename Visit>
  void for_each_live(JobId job, Visit&& visit) const;

  Core& core_;
  Lifecycle& lifecycle_;
  const JobOrder& order_;
  static constexpr size_t kRunnersUnseen = 256;
  static constexpr size_t kTriesOneByOne = 16;
  std::vector<Runner> runners_;     ///< in the order of the last election that looked at them, then those added since
  size_t seen_ = 0;                 ///< how many it looked at
  Instant next_look_ = kNever;      ///< the first of theirs
  uint8_t has_losers_ = 0;          ///< somebody waits on after this election, or was stopped by it
  uint8_t has_absent_ = 0;          ///< some of them have been chosen and had no place at once
  std::vector<Runner> merged_;      ///< scratch
  std::vector<uint8_t> is_lifted_;  ///< by runner: off its place in the walk that places
  std::vector<Waiter> waiters_;
  std::vector<Chosen> chosen_;  ///< in order; those that still wait for what is to come free
  std::vector<TaskPlacement> planned_;
  std::vector<uint16_t> planned_roles_;  ///< beside them
  std::vector<JobId> leaving_;           ///< stopped by elections, and not yet gone
  std::vector<int64_t> before_;          ///< scratch: GPUs of all runners before one
  std::vector<uint8_t> counted_shapes_;  ///< by ShapeId: 0 not looked at, 1 no, 2 yes
  uint64_t counted_structure_ = ~uint64_t{0};
  size_t counted_queues_ = 0;
  uint8_t is_cluster_counted_ = 0;
  GangPlacement placement_;
  std::vector<int32_t> counts_;
};

}  // namespace weft
