#pragma once

#include "base/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

enum class PackOrSpread : uint8_t { kPack, kSpread };
enum class StrictOrder : uint8_t { kNo, kYes };

/// Which cycle the core runs.
enum class CycleMode : uint8_t {
  kLadder,  ///< who runs goes on; who waits gets what is free
  kElect,   ///< at every event those who may run are chosen afresh by the order; whoever is not chosen is stopped and
            ///< waits again
};
/// Elect mode: where those who run already are put when the running set is chosen.
enum class ElectPlaces : uint8_t {
  kKept,   ///< where they are, as long as nobody who goes before them needs it
  kAfresh  ///< everybody is placed anew, in order, in an empty cluster; who lands elsewhere is moved
};
/// When jobs are looked at again that sink to a lower level of service (orders las and 2d-las).
enum class LevelLooks : uint8_t {
  kExact,        ///< at the very instant at which a job has had what makes it sink
  kFloorOfEach,  ///< (limit - executed seconds) / GPUs, rounded down to seconds, for every running job at every event:
                 ///< a rule of a published simulator, see docs/policies/2d-las.md
  kCeilAtStart,  ///< (limit - GPU-seconds) / GPUs, rounded up to seconds, when a job starts or sinks: another's
};

/// What orders that look at service take. Not read by the others.
struct ServiceOptions {
  std::vector<Duration> limits{seconds(3250), seconds(7200)};  ///< las: of time; 2d-las: of time x GPUs; rising
  LevelLooks looks = LevelLooks::kExact;
  std::vector<Duration> history;  ///< gittins, 2d-gittins: time x GPUs of jobs of the past; empty: nothing is known
  Duration quantum{
      0};  ///< how far they look ahead, of time x GPUs; 0: gittins: as far as pays best; 2d-gittins: 3,250 s
  bool operator==(const ServiceOptions&) const = default;
};

struct WeightedScore {
  std::string name;  ///< of the registry
  int32_t weight = 1;
  bool operator==(const WeightedScore&) const = default;
};

/// Reservations for those who wait; ladder only. See ReservationBook.
struct BackfillOptions {
  int32_t reservation_depth = 0;     ///< how many of them have one; 0: nobody is kept back; kAllReserve: all
  Duration drain_after = hours(24);  ///< who waits longer without a time in sight keeps what falls free
  bool operator==(const BackfillOptions&) const = default;
};
inline constexpr int32_t kAllReserve = INT32_MAX;

/// Slurm's multifactor priority: weights of factors between 0 and 1.
struct MultifactorWeights {
  double age = 0, job_size = 0, fairshare = 0, partition = 0, qos = 0;
  Duration max_age = hours(7 * 24);  ///< at which the age factor is 1
  bool operator==(const MultifactorWeights&) const = default;
};

/// What the dominant share of a queue is measured against when it is compared with its siblings'; ladder only.
enum class ShareBasis : uint8_t {
  kCluster,      ///< the cluster alone
  kEntitlement,  ///< what the queue is entitled to
  kWeight,       ///< its weight
};

/// Which rungs of the ladder there are beside admit and place; ladder only.
struct LadderRungs {
  uint8_t elastic = 0;      ///< jobs that run get tasks above their minimum
  uint8_t consolidate = 0;  ///< jobs are moved so that one that waits fits
  uint8_t reclaim = 0;      ///< queues take back what is their own
  uint8_t preempt = 0;      ///< a higher priority takes from a lower one of its queue
  bool operator==(const LadderRungs&) const = default;
};

/// How a queue's jobs are ordered, where they go and how far a search may run. Parsed once at the edge, echoed in the
/// decision log.
struct PolicyConfig {
  std::string preset = "default";
  std::string order = "priority";         ///< of the registry: "fifo", "priority", …
  StrictOrder strict = StrictOrder::kNo;  ///< kYes: nobody overtakes a job that waits for capacity; ladder only
  CycleMode mode = CycleMode::kLadder;
  ElectPlaces elect_places = ElectPlaces::kKept;
  ServiceOptions service;
  std::vector<WeightedScore> node_scores{{"pack", 1}};
  PackOrSpread nodes = PackOrSpread::kPack;  ///< of the domains and nodes that fit
  PackOrSpread devices = PackOrSpread::kPack;
  uint64_t random_seed = 0;             ///< of the score "random"; given by the driver
  uint32_t search_steps_max = 20'000;   ///< task placements tried per gang before the search stops at its budget
  uint64_t pass_steps_max = 2'000'000;  ///< task placements tried per pass before the rest waits for the next
  uint32_t attempts_max = 3;            ///< holds or starts that an engine may refuse before the job is failed
  LadderRungs rungs;
  ShareBasis share = ShareBasis::kCluster;
  BackfillOptions backfill;
  MultifactorWeights multifactor;
  Duration usage_half_life{0};  ///< of the past usage of queues and users; 0: it does not count
  bool operator==(const PolicyConfig&) const = default;
};

}  // namespace weft
