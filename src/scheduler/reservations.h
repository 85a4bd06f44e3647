#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "placement/placer.h"
#include "state/transaction.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

struct Core;

/// A place and a time for a job that waits. Nobody who comes after it may be in its way then.
struct Reservation {
  /// What is left of a node for others while it lasts, beside its devices.
  struct Left {
    NodeId node = kNone<NodeId>;
    int64_t cpu_milli = 0, memory_bytes = 0, disk_bytes = 0;
  };

  JobId job = kNone<JobId>;
  Instant start;  ///< of a drain: when it began; no end is in sight, and all that falls free is kept
  Instant end;
  uint8_t is_drain = 0;
  GangPlacement places;
  std::vector<Left> left;  ///< by node of `places`
};

/// The reservations of a pass, in the order of those who have them. Exact devices on exact nodes: whoever gets other
/// devices of a node, or has gone before the start, is in nobody's way.
///
/// The ends of those who run are what their estimates say. One that has passed its estimate is expected to run for
/// twice as long as that, and so on: no reservation is ever for a moment that is past.
/// Cost: hide and reveal O(places of the reservations that overlap); find O(jobs that end before + places), with a
/// placement for each end at which enough GPUs are free.
class ReservationBook {
 public:
  /// A new pass begins; what was reserved in the last one may be asked for again.
  void begin(Instant now);
  /// The pass is over; whoever was not asked for has no reservation any more.
  void finish();
  bool is_empty() const { return present_.empty(); }
  std::span<const Reservation> all() const { return present_; }
  const Reservation* find(JobId job) const;

  /// Nothing has come free since the last pass: earlier answers hold.
  enum class Since : uint8_t { kUnchanged, kFreed };
  /// Reserves for the job the earliest place in time; false where no end is in sight. `txn`: nothing is lifted; it is
  /// as before afterwards.
  bool reserve(Core& core, Transaction& txn, const GangRequest& request, Since since);
  /// Reserves for the job what falls free, whenever. False when it would not fit though nobody ran.
  bool drain(Core& core, Transaction& txn, const GangRequest& request);

  /// Takes what is free now and reserved for somebody else at any time in [from, until).
  void hide(Transaction& txn, Instant from, Instant until, JobId except);
  void reveal(Transaction& txn);
  /// A job starts at these places and stays until then.
  void note_start(const ClusterState& state, ShapeId shape, const GangPlacement& at, Instant until);

  /// When a job that waits without a time in sight will have waited long enough to keep what falls free.
  Instant look() const { return look_; }
  void look_at(Instant at) { look_ = std::min(look_, at); }

 private:
  struct Blocker {
    TaskDemand amounts;
    TaskPlacement at;
  };
  struct End {
    Instant at;
    JobId job = kNone<JobId>;  ///< kNone: of a reservation
    auto operator<=>(const End&) const = default;
  };

  bool keep(JobId job);
  void sum_ends(const Core& core);
  bool try_at(Core& core, Transaction& txn, const GangRequest& request, Instant at);
  void hide_one(Transaction& txn, const Reservation& reservation);
  static void note_left(const ClusterState& state, Reservation& reservation);

  std::vector<Reservation> present_;
  std::vector<Reservation> last_;
  std::vector<Blocker> blockers_;
  std::vector<End> ends_;
  GangPlacement placement_;
  Instant now_;
  Instant look_ = kNever;
  uint8_t are_all_kept_ = 1;  ///< so far this pass repeats the last one
};

/// When the job is expected to have gone, as of now; kNever where nobody knows.
Instant predicted_end(const Core& core, JobId job);

}  // namespace weft
