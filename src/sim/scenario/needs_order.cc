#include "sim/scenario/needs_rungs.h"

#include <algorithm>
#include <tuple>

namespace weft::scenario {
namespace {

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

bool has_places(const Expectation& expectation) {
  return std::any_of(expectation.checks.begin(), expectation.checks.end(), [](const Check& check) {
    if (std::holds_alternative<TogetherCheck>(check.body)) return true;
    if (const auto* one_of = std::get_if<OneOfCheck>(&check.body)) {
      return std::any_of(one_of->alternatives.begin(), one_of->alternatives.end(), has_places);
    }
    const auto* job = std::get_if<JobCheck>(&check.body);
    return job != nullptr && (job->nodes || !job->tasks.empty() || !job->devices.empty());
  });
}

/// Could two jobs that start in one cycle find other places when they start in the other order? Not on one node of
/// plain devices.
bool has_choice(const Scenario& s) {
  if (s.node_count != 1) return s.node_count > 1;
  const NodeSpec& node = s.nodes[0].spec;
  const auto is_cut = [](const DeviceSpec& d) { return d.mig_mode == MigMode::kOn; };
  return node.share != ShareMode::kExclusive || !node.islands.empty() || !node.numa.empty() ||
         std::any_of(node.devices.begin(), node.devices.end(), is_cut);
}

/// Does any expectation say where a job is?
bool are_places_expected(const Scenario& s) {
  return std::any_of(s.steps.begin(), s.steps.end(), [](const Step& step) {
    const auto* expect = std::get_if<ExpectStep>(&step.body);
    const auto* never = std::get_if<NeverStep>(&step.body);
    return (expect != nullptr && has_places(expect->expectation)) ||
           (never != nullptr && has_places(never->expectation));
  });
}

/// Jobs that the placer cannot tell apart: whoever comes first, the cluster looks the same afterwards.
bool are_alike(const JobSpec& a, const JobSpec& b) {
  return a.roles == b.roles && a.groups == b.groups && a.topology == b.topology && a.gang == b.gang &&
         a.min_groups == b.min_groups && a.data == b.data;
}

/// Two jobs of queues whose order is open started in one cycle: could the other order have put them elsewhere?
bool order_may_move(const Scenario& s, JobIndex a, JobIndex b) {
  if (are_places_expected(s) && (s.node_count > 1 || s.nodes[0].spec.devices.size() > 1)) return true;
  return has_choice(s) && !are_alike(s.job_group(a).spec, s.job_group(b).spec);
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

/// Two queues wanted room in one cycle, one got it and the other did not: whose turn it was depends on their
/// entitlements. Where both got all they wanted, the order may still have decided who is where.
bool needs_fair_shares(const Moment& m) {
  const PolicyWish& policy = m.scenario.policy;
  if (policy.preset != "default" || policy.is_strict_order() || m.scenario.queues.size() < 2) return false;
  const auto& started = m.world.started_last_cycle();
  const auto is_open = [&](uint32_t queue, JobIndex other) {
    return !is_decided_by_priority(m.scenario, queue, queue_of(m.scenario, other));
  };
  for (const JobIndex one : started) {
    const uint32_t queue = queue_of(m.scenario, one);
    for (const JobIndex other : started) {
      if (is_open(queue, other) && order_may_move(m.scenario, one, other)) return true;
    }
  }
  for (const JobSituation& job : m.now.waiting) {
    if (std::none_of(started.begin(), started.end(), [&](JobIndex other) { return is_open(job.queue, other); }))
      continue;
    const auto before = running_if(m, [&](const JobSituation& j) { return !started.contains(j.index); });
    if (!is_within_limits(m, job, running_if(m, [&](const JobSituation& j) { return started.contains(j.index); })))
      continue;
    if (m.probe.could_start(m.world, what_it_waits_for(job), before, {}) == Probe::Answer::kMaybe) return true;
  }
  return false;
}

}  // namespace weft::scenario
