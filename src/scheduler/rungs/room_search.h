#pragma once

#include "scheduler/core.h"
#include "scheduler/rungs/units.h"
#include "state/transaction.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft {

/// Which units may be taken, and in which order. Reads the usage of queues in the transaction that is open.
class UnitRule {
 public:
  virtual ~UnitRule() = default;
  /// May this unit be taken now, after those that have been taken already?
  virtual bool allows(const Unit& unit) const = 0;
  /// The unit to be taken next; kNoUnit: no more.
  static constexpr size_t kNoUnit = SIZE_MAX;
  virtual size_t next(const Units& units, std::span<const uint8_t> is_lifted) = 0;
  /// Is what the taker's queue and its ancestors hold now, the taker included, theirs to hold?
  virtual bool is_lawful() const = 0;
};

/// A unit that goes on elsewhere.
struct Landing {
  size_t unit = 0;
  GangPlacement at;
};

/// What is to be done so that the taker starts.
struct RoomPlan {
  std::vector<size_t> victims;
  std::vector<Landing> landings;
  GangPlacement taker;
};

enum class RoomAnswer : uint8_t {
  kFound,
  kImpossible,  ///< no set of the units makes room: proven
  kBudget,      ///< the search stopped before it knew
};

/// Finds the units that must go for a job to start. Everything is tried in one transaction that is rolled back.
///
/// Units are lifted in the order of the rule until the taker fits; then whatever it can do without is put back, those
/// of highest priority first; then whole gangs that find a place elsewhere are moved there in place of being stopped.
/// Where the order leads nowhere, all sets of units are tried when there are few (exact), and else the one that a
/// placement over all of them asks for. Cost: O((units + tasks of the taker) x log(units)) for the first, bounded by
/// PolicyConfig::search_steps_max tasks lifted and placed for the rest.
class RoomSearch {
 public:
  RoomSearch(Core& core, const Units& units) : core_(core), units_(units) {}

  /// Requires: the job of the request waits.
  RoomAnswer find(const GangRequest& request, UnitRule& rule, RoomPlan& out);

 private:
  static constexpr size_t kAllSetsMax = 12;  ///< units of which all sets are tried

  enum class Lawful : uint8_t { kAnyway, kMustBe };

  bool find_in_order();
  bool find_in_sets();
  bool find_over_all();
  std::vector<size_t> shortest_prefix(size_t failed);
  bool settle_for(std::vector<size_t> units);
  void do_without(std::vector<size_t>& units);
  bool lift_lawfully(std::vector<size_t> units);
  bool would_do();
  bool is_lawful() const { return taken_abroad_ == 0 || rule_->is_lawful(); }
  void count_abroad(const Unit& unit, int change);

  void start_anew();
  void lift(size_t unit);
  void lift_all();
  void lift_these(std::span<const size_t> units);
  bool place_taker(Lawful lawful);
  bool has_whole_lifted(JobId job) const;
  bool put_back(size_t unit);
  void put_back_free();
  bool land_all();
  bool land(size_t unit, Landing& out);
  std::vector<size_t> dearest_first() const;
  bool spend(size_t steps);

  Core& core_;
  const Units& units_;
  Transaction* txn_ = nullptr;
  UnitRule* rule_ = nullptr;
  const GangRequest* request_ = nullptr;
  uint8_t has_movers_ = 0;   ///< some units must land
  size_t taken_abroad_ = 0;  ///< units lifted from other queues, those to be moved aside
  int64_t steps_left_ = 0;
  std::vector<size_t> order_;       ///< units, as they were lifted
  std::vector<uint8_t> is_lifted_;  ///< by unit; of order_, those that have not been put back
  GangPlacement placement_;         ///< of the taker
  std::vector<Landing> landings_;
  std::vector<int32_t> counts_;
};

}  // namespace weft
