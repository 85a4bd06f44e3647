#include "scheduler/scheduler.h"
#include "sim/scenario/read_context.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::scenario {
namespace {

constexpr int64_t kGpuMilliMax = int64_t{100'000'000} * 1000;
constexpr int64_t kCpuMilliMax = int64_t{1'000'000'000} * 1000;
constexpr int64_t kBytesMax = kUnlimited / 1024;
constexpr int64_t kPriorityMax = 1'000'000'000;

bool is_unlimited(const YamlNode& node) { return node.kind == YamlNode::Kind::kScalar && node.text == "unlimited"; }

/// `guarantee` or `limit`: what is not named keeps its value.
void read_amounts(const YamlNode& node, std::string_view key, ResourceVector& out, Problems& problems) {
  MapReader reader(node, key, problems);
  if (const YamlNode* gpu = reader.find("gpu")) {
    if (is_unlimited(*gpu))
      out.gpu_units = kUnlimited;
    else if (const auto milli = read_milli(*gpu, "gpu", 0, kGpuMilliMax, problems))
      out.gpu_units = *milli * (kGpuUnits / 1000);
  }
  if (const YamlNode* cpu = reader.find("cpu")) {
    if (is_unlimited(*cpu))
      out.cpu_milli = kUnlimited;
    else if (const auto milli = read_milli(*cpu, "cpu", 0, kCpuMilliMax, problems))
      out.cpu_milli = *milli;
  }
  if (const YamlNode* memory = reader.find("memory")) {
    if (is_unlimited(*memory))
      out.memory_bytes = kUnlimited;
    else if (const auto bytes = read_bytes(*memory, "memory", 0, kBytesMax, problems))
      out.memory_bytes = *bytes;
  }
  reader.finish();
}

void read_parent(const YamlNode& node, QueueSpec& queue, ReadContext& context) {
  const auto parent = read_name(node, "parent", context.problems);
  if (!parent) return;
  const auto found = context.queues.find(*parent);
  if (found == context.queues.end()) {
    std::vector<std::string_view> known;
    for (const QueueSpec& other : context.out.queues) known.push_back(other.name);
    const std::string hint = did_you_mean(*parent, known);
    context.problems.add(node.at, fmt::format("no queue '{}' is defined above this one{}", *parent,
                                              hint.empty() ? "; parents come first" : hint));
    return;
  }
  queue.parent = *parent;
  context.has_children[found->second] = 1;
}

void read_queue_times(MapReader& reader, QueueSpec& queue, Problems& problems) {
  if (const YamlNode* value = reader.find("min_runtime")) {
    MapReader times(*value, "min_runtime", problems);
    if (const YamlNode* time = times.find("reclaim")) {
      queue.min_runtime_before_reclaim = read_duration(*time, "reclaim", {}, kTimeMax, problems).value_or(Duration{});
    }
    if (const YamlNode* time = times.find("preempt")) {
      queue.min_runtime_before_preempt = read_duration(*time, "preempt", {}, kTimeMax, problems).value_or(Duration{});
    }
    times.finish();
  }
  if (const YamlNode* value = reader.find("usage")) {
    MapReader usage(*value, "usage", problems);
    if (const YamlNode* hours_used = usage.find("gpu_hours")) {
      queue.past_usage_gpu_hours = read_number(*hours_used, "gpu_hours", 0, 1e15, problems).value_or(0);
    }
    usage.finish();
  }
}

void read_queue(const YamlNode& node, ReadContext& context) {
  Problems& problems = context.problems;
  MapReader reader(node, "a queue", problems);
  QueueSpec queue;
  if (const YamlNode* name = reader.need("name")) queue.name = read_name(*name, "name", problems).value_or("");
  if (const YamlNode* parent = reader.find("parent")) read_parent(*parent, queue, context);
  if (const YamlNode* value = reader.find("guarantee")) read_amounts(*value, "guarantee", queue.guarantee, problems);
  if (const YamlNode* value = reader.find("limit")) read_amounts(*value, "limit", queue.limit, problems);
  if (const YamlNode* value = reader.find("weight")) {
    queue.weight_milli = read_milli(*value, "weight", 0, 1'000'000'000, problems).value_or(1000);
  }
  if (const YamlNode* value = reader.find("priority")) {
    queue.priority =
        static_cast<int32_t>(read_integer(*value, "priority", -kPriorityMax, kPriorityMax, problems).value_or(0));
  }
  read_queue_times(reader, queue, problems);
  reader.finish();
  if (queue.name.empty()) return;
  if (!context.queues.try_emplace(queue.name, static_cast<uint32_t>(context.out.queues.size())).second) {
    problems.add(node.at, fmt::format("there is a queue '{}' already", queue.name));
    return;
  }
  context.has_children.push_back(0);
  context.out.queues.push_back(std::move(queue));
}

constexpr std::string_view kPresets[] = {"default", "fifo", "easy-backfill", "conservative-backfill", "fair", "slurm"};
constexpr std::string_view kPackOrSpread[] = {"pack", "spread"};
constexpr std::string_view kOnOrOff[] = {"on", "off", "true", "false"};

void read_preset(const YamlNode& node, PolicyWish& policy, Problems& problems) {
  policy.preset_at = node.at;
  if (const auto preset = read_word(node, "preset", kPresets, problems)) policy.preset = kPresets[*preset];
}

void read_score(const YamlNode& node, PolicyWish& policy, Problems& problems) {
  if (policy.nodes) {
    problems.add(node.at, "score stands beside nodes, and both say how nodes are chosen; one of them is expected");
    return;
  }
  const auto score = read_name(node, "score", problems);
  if (!score) return;
  PolicyConfig config;
  config.node_scores = {{.name = *score, .weight = 1}};
  if (const auto scheduler = Scheduler::create(config); scheduler)  // it alone knows its scores
    policy.score = *score;
  else
    problems.add(node.at, scheduler.error().message);
}

std::optional<PackOrSpread> read_pack_or_spread(const YamlNode& node, std::string_view key, Problems& problems) {
  const auto word = read_word(node, key, kPackOrSpread, problems);
  return word ? std::optional(static_cast<PackOrSpread>(*word)) : std::nullopt;
}

void read_backfill(const YamlNode& node, PolicyWish& policy, Problems& problems) {
  constexpr int64_t kDepthMax = 1'000'000;
  MapReader reader(node, "backfill", problems);
  if (const YamlNode* depth = reader.need("reservation_depth")) {
    if (depth->kind == YamlNode::Kind::kScalar && depth->text == "all") {
      policy.reservation_depth = kUnlimited;
    } else if (const auto number = read_integer(*depth, "reservation_depth", 0, kDepthMax, problems); number) {
      policy.reservation_depth = number;
    }
  }
  reader.finish();
}

void read_multifactor(const YamlNode& node, PolicyWish& policy, Problems& problems) {
  MapReader reader(node, "multifactor", problems);
  policy.has_multifactor = 1;
  policy.multifactor_at = node.at;
  for (const std::string_view factor : {"age", "job_size", "fairshare", "partition", "qos"}) {
    const YamlNode* value = reader.find(factor);
    if (value == nullptr) continue;
    if (const auto weight = read_number(*value, factor, 0, 1e12, problems))
      policy.multifactor.emplace_back(factor, *weight);
  }
  if (const YamlNode* value = reader.find("max_age")) {
    policy.multifactor_max_age = read_duration(*value, "max_age", seconds(1), kTimeMax, problems);
  }
  reader.finish();
}

}  // namespace

void read_queues(const YamlNode& node, ReadContext& context) {
  for (const YamlNode* item : read_list(node, "queues", context.problems)) read_queue(*item, context);
}

void read_policy(const YamlNode& node, ReadContext& context) {
  Problems& problems = context.problems;
  PolicyWish& policy = context.out.policy;
  if (node.kind == YamlNode::Kind::kScalar) {
    read_preset(node, policy, problems);
    return;
  }
  MapReader reader(node, "policy", problems);
  if (const YamlNode* value = reader.find("preset")) read_preset(*value, policy, problems);
  if (const YamlNode* value = reader.find("nodes")) policy.nodes = read_pack_or_spread(*value, "nodes", problems);
  if (const YamlNode* value = reader.find("devices")) policy.devices = read_pack_or_spread(*value, "devices", problems);
  if (const YamlNode* value = reader.find("score")) read_score(*value, policy, problems);
  if (const YamlNode* value = reader.find("backfill")) read_backfill(*value, policy, problems);
  if (const YamlNode* value = reader.find("multifactor")) read_multifactor(*value, policy, problems);
  if (const YamlNode* value = reader.find("mig")) {
    constexpr std::string_view kWords[] = {"recut"};
    if (read_word(*value, "mig", kWords, problems)) policy.is_mig_recut = 1;
    policy.mig_at = value->at;
  }
  if (const YamlNode* value = reader.find("usage")) {
    MapReader usage(*value, "usage", problems);
    if (const YamlNode* half_life = usage.need("half_life")) {
      policy.usage_half_life = read_duration(*half_life, "half_life", seconds(1), kTimeMax, problems);
    }
    usage.finish();
    policy.usage_at = value->at;
  }
  if (const YamlNode* value = reader.find("rebalance")) {
    policy.rebalance_at = value->at;
    if (const auto word = read_word(*value, "rebalance", kOnOrOff, problems)) policy.is_rebalancing = *word % 2 == 0;
  }
  if (const YamlNode* value = reader.find("drain_after")) {
    policy.drain_after = read_duration(*value, "drain_after", {}, kEndless, problems);
  }
  reader.finish();
}

}  // namespace weft::scenario
