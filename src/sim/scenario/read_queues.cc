#include "sim/scenario/read_context.h"

#include <fmt/format.h>

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

}  // namespace

void read_queues(const YamlNode& node, ReadContext& context) {
  for (const YamlNode* item : read_list(node, "queues", context.problems)) read_queue(*item, context);
}

}  // namespace weft::scenario
