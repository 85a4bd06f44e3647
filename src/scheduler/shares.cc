#include "scheduler/shares.h"

#include "scheduler/core.h"

#include <algorithm>
#include <utility>

namespace weft {

void Shares::sum_capacity(const Core& core) {
  if (capacity_version_ == core.state.structure_version()) return;
  capacity_version_ = core.state.structure_version();
  capacity_ = {};
  const NodeTable& nodes = core.state.nodes();
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (nodes.is_up[n] == 0) continue;
    capacity_ = capacity_ + ResourceVector{.gpu_units = popcount(nodes.healthy[n]) * kGpuUnits,
                                           .cpu_milli = nodes.total_cpu_milli[n],
                                           .memory_bytes = nodes.total_memory_bytes[n]};
  }
}

const ResourceVector& Shares::full_charge(const Core& core, ShapeId id) {
  const size_t known = full_charge_.size();
  for (size_t s = known; s < core.state.shapes().size(); ++s) {
    const Shape& shape = core.state.shapes()[make_id<ShapeId>(s)];
    std::vector<int32_t> counts;
    for (const RoleShape& role : shape.roles) counts.push_back(role.count);
    full_charge_.push_back(Quota::least_charge(core.state, shape, counts));
  }
  return full_charge_[index(id)];
}

void Shares::add_demand(QueueId queue, const ResourceVector& amount) {
  claims_[index(queue)].demand = claims_[index(queue)].demand + amount;
}

/// What jobs that run in part still want.
void Shares::add_running(const Core& core, QueueId queue) {
  for (const JobId job : core.holders.of(queue)) {
    const JobRecord& record = core.book[job];
    const Shape& shape = core.shape_of(job);
    if (record.intent != Intent::kNone || record.live == static_cast<uint32_t>(shape.task_count())) continue;
    const auto counts = core.book.counts(record);
    std::vector<int32_t> wanted;
    for (size_t role = 0; role < counts.size(); ++role)
      wanted.push_back(shape.roles[role].count - counts[role].held - counts[role].running - counts[role].done);
    add_demand(queue, Quota::least_charge(core.state, shape, wanted));
  }
}

void Shares::refresh(Core& core) {
  const QueueTable& queues = core.state.queues();
  sum_capacity(core);
  claims_.assign(queues.size(), {});
  for (size_t q = 0; q < queues.size(); ++q) {
    const QueueId id = make_id<QueueId>(q);
    const QueueSpec& spec = queues.spec[q];
    claims_[q] = {.parent = is_set(queues.parent[q]) ? static_cast<int32_t>(index(queues.parent[q])) : -1,
                  .guarantee = spec.guarantee,
                  .limit = spec.limit,
                  .weight_milli = std::min(spec.weight_milli, kQueueWeightMilliMax),
                  .priority = spec.priority};
    if (queues.has_children[q] == 0) claims_[q].demand = queues.usage[q] + core.leavers.returning(id);
    add_running(core, id);
  }
  for (size_t l = 0; l < core.lines.size(); ++l) {
    const Line& line = core.lines[make_id<LineId>(l)];
    // A gang that runs in part was looked at among those who run; who can never run wants nothing.
    if (line.size == 0 || is_set(line.owner) || line.verdict.is_never) continue;
    const ResourceVector& full = full_charge(core, line.shape);
    if (line.role == kWholeGang) {
      add_demand(line.queue, full * line.size);
      continue;
    }
    for (EntryId entry = line.first; is_set(entry); entry = core.lines.next_in_line(entry)) {
      const JobId job = core.lines.job_of(entry);
      const bool is_counted = core.book[job].holds() || core.lines.first_entry(job) != entry;
      if (!is_counted) add_demand(line.queue, full);
    }
  }
  const ResourceVector bounded{.gpu_units = std::min(capacity_.gpu_units, kQuantityMax),
                               .cpu_milli = std::min(capacity_.cpu_milli, kQuantityMax),
                               .memory_bytes = std::min(capacity_.memory_bytes, kQuantityMax)};
  entitlements_.compute(claims_, bounded);
}

}  // namespace weft
