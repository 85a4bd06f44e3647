#include "sim/saturation/saturation.h"

#include "scheduler/scheduler.h"
#include "sim/saturation/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <tuple>
#include <variant>

namespace weft::sim {

namespace {

/// Every device gets this much memory, so that memory never decides where a share goes: a thousandth of it is a whole
/// number of bytes.
constexpr int64_t kDeviceMemoryBytes = 80'000'000'000;

NodeSpec node_spec(const OpenbNode& node) {
  NodeSpec spec{.name = node.name,
                .cpu_milli = node.cpu_milli,
                .memory_bytes = node.memory_mib * kMiB,
                .share = ShareMode::kTimeSlice};
  spec.devices.assign(static_cast<size_t>(node.gpus),
                      DeviceSpec{.model = node.model, .memory_bytes = kDeviceMemoryBytes});
  return spec;
}

/// Makes `job` ask for what the pod asks for. Requires: one role, and nothing else set than by this function.
void describe(const OpenbPod& pod, JobSpec& job) {
  job.name = pod.name;
  RoleSpec& role = job.roles.front();
  role.cpu_milli = pod.cpu_milli;
  role.memory_bytes = pod.memory_mib * kMiB;
  role.devices = {};
  if (pod.gpus > 0 && pod.gpu_milli < 1000) {
    role.devices = {.kind = DeviceNeedKind::kMilli, .milli = pod.gpu_milli};
  } else if (pod.gpus > 0) {
    role.devices = {.kind = DeviceNeedKind::kWhole, .count = pod.gpus};
  }
  role.constraint.models = pod.models;
}

/// The names of all models that nodes have or pods ask for.
std::vector<std::string> model_names(const SaturationInput& input) {
  std::vector<std::string> names;
  for (const OpenbNode& node : input.nodes) {
    if (node.gpus > 0) names.push_back(node.model);
  }
  for (const OpenbPod& pod : input.pods) names.insert(names.end(), pod.models.begin(), pod.models.end());
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// What fragmentation is measured against: every pod of the list. Where shapes are equally popular the published
/// measure counts those that ask for more first, and the core those that come first, so the tasks are put in that
/// order.
std::vector<ExpectedTask> expected_tasks(const std::vector<OpenbPod>& pods) {
  std::vector<const OpenbPod*> by_size;
  for (const OpenbPod& pod : pods) by_size.push_back(&pod);
  const auto size_of = [](const OpenbPod* pod) {
    return std::tie(pod->cpu_milli, pod->gpu_milli, pod->gpus, pod->models);
  };
  std::ranges::stable_sort(by_size, std::ranges::greater{}, size_of);
  std::vector<ExpectedTask> tasks;
  for (const OpenbPod* pod : by_size) {
    tasks.push_back(
        {.cpu_milli = pod->cpu_milli, .gpu_count = pod->gpus, .gpu_milli = pod->gpu_milli, .models = pod->models});
  }
  return tasks;
}

/// Feeds the core pod by pod and plays its engine: whatever is held is accepted, whatever is started runs, at once.
///
/// A pod that finds no place is not taken out of the core. Nothing ever leaves the cluster, so it waits for ever, which
/// is as good as dropped: the core wakes nobody while nothing comes free, and does not try another pod of the same
/// shape in vain.
class Filler {
 public:
  Filler(const SaturationInput& input, const Arrivals& arrivals, Scheduler& core)
      : input_(input), arrivals_(arrivals), core_(core) {
    JobSubmitted submission;
    submission.job.roles.emplace_back();
    events_.push_back({.at = {}, .body = std::move(submission)});
  }

  Result<void> add_cluster() {
    std::vector<Event> events;
    events.push_back({.at = {}, .body = QueueDefined{.queue = {.name = "default", .guarantee = kUnlimitedResources}}});
    for (const std::string& name : model_names(input_)) {
      events.push_back(
          {.at = {},
           .body = DeviceModelDefined{.model = {.name = name, .vendor = "openb", .memory_bytes = kDeviceMemoryBytes}}});
    }
    for (const uint32_t node : arrivals_.node_order)
      events.push_back({.at = {}, .body = NodeAdded{.node = node_spec(input_.nodes[node])}});
    core_.apply(events);
    if (!core_.last_errors().empty()) return fail(ErrorCode::kInvalidInput, core_.last_errors().front());
    core_.expect_tasks(expected_tasks(input_.pods));
    return {};
  }

  /// Returns the place of the node that the pod went to, or -1.
  int32_t submit(uint32_t pod, Instant at) {
    const JobId job = core_.next_job_id();
    events_.front().at = at;
    describe(input_.pods[pod], std::get<JobSubmitted>(events_.front().body).job);
    const Decisions& decisions = core_.apply(events_);
    answer(decisions, at);
    for (const Decision& decision : decisions.list) {
      if (decision.kind == DecisionKind::kHold && decision.job == job)
        return static_cast<int32_t>(index(decisions.placements_of(decision).front().node));
    }
    return -1;
  }

  /// Gives the core the answers that are still on their way.
  void settle(Instant at) {
    while (events_.size() > 1) answer(core_.apply(std::span(events_).subspan(1)), at);
  }

 private:
  void answer(const Decisions& decisions, Instant at) {
    events_.erase(events_.begin() + 1, events_.end());
    for (const Decision& decision : decisions.list) {
      if (decision.kind == DecisionKind::kStart) {
        events_.push_back({.at = at, .body = GangStarted{.job = decision.job, .attempt = decision.attempt}});
      } else if (decision.kind == DecisionKind::kHold) {
        events_.push_back({.at = at, .body = HoldAccepted{.job = decision.job, .attempt = decision.attempt}});
      }
    }
  }

  const SaturationInput& input_;
  const Arrivals& arrivals_;
  Scheduler& core_;
  std::vector<Event> events_;  // the next pod, then the answers to the last cycle's decisions, which go along with it
};

}  // namespace

Result<SaturationRun> saturate(const SaturationInput& input, const SaturationOptions& options, PlacementTrace* trace) {
  const auto start = std::chrono::steady_clock::now();
  const Result<Arrivals> arrivals = make_arrivals(input.nodes, input.pods, options.seed, options.ratio);
  if (!arrivals) return std::unexpected(arrivals.error());
  PolicyConfig config;
  config.order = "fifo";
  config.node_scores = {{.name = options.policy, .weight = 1}};
  config.random_seed = static_cast<uint64_t>(options.seed);
  Result<std::unique_ptr<Scheduler>> core = Scheduler::create(config);
  if (!core) return std::unexpected(core.error());
  Filler filler(input, *arrivals, **core);
  if (Result<void> added = filler.add_cluster(); !added) return std::unexpected(added.error());

  SaturationRun run{.seed = options.seed, .arrived = arrivals->pods.size()};
  ColumnMeans means(gpu_milli_of(input.nodes), (*core)->fragmentation());
  int64_t arrived_milli = 0, used_milli = 0;
  Instant now;
  for (const uint32_t pod : arrivals->pods) {
    now = now + seconds(1);
    const int32_t node = filler.submit(pod, now);
    if (trace != nullptr) trace->push_back(node);
    arrived_milli += input.pods[pod].request_milli();
    if (node >= 0) {
      used_milli += input.pods[pod].request_milli();
      ++run.placed;
    }
    means.add({.arrived_milli = arrived_milli, .used_milli = used_milli, .fragments = (*core)->fragmentation()});
  }
  filler.settle(now);
  run.columns = means.columns();
  run.end = (*core)->fragmentation();
  run.decision_hash = (*core)->decision_hash();
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

}  // namespace weft::sim
