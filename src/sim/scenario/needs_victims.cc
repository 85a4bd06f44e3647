#include "base/bits.h"
#include "sim/scenario/needs_rungs.h"

#include <algorithm>

namespace weft::scenario {
namespace {

/// Is the queue, or one between it and the point where its path meets `other`'s, above its guarantee in any resource?
bool is_above_guarantee(const Moment& m, uint32_t queue, uint32_t other) {
  const auto others = queue_path(m.scenario, other);
  for (const uint32_t q : queue_path(m.scenario, queue)) {
    if (std::find(others.begin(), others.end(), q) != others.end()) return false;
    if (!m.now.usage[q].fits_in(m.scenario.queues[q].guarantee)) return true;
  }
  return false;
}

int64_t total_gpu_units(const Scenario& s) {
  int64_t total = 0;
  for (const NodeGroup& group : s.nodes) total += static_cast<int64_t>(group.spec.devices.size()) * group.count;
  return total * kGpuUnits;
}

/// Those that are not lost.
int64_t live_gpu_units(const Moment& m) {
  int64_t total = 0;
  for (NodeIndex n = 0; n < m.scenario.node_count; ++n) {
    const NodeView view = m.world.scheduler().node(make_id<NodeId>(n));
    if (view.is_up) total += popcount(view.healthy_devices);
  }
  return total * kGpuUnits;
}

/// The most GPUs to which a queue can be entitled: all but what the guarantees of its siblings, and of its ancestors'
/// siblings, claim for what they use already. Guarantees that are scaled down, because together they exceed what is
/// above them, claim less than they say: from there on nothing is taken off.
int64_t gpu_entitlement_max(const Moment& m, uint32_t queue) {
  int64_t bound = total_gpu_units(m.scenario);
  int64_t above = live_gpu_units(m);  // what the guarantees of one level share; below the top the parent's guarantee
  const auto path = queue_path(m.scenario, queue);
  for (size_t level = path.size(); level > 0; --level) {
    const QueueSpec& own = m.scenario.queues[path[level - 1]];
    int64_t guarantees = own.guarantee.gpu_units;
    int64_t claimed = 0;
    for (size_t q = 0; q < m.scenario.queues.size(); ++q) {
      const QueueSpec& other = m.scenario.queues[q];
      if (q == path[level - 1] || other.parent != own.parent || other.guarantee.gpu_units >= kUnlimited) continue;
      guarantees += other.guarantee.gpu_units;
      claimed += std::min({other.guarantee.gpu_units, other.limit.gpu_units, m.now.usage[q].gpu_units});
    }
    if (guarantees > above) return bound;
    bound -= claimed;
    above = own.guarantee.gpu_units;
  }
  return bound;
}

bool may_be_preempted_by(const JobSituation& victim, const JobSituation& taker) {
  if (!victim.is_preemptible || victim.queue != taker.queue || victim.index == taker.index) return false;
  if (victim.spec.priority < taker.spec.priority) return true;
  return victim.spec.priority == taker.spec.priority && victim.has_running_surplus();
}

/// What the queue and those below it would hold with the job, when they first give up all that they could.
ResourceVector usage_with(const Moment& m, const JobSituation& job, uint32_t queue) {
  ResourceVector usage = m.now.usage[queue] + least_charge(what_it_waits_for(job));
  for (const JobSituation& other : m.now.running) {
    const auto path = queue_path(m.scenario, other.queue);
    const bool is_inside = std::find(path.begin(), path.end(), queue) != path.end();
    const bool is_given_up = other.queue == job.queue ? may_be_preempted_by(other, job) : other.is_preemptible != 0;
    if (is_inside && is_given_up) usage = usage - other.running_charge;
  }
  return usage;
}

/// Could the job's queue and all above it be entitled to what the job needs, at the cost of `victim`'s? Without
/// entitlements only the bounds of them are known.
bool may_take(const Moment& m, const JobSituation& job, uint32_t victim) {
  const auto parting = part(m.scenario, job.queue, victim);
  for (const uint32_t q : queue_path(m.scenario, job.queue)) {
    const QueueSpec& spec = m.scenario.queues[q];
    const ResourceVector with_job = usage_with(m, job, q);
    if (with_job.fits_in(spec.guarantee)) continue;
    if (spec.weight_milli == 0) return false;
    if (with_job.gpu_units > std::max(spec.guarantee.gpu_units, gpu_entitlement_max(m, q))) return false;
    if (!parting || q != parting->first) continue;
    // The surplus goes to queues of higher priority first: while they want more, nobody below them is entitled to any.
    const QueueSpec& rival = m.scenario.queues[parting->second];
    if (rival.priority > spec.priority && rival.weight_milli > 0) return false;
  }
  return true;
}

bool may_be_reclaimed_by(const Moment& m, const JobSituation& victim, const JobSituation& taker) {
  return victim.is_preemptible && victim.queue != taker.queue && is_above_guarantee(m, victim.queue, taker.queue) &&
         may_take(m, taker, victim.queue);
}

/// Could the job start if all `victims` were stopped and everybody else who may be moved found another place?
bool could_be_helped(const Moment& m, const JobSituation& job, const std::vector<const JobSituation*>& victims) {
  const auto is_victim = [&](const JobSituation& other) {
    return std::find(victims.begin(), victims.end(), &other) != victims.end();
  };
  if (!is_within_limits(m, job, victims)) return false;
  const auto stay = running_if(
      m, [&](const JobSituation& j) { return !is_victim(j) && (!j.is_preemptible || j.index == job.index); });
  const auto move =
      running_if(m, [&](const JobSituation& j) { return !is_victim(j) && j.is_preemptible && j.index != job.index; });
  if (victims.empty() && move.empty()) return false;
  return m.probe.could_start(m.world, what_it_waits_for(job), stay, move) == Probe::Answer::kMaybe;
}

/// Some waiting job has victims of this kind and could start if it took them (and all others that it may take, and
/// moved the rest).
template <typename IsVictim>
bool has_victims(const Moment& m, IsVictim&& is_victim) {
  for (const JobSituation& job : m.now.waiting) {
    const auto own = running_if(m, [&](const JobSituation& j) { return is_victim(j, job); });
    if (own.empty() || fits_after_releases(m, job)) continue;
    const auto all = running_if(
        m, [&](const JobSituation& j) { return may_be_preempted_by(j, job) || may_be_reclaimed_by(m, j, job); });
    if (could_be_helped(m, job, all)) return true;
  }
  return false;
}

}  // namespace

std::optional<Parting> part(const Scenario& s, uint32_t first, uint32_t second) {
  const auto a = queue_path(s, first), b = queue_path(s, second);
  size_t i = a.size(), j = b.size();
  while (i > 0 && j > 0 && a[i - 1] == b[j - 1]) --i, --j;
  if (i == 0 || j == 0) return std::nullopt;
  return Parting{a[i - 1], b[j - 1]};
}

bool is_within_limits(const Moment& m, const JobSituation& job, const std::vector<const JobSituation*>& gone) {
  const ResourceVector least = least_charge(what_it_waits_for(job));
  for (const uint32_t q : queue_path(m.scenario, job.queue)) {
    ResourceVector usage = m.now.usage[q] - m.now.releasing[q] + least;
    for (const JobSituation* other : gone) {
      const auto path = queue_path(m.scenario, other->queue);
      if (std::find(path.begin(), path.end(), q) != path.end()) usage = usage - other->running_charge;
    }
    if (!usage.fits_in(m.scenario.queues[q].limit)) return false;
  }
  return true;
}

bool fits_after_releases(const Moment& m, const JobSituation& job) {
  if (m.now.has_releasing == 0 || !is_within_limits(m, job, {})) return false;
  return m.probe.could_start(m.world, what_it_waits_for(job), running_if(m, [](const JobSituation&) { return true; }),
                             {}) == Probe::Answer::kMaybe;
}

bool needs_preempt(const Moment& m) {
  return has_victims(
      m, [](const JobSituation& victim, const JobSituation& taker) { return may_be_preempted_by(victim, taker); });
}

bool needs_reclaim(const Moment& m) {
  return has_victims(
      m, [&](const JobSituation& victim, const JobSituation& taker) { return may_be_reclaimed_by(m, victim, taker); });
}

bool needs_consolidate(const Moment& m) {
  return std::any_of(m.now.waiting.begin(), m.now.waiting.end(), [&](const JobSituation& job) {
    return !fits_after_releases(m, job) && could_be_helped(m, job, {});
  });
}

}  // namespace weft::scenario
