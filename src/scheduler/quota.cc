#include "scheduler/quota.h"

#include "base/check.h"

#include <algorithm>
#include <limits>

namespace weft {
namespace {

ResourceVector least_charge_of(const ClusterState& state, const TaskDemand& demand) {
  if (demand.devices.kind == DeviceNeedKind::kMemory) {
    int64_t largest = demand.devices.memory_bytes;  // without any device it cannot be placed: any charge will do
    for (const Pool& pool : state.pools()) largest = std::max(largest, pool.device_memory_bytes_max);
    return queue_charge(demand, std::max<int64_t>(largest, 1), 0);
  }
  if (demand.devices.kind == DeviceNeedKind::kMig) {
    ResourceVector least = queue_charge(demand, 0, 0);
    least.gpu_units = std::numeric_limits<int64_t>::max();
    for (const auto& [model_id, profile] : demand.devices.mig) {
      const DeviceModel& model = state.names().devices.model(model_id);
      const unsigned slices = model.mig_profiles[profile].compute_slices;
      least.gpu_units = std::min(least.gpu_units, queue_charge(demand, 0, slices, model.mig_compute_slices).gpu_units);
    }
    if (demand.devices.mig.empty()) least.gpu_units = 0;
    return least;
  }
  return queue_charge(demand, 0, 0);
}

/// A rule for one resource: `amount` more on top of `usage` within `bound`.
struct Bound {
  int64_t usage = 0;
  int64_t amount = 0;
  int64_t bound = kUnlimited;
  bool is_broken() const { return amount > 0 && bound < kUnlimited && usage + amount > bound; }
};

/// Fills in what binds. GPUs count whole unless a fraction is in play.
void count(Verdict& verdict, const Bound& gpus, const Bound& cpus, const Bound& memory) {
  const Bound& b = gpus.is_broken() ? gpus : (cpus.is_broken() ? cpus : memory);
  verdict.have = std::max<int64_t>(b.bound - b.usage, 0);
  verdict.need = b.amount;
  if (b.amount > b.bound) verdict.have = b.bound;  // what there would be if the queue were empty
  if (&b == &cpus) verdict.unit = CountUnit::kMilliCpu;
  if (&b == &memory) verdict.unit = CountUnit::kBytes;
  if (&b != &gpus) return;
  const bool is_whole = verdict.have % kGpuUnits == 0 && verdict.need % kGpuUnits == 0;
  const int64_t unit = is_whole ? kGpuUnits : kGpuUnits / 1000;
  verdict.unit = is_whole ? CountUnit::kGpus : CountUnit::kMilliGpu;
  verdict.have /= unit;
  verdict.need = (verdict.need + unit - 1) / unit;
}

bool is_within(Verdict& verdict, const ResourceVector& usage, const ResourceVector& amount,
               const ResourceVector& bound) {
  const Bound gpus{usage.gpu_units, amount.gpu_units, bound.gpu_units};
  const Bound cpus{usage.cpu_milli, amount.cpu_milli, bound.cpu_milli};
  const Bound memory{usage.memory_bytes, amount.memory_bytes, bound.memory_bytes};
  if (!gpus.is_broken() && !cpus.is_broken() && !memory.is_broken()) return true;
  count(verdict, gpus, cpus, memory);
  return false;
}

}  // namespace

ResourceVector Quota::least_charge(const ClusterState& state, const Shape& shape, std::span<const int32_t> counts) {
  ResourceVector total;
  for (size_t role = 0; role < counts.size(); ++role) {
    if (counts[role] > 0) total = total + least_charge_of(state, shape.roles[role].demand) * counts[role];
  }
  return total;
}

bool Quota::is_beyond(const ClusterState& state, const Shape& shape, const ResourceVector& amount) {
  Verdict ignored;
  const QueueTable& queues = state.queues();
  for (QueueId q = shape.queue; is_set(q); q = queues.parent[index(q)]) {
    const QueueSpec& spec = queues.spec[index(q)];
    if (spec.running_jobs_max == 0 || !is_within(ignored, {}, amount, spec.limit)) return true;
    if (!shape.is_preemptible && !is_within(ignored, {}, amount, spec.guarantee)) return true;
  }
  return false;
}

Verdict Quota::check(const ClusterState& state, const Shape& shape, const ResourceVector& amount,
                     int32_t new_jobs) const {
  const QueueTable& queues = state.queues();
  Verdict verdict;
  for (QueueId q = shape.queue; is_set(q); q = queues.parent[index(q)]) {
    const QueueSpec& spec = queues.spec[index(q)];
    if (!is_within(verdict, queues.usage[index(q)], amount, spec.limit)) {
      verdict.reason = Reason::kLimit;
    } else if (spec.running_jobs_max >= 0 && new_jobs > 0 && jobs(q) + new_jobs > spec.running_jobs_max) {
      verdict.reason = Reason::kLimit;
      verdict.unit = CountUnit::kTasks;
      verdict.have = std::max(spec.running_jobs_max - jobs(q), 0);
      verdict.need = new_jobs;
    } else if (!shape.is_preemptible && !is_within(verdict, queues.firm_usage[index(q)], amount, spec.guarantee)) {
      verdict.reason = Reason::kGuarantee;
    }
    if (verdict.is_yes()) continue;
    verdict.queue = q;
    verdict.is_never = is_beyond(state, shape, amount);
    verdict.wakes_on = wake_bit(WakeKind::kQueueFreed) | wake_bit(WakeKind::kQueueChanged);
    return verdict;
  }
  return Verdict{};
}

void Quota::add_jobs(const QueueTable& queues, QueueId queue, int32_t change) {
  if (jobs_.size() < queues.size()) jobs_.resize(queues.size(), 0);
  for (QueueId q = queue; is_set(q); q = queues.parent[index(q)]) {
    jobs_[index(q)] += change;
    WEFT_CHECK(jobs_[index(q)] >= 0, "a job leaves the queue that it entered");
  }
}

}  // namespace weft
