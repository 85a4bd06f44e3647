#pragma once

#include "model/queue.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/world.h"

#include <optional>
#include <vector>

namespace weft::scenario {

/// A job with something to run or something running, between two cycles.
struct JobSituation {
  JobIndex index = 0;
  const JobSpec& spec;  ///< the file's
  const JobView& view;  ///< of the world; until its next change
  uint32_t queue = 0;   ///< index into Scenario::queues
  uint8_t is_preemptible = 1;
  std::vector<TaskIndex> pending;  ///< tasks
  std::vector<TaskIndex> running;
  ResourceVector running_charge;

  /// More tasks, or groups, than must run.
  bool is_elastic() const;
  /// It runs tasks that it could give away and live on.
  bool has_running_surplus() const;
};

/// What stands still after a cycle: who runs, who waits for room, and what is on its way out.
struct Situation {
  std::vector<JobSituation> running;  ///< by JobIndex; jobs that were told to stop whole are not here
  std::vector<JobSituation> waiting;  ///< for room or for their queue's limit: nothing else keeps them back
  std::vector<ResourceVector> usage;  ///< by queue, what is below it included
  uint8_t has_releasing = 0;
};

/// Until the world's next change.
Situation look_at(World& world);

/// The queue and its ancestors, the queue first.
std::vector<uint32_t> queue_path(const Scenario& scenario, uint32_t queue);
/// The least that the job, or what it lacks, counts against its queue.
ResourceVector least_charge(const JobSpec& spec);
/// What a waiting job wants to start: itself, or the tasks that it lacks while others of it run.
JobSpec what_it_waits_for(const JobSituation& job);

}  // namespace weft::scenario
