#include "scheduler/core.h"

#include <algorithm>

namespace weft {

Core::Core(PolicyParts policy)
    : parts(std::move(policy)),
      placer(parts.config, parts.scores.active),
      query_placer(parts.config, parts.query_scores.active),
      ceiling(parts.config, {}),  // whether something fits does not depend on a taste, and scores cost
      wake_ups(parts.config.devices) {}

JobKey Core::job_key(JobId job) const {
  const JobTable& table = state.jobs();
  const size_t j = index(job);
  const JobRecord& record = book[job];
  JobKey key{.job = job,
             .shape = &state.shapes()[table.shape[j]],
             .user = table.user[j],
             .submitted = table.submitted[j],
             .estimate = table.estimate[j],
             .executed = record.executed_by(now),
             .deadline = record.deadline,
             .level = record.level};
  if (record.left < kEndless)
    key.remaining = std::max(Duration{0}, record.left - (key.executed - record.executed_then));
  for (const RoleShape& role : key.shape->roles) {
    const DeviceDemand& devices = role.demand.devices;
    const bool is_whole = devices.kind == DeviceNeedKind::kWhole;
    const bool is_part = devices.kind != DeviceNeedKind::kNone && !is_whole;
    key.gpu_milli +=
        int64_t{role.min} * (is_whole ? int64_t{devices.count} * 1000 : (is_part ? std::max(devices.milli, 1) : 0));
  }
  return key;
}

LineKey Core::line_key(JobId job) {
  if (!elects()) return {.rank = state.jobs().submitted[index(job)].ns};
  int64_t& turn = book[job].turn;
  if (turn == 0) turn = elect.first_arrival() + elect.arrivals++;
  return {.rank = parts.job_order->rank(job_key(job)), .turn = turn};
}

}  // namespace weft
