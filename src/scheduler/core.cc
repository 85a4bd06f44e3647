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

void Core::fill_request(const Line& line, JobId job, std::vector<int32_t>& counts) {
  const Shape& shape = state.shapes()[line.shape];
  fill_counts(shape, line.role, counts);
  if (line.is_surplus != 0) {
    // A role of which nothing runs yet begins with its minimum.
    const auto role = static_cast<size_t>(line.role);
    const RoleCounts& c = book.counts(book[job])[role];
    counts[role] = std::max(1, role_minimum(shape, role) - c.held - c.running - c.done);
  } else if (is_set(line.owner) && line.role == kWholeGang) {
    const auto missing = gang_check.missing(shape, book.counts(book[job]));
    counts.assign(missing.begin(), missing.end());
  }
}

bool Core::is_movable(JobId job) const {
  const JobRecord& record = book[job];
  const bool is_settled = record.leaving == 0 && record.attempts_holding == 0 && record.attempts_starting == 0;
  return state_of(job) == JobState::kRunning && is_settled && shape_of(job).gang == GangRule::kAll &&
         std::ranges::all_of(book.counts(record), [](const RoleCounts& c) { return c.done == 0 && c.releasing == 0; });
}

Instant Core::end_if_started(JobId job) const {
  const Duration length = state.jobs().estimate[index(job)];
  return length >= kEndless || now.ns > kNever.ns - length.ns ? kNever : now + length;
}

ShareMeasure Core::share_measure() const {
  if (state.queues().size() <= 1) return {.totals = totals};
  return {.basis = config().share, .shares = &room.shares, .totals = totals};
}

LineKey Core::line_key(JobId job) {
  if (!elects()) return {.rank = state.jobs().submitted[index(job)].ns};
  int64_t& turn = book[job].turn;
  if (turn == 0) turn = elect.first_arrival() + elect.arrivals++;
  return {.rank = parts.job_order->rank(job_key(job)), .turn = turn};
}

}  // namespace weft
