#pragma once

#include "base/result.h"
#include "base/rng.h"
#include "sim/generate/arrival_clock.h"
#include "sim/generate/burst_planner.h"
#include "sim/generate/calibration.h"
#include "sim/generate/population.h"
#include "sim/generate/profile.h"
#include "sim/simulation/cluster_spec.h"
#include "sim/trace/trace_reader.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::sim {

/// What decides which sizes a cluster can hold, as the simulator lays them out: shares and jobs of up to a node's GPUs
/// on one node, larger ones on whole nodes and a rest.
struct ClusterRoom {
  int64_t gpus = 0;
  int32_t node_gpus_max = 0;
  int64_t largest_nodes = 0;   ///< nodes of so many
  int32_t node_gpus_next = 0;  ///< of the largest node beside these
  bool fits(int32_t gpu_milli) const;
};
ClusterRoom room_of(const ClusterSpec& cluster);

/// One trace to be generated.
struct GeneratorPlan {
  std::string profile = "default";
  uint64_t jobs = 10'000;
  uint64_t seed = 1;
  /// How fast they come; at most one of the three. None: at `load` 0.7 where there is a cluster, else as in the source.
  std::optional<double> jobs_per_hour;
  std::optional<Duration> span;  ///< in which all are submitted, in the mean
  std::optional<double>
      load;  ///< the GPU-time submitted in the span over that of the cluster: above 1 it cannot keep up
  /// Jobs that it could never run do not come: their sizes are drawn again. None: all sizes come.
  std::optional<ClusterRoom> cluster;
  /// As if it had gone on for long: the first jobs, all of them at time 0, are those that would run already, with what
  /// is left of them. So the load is there from the beginning; without this it grows for as long as the longest jobs
  /// take.
  uint8_t is_steady = 0;
  Weekday first_day = Weekday::kMonday;
  uint32_t users = 0;   ///< 0: as in the profile
  uint32_t queues = 0;  ///< 0: as in the profile
};

/// Jobs that were never submitted, in order of submission, in memory that does not grow with their number. The same
/// plan gives the same jobs on every machine (see LogNormal for the one caveat). What they are like: WorkloadProfile,
/// their numbers: CalibratedWorkload and BurstPlanner, their times: ArrivalClock, their users and names: Population.
///
/// Time 0 is a midnight in January 2018. All times are whole seconds. Jobs of a burst come 0 to 3 s after each other.
/// Ids are j1, j2, ….
class JobGenerator final : public TraceReader {
 public:
  /// Errors: an unknown profile; no jobs; several of rate, span and load, or one that is not above 0; a load without a
  /// cluster, or of one without GPUs; jobs over more than ten years; not more jobs
  /// than run already where it is steady.
  static Result<std::unique_ptr<JobGenerator>> make(const GeneratorPlan& plan);

  Result<Step> next(TraceJob& job) override;
  const TraceNotes& notes() const override { return notes_; }

  const WorkloadProfile& profile() const { return profile_; }
  const CalibratedWorkload& workload() const { return workload_; }
  double jobs_per_hour() const { return jobs_per_hour_; }
  uint64_t under_way_count() const { return under_way_count_; }  ///< how many of the jobs, the first ones, run already
  int64_t epoch() const { return notes_.epoch; }                 ///< Unix seconds of Instant{0}

 private:
  /// A burst of which jobs are still to come.
  struct Open {
    int64_t next_s = 0;   ///< submission of its next job
    uint64_t number = 0;  ///< of the burst: earlier ones come first
    uint32_t user = 0;
    int32_t gpu_milli = 0;
    Program program;
    size_t taken = 0;
    uint8_t is_at_once = 0;  ///< all its jobs come together
    std::vector<PlannedJob> jobs;
  };

  /// How fast jobs come, and how many of them run already.
  struct Pace {
    double jobs_per_hour = 0;
    uint64_t under_way = 0;
  };
  static Result<Pace> pace_of(const GeneratorPlan& plan, const WorkloadProfile& profile,
                              const CalibratedWorkload& workload);

  JobGenerator(const GeneratorPlan& plan, const WorkloadProfile& profile, CalibratedWorkload workload,
               const Pace& pace);
  void plan_block();
  /// Draws when the next burst comes, if one does; plans another block if need be.
  void look_ahead();
  void open_burst();
  void describe(const Open& open, TraceJob& job);

  const WorkloadProfile& profile_;
  CalibratedWorkload workload_;
  double jobs_per_hour_;
  uint64_t under_way_count_;
  uint64_t under_way_left_;  ///< to be planned
  uint64_t jobs_left_;       ///< the same of those that come
  std::vector<JobClass> under_way_;
  ArrivalClock clock_;
  Population population_;
  BurstPlanner planner_;
  BurstPlanner under_way_planner_;
  Rng arrivals_;
  Rng people_;
  TraceNotes notes_;

  std::span<const Burst> block_;
  size_t block_at_ = 0;
  double burst_gap_s_ = 0;  ///< weighted seconds between two bursts of the block, in the mean
  double burst_at_s_ = 0;   ///< when the next burst comes
  uint8_t has_burst_ = 0;
  uint64_t bursts_ = 0;
  std::vector<Open> pool_;
  std::vector<size_t> open_;   ///< a heap of indices into pool_, the earliest first
  std::vector<size_t> spare_;  ///< indices into pool_
};

}  // namespace weft::sim
