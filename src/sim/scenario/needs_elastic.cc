#include "sim/scenario/needs_rungs.h"

#include <algorithm>

namespace weft::scenario {
namespace {

/// A surplus task of `job` for each role that has one waiting.
std::vector<JobSpec> waiting_surplus(const JobSituation& job) {
  std::vector<JobSpec> out;
  TaskIndex first = 0;
  for (const RoleSpec& role : job.spec.roles) {
    const TaskIndex count = std::max(role.count, 0);
    const bool is_waiting = std::any_of(job.pending.begin(), job.pending.end(),
                                        [&](TaskIndex t) { return t >= first && t < first + count; });
    first += count;
    if (!is_waiting) continue;
    JobSpec one = job.spec;
    one.roles = {role};
    one.roles[0].count = 1;
    one.roles[0].min = -1;
    one.roles[0].topology = {};
    one.topology = {};
    one.groups.clear();
    one.min_groups = -1;
    one.after.clear();
    one.start_no_earlier.reset();
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

bool needs_elastic(const Moment& m) {
  const bool has_surplus = std::any_of(m.now.running.begin(), m.now.running.end(),
                                       [](const JobSituation& j) { return j.has_running_surplus(); });
  for (const JobSituation& job : m.now.running) {
    if (!job.is_elastic() || job.view.state != JobState::kRunning || job.pending.empty()) continue;
    const bool others_have = std::any_of(m.now.running.begin(), m.now.running.end(), [&](const JobSituation& j) {
      return j.index != job.index && j.has_running_surplus();
    });
    if (has_surplus && others_have) return true;
    for (const JobSpec& one : waiting_surplus(job)) {
      const auto verdict = m.world.scheduler().what_if(one);
      if (!verdict || verdict->is_yes() || verdict->reason == Reason::kBudget) return true;
    }
  }
  return false;
}

/// A task that started alone had saved its work and runs again: how much it has left is not counted yet.
bool needs_checkpoints(const Moment& m) {
  return std::any_of(m.now.running.begin(), m.now.running.end(), [&](const JobSituation& j) {
    return j.spec.checkpoint && j.spec.gang == GangRule::kNone && m.scenario.job_group(j.index).runtime < kEndless &&
           j.view.attempt > 1;
  });
}

}  // namespace weft::scenario
