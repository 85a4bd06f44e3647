#include "sim/scenario/needs_rungs.h"

#include <algorithm>
#include <tuple>

namespace weft::scenario {
namespace {

/// Where the paths of two queues part: the siblings there. The same queue, or one inside of the other: nothing.
struct Parting {
  uint32_t first = 0;
  uint32_t second = 0;
};
std::optional<Parting> part(const Scenario& s, uint32_t first, uint32_t second) {
  const auto a = queue_path(s, first), b = queue_path(s, second);
  size_t i = a.size(), j = b.size();
  while (i > 0 && j > 0 && a[i - 1] == b[j - 1]) --i, --j;
  if (i == 0 || j == 0) return std::nullopt;
  return Parting{a[i - 1], b[j - 1]};
}

/// A guarantee that claims nothing: no resource is named with more than zero.
bool claims_nothing(const ResourceVector& guarantee) {
  const auto is_void = [](int64_t amount) { return amount == 0 || amount >= kUnlimited; };
  return is_void(guarantee.gpu_units) && is_void(guarantee.cpu_milli) && is_void(guarantee.memory_bytes);
}

/// True where the priorities of queues alone say whose turn it is, or the two are the same. A guarantee of the lower
/// one would count before the priority, and a higher one without weight has no claim.
bool is_decided_by_priority(const Scenario& s, uint32_t one, uint32_t other) {
  const auto parting = part(s, one, other);
  if (!parting) return true;
  const QueueSpec &p = s.queues[parting->first], &q = s.queues[parting->second];
  if (p.priority == q.priority) return false;
  const auto& [lower, higher] = p.priority < q.priority ? std::tie(p, q) : std::tie(q, p);
  return claims_nothing(lower.guarantee) && higher.weight_milli > 0;
}

uint32_t queue_of(const Scenario& s, JobIndex job) {
  const auto found = std::find_if(s.queues.begin(), s.queues.end(),
                                  [&](const QueueSpec& q) { return q.name == s.job_group(job).spec.queue; });
  return static_cast<uint32_t>(found - s.queues.begin());
}

/// Does `other` come behind the waiting job, so that a reservation of that job might keep it back?
bool is_behind(const Moment& m, const JobSituation& job, JobIndex other) {
  const JobSpec& spec = m.scenario.job_group(other).spec;
  const uint32_t queue = queue_of(m.scenario, other);
  if (queue != job.queue) {
    if (!is_decided_by_priority(m.scenario, job.queue, queue))
      return true;  // there is no telling without the queues' shares
    const auto parting = part(m.scenario, job.queue, queue);
    return parting && m.scenario.queues[parting->first].priority > m.scenario.queues[parting->second].priority;
  }
  const bool counts_priority = m.scenario.policy.job_order() == "priority";
  if (counts_priority && spec.priority != job.spec.priority) return spec.priority < job.spec.priority;
  return std::pair(m.world.view(other).submitted, other) > std::pair(job.view.submitted, job.index);
}

}  // namespace

bool needs_reservations(const Moment& m) {
  if (m.scenario.policy.reservation_depth == 0 || m.scenario.policy.is_strict_order())
    return false;  // greedy, or nobody overtakes
  const Duration drain_after = m.scenario.policy.drain_after.value_or(hours(24));
  const auto& started = m.world.started_last_cycle();
  for (const JobSituation& job : m.now.waiting) {
    const auto overtakes = [&](JobIndex other) {
      return started.contains(other) && other != job.index && is_behind(m, job, other);
    };
    if (std::none_of(started.begin(), started.end(), overtakes)) continue;
    if (job.view.verdict.reason == Reason::kLimit) continue;  // reserves nothing
    if (m.world.now() - job.view.submitted >= drain_after) return true;
    // A reservation has a time only where the job fits beside those of endless estimate that were there before it.
    const auto stay = running_if(m, [&](const JobSituation& j) {
      return j.spec.estimate >= kEndless && j.spec.time_limit >= kEndless && !overtakes(j.index);
    });
    if (m.probe.could_start(m.world, what_it_waits_for(job), stay, {}) == Probe::Answer::kMaybe) return true;
  }
  return false;
}

}  // namespace weft::scenario
