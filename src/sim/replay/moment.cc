#include "sim/replay/moment.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::sim {

namespace {

void take_jobs(Scheduler& core, size_t jobs_max, Moment& moment) {
  for (size_t j = 0; j < core.job_count(); ++j) {
    const JobId job = make_id<JobId>(j);
    const JobState state = core.job_state(job);
    if (is_end_state(state)) continue;
    const bool is_waiting = state == JobState::kPending;
    ++(is_waiting ? moment.waiting_count : moment.running_count);
    std::vector<JobView>& list = is_waiting ? moment.waiting : moment.running;
    if (list.size() < jobs_max) list.push_back(core.job(job));
  }
}

}  // namespace

Result<Moment> take_moment(Replay& replay, const ReplayStop& stop, const MomentLimits& limits) {
  Scheduler& core = replay.core();
  Moment moment{.at = stop.kind == ReplayStop::Kind::kInstant ? stop.at : core.now(),
                .last_call = core.now(),
                .so_far = replay.totals(),
                .decision = {},
                .cluster = core.cluster()};
  if (stop.kind == ReplayStop::Kind::kDecision) moment.decision = stop.decision;
  for (size_t n = 0; n < core.node_count(); ++n) moment.nodes.push_back(core.node(make_id<NodeId>(n)));
  take_jobs(core, limits.jobs, moment);
  const auto& last = replay.last_decisions();
  const size_t shown = std::min(limits.decisions, last.size());
  moment.before.assign(last.end() - static_cast<std::ptrdiff_t>(shown), last.end());
  Result<std::vector<NumberedDecision>> after = replay.read_ahead(limits.decisions);
  if (!after) return std::unexpected(after.error());
  moment.after = std::move(*after);
  return moment;
}

std::string gpus_text(const ResourceVector& request) { return format_milli(request.gpu_units / (kGpuUnits / 1000)); }

std::string places_text(const JobView& job) {
  std::vector<std::pair<std::string, DeviceMask>> places;
  for (const TaskView& task : job.tasks) {
    if (task.node.empty()) continue;
    if (places.empty() || places.back().first != task.node) places.emplace_back(task.node, 0);
    places.back().second |= task.placement.devices;
  }
  std::string text;
  for (const auto& [node, devices] : places) {
    if (!text.empty()) text += ' ';
    text += place_text(node, devices);
  }
  return text;
}

}  // namespace weft::sim
