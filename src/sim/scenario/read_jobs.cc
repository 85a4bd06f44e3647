#include "sim/scenario/read_context.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::scenario {
namespace {

constexpr int64_t kBytesMax = 1024 * 16 * kTiB;
constexpr int64_t kPriorityMax = 1'000'000'000;
constexpr int64_t kRetriesMax = 1'000'000;

std::optional<Duration> read_time(MapReader& reader, std::string_view key, Duration low, Duration high,
                                  Problems& problems) {
  const YamlNode* value = reader.find(key);
  return value == nullptr ? std::nullopt : read_duration(*value, key, low, high, problems);
}

/// `estimate` and `limit`: a time, or `endless`.
std::optional<Duration> read_span(MapReader& reader, std::string_view key, Problems& problems) {
  const YamlNode* value = reader.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == YamlNode::Kind::kScalar && value->text == "endless") return kEndless;
  return read_duration(*value, key, {}, kTimeMax, problems);
}

void read_checkpoint(const YamlNode& node, JobSpec& job, Problems& problems) {
  MapReader reader(node, "checkpoint", problems);
  CheckpointSpec checkpoint;
  checkpoint.every = read_time(reader, "every", {}, kTimeMax, problems).value_or(Duration{});
  checkpoint.last = read_time(reader, "last", Duration{} - kTimeMax, {}, problems);
  checkpoint.save = read_time(reader, "save", {}, kTimeMax, problems).value_or(Duration{});
  checkpoint.restore = read_time(reader, "restore", {}, kTimeMax, problems).value_or(Duration{});
  reader.finish();
  job.checkpoint = checkpoint;
}

void read_times(MapReader& reader, JobGroup& group, ReadContext& context) {
  Problems& problems = context.problems;
  JobSpec& job = group.spec;
  if (const auto runtime = read_time(reader, "runtime", {}, kTimeMax, problems)) group.runtime = *runtime;
  job.estimate = read_span(reader, "estimate", problems).value_or(group.runtime);
  job.time_limit = read_span(reader, "limit", problems).value_or(kEndless);
  if (const YamlNode* value = reader.find("checkpoint")) read_checkpoint(*value, job, problems);
  job.grace = read_time(reader, "grace", {}, kTimeMax, problems);
  job.patience = read_time(reader, "patience", {}, kTimeMax, problems).value_or(Duration{});
  job.stale_after = read_time(reader, "stale_after", {}, kTimeMax, problems).value_or(job.stale_after);
  if (const auto time = read_time(reader, "start_no_earlier", {}, kTimeMax, problems))
    job.start_no_earlier = Instant{} + *time;
  if (const auto time = read_time(reader, "deadline", {}, kTimeMax, problems)) job.deadline = Instant{} + *time;
}

void read_data(const YamlNode& node, JobSpec& job, ReadContext& context) {
  Problems& problems = context.problems;
  MapReader reader(node, "data", problems);
  const YamlNode* shards = reader.need("shards");
  reader.finish();
  if (shards == nullptr) return;
  for (const YamlNode* item : read_list(*shards, "shards", problems)) {
    MapReader shard_reader(*item, "a shard", problems);
    ShardSpec shard;
    if (const YamlNode* size = shard_reader.need("size")) {
      shard.size_bytes = read_bytes(*size, "size", 0, kBytesMax, problems).value_or(0);
    }
    if (const YamlNode* nodes = shard_reader.need("nodes")) {
      for (const YamlNode* name : read_list_or_one(*nodes, "nodes", problems)) {
        if (const auto found = context.find_node(*name)) shard.nodes.push_back(context.out.node_name(*found));
      }
    }
    shard_reader.finish();
    job.data.push_back(std::move(shard));
  }
}

void read_priority(const YamlNode& node, JobSpec& job, Problems& problems) {
  if (node.kind == YamlNode::Kind::kScalar) {
    if (node.text == "train")
      job.priority = kPriorityTrain;
    else if (node.text == "build")
      job.priority = kPriorityBuild;
    else if (node.text == "inference")
      job.priority = kPriorityInference;
    else if (const auto number = parse_integer(node.text, -kPriorityMax, kPriorityMax); number && !node.is_quoted) {
      job.priority = static_cast<int32_t>(*number);
    } else {
      problems.add(node.at, fmt::format("priority is '{}'; a whole number, or train, build or inference, is expected",
                                        yaml_text(node)));
    }
    return;
  }
  problems.add(node.at, "priority is no number; a whole number, or train, build or inference, is expected");
}

void read_queue_name(MapReader& reader, JobSpec& job, ReadContext& context) {
  Place at = reader.at();
  if (const YamlNode* value = reader.find("queue")) {
    job.queue = read_name(*value, "queue", context.problems).value_or(job.queue);
    at = value->at;
  }
  if (context.problems.is_full()) return;
  const auto found = context.queues.find(job.queue);
  if (found == context.queues.end()) {
    std::vector<std::string_view> known;
    for (const QueueSpec& queue : context.out.queues) known.push_back(queue.name);
    context.problems.add(at, fmt::format("there is no queue '{}'{}", job.queue, did_you_mean(job.queue, known)));
  } else if (context.has_children[found->second]) {
    context.problems.add(at, fmt::format("the queue '{}' has queues under it and takes no jobs itself", job.queue));
  }
}

/// Who the job is for and what it waits for.
void read_identity(MapReader& reader, JobGroup& group, ReadContext& context) {
  Problems& problems = context.problems;
  JobSpec& job = group.spec;
  if (const YamlNode* name = reader.need("name")) job.name = read_name(*name, "name", problems).value_or("");
  if (const YamlNode* copies = reader.find("copies")) {
    group.count = static_cast<uint32_t>(read_integer(*copies, "copies", 1, kJobsMax, problems).value_or(1));
    group.is_numbered = 1;
  }
  read_queue_name(reader, job, context);
  if (const YamlNode* user = reader.find("user")) job.user = read_name(*user, "user", problems).value_or("");
  if (const YamlNode* value = reader.find("priority")) read_priority(*value, job, problems);
  if (const YamlNode* value = reader.find("preemptible")) {
    if (const auto is_true = read_truth(*value, "preemptible", problems)) job.preemptible = *is_true != 0;
  }
  if (const YamlNode* value = reader.find("after")) {
    for (const YamlNode* item : read_list_or_one(*value, "after", problems)) {
      if (const auto before = context.find_job(*item)) group.after.push_back(*before);
    }
  }
  if (const YamlNode* value = reader.find("retries")) {
    job.retries = static_cast<int32_t>(read_integer(*value, "retries", 0, kRetriesMax, problems).value_or(0));
  }
}

/// What the job is made of.
void read_parts(MapReader& reader, JobSpec& job, ReadContext& context) {
  read_roles(reader, job, context);
  read_topology(reader, job.topology, context);
  if (const YamlNode* value = reader.find("gang")) {
    constexpr std::string_view kRules[] = {"all", "none"};
    job.gang = static_cast<GangRule>(read_word(*value, "gang", kRules, context.problems).value_or(0));
  }
  if (const YamlNode* value = reader.find("groups")) read_groups(*value, job, context);
  if (const YamlNode* value = reader.find("min_groups")) {
    job.min_groups = static_cast<int32_t>(
        read_integer(*value, "min_groups", 0, std::max<int64_t>(top_member_count(job), 0), context.problems)
            .value_or(-1));
  }
  if (const YamlNode* value = reader.find("data")) read_data(*value, job, context);
}

/// `at`, `started` and `submitted`: what was before the start.
void read_past(MapReader& reader, JobGroup& group, JobSection section, ReadContext& context) {
  Problems& problems = context.problems;
  const YamlNode* at = reader.find("at");
  const YamlNode* started = reader.find("started");
  const YamlNode* submitted = reader.find("submitted");
  if (section == JobSection::kSubmit) {
    for (const auto& [key, value] :
         {std::pair("at", at), std::pair("started", started), std::pair("submitted", submitted)}) {
      if (value != nullptr)
        problems.add(value->at, fmt::format("{} is of the past: it stands in `jobs` only, not in a step", key));
    }
    return;
  }
  if (at != nullptr) read_seats(*at, group, context);
  if (started != nullptr) group.started = read_duration(*started, "started", Duration{} - kTimeMax, {}, problems);
  if (submitted != nullptr)
    group.submitted = read_duration(*submitted, "submitted", Duration{} - kTimeMax, {}, problems);
  if (group.started && group.submitted && *group.submitted > *group.started) {
    problems.add(submitted->at, "submitted is later than started; a job is never submitted later than it started");
  }
}

bool define_jobs(JobGroup group, ReadContext& context) {
  Scenario& out = context.out;
  const auto keys = expectation_keys();
  if (std::find(keys.begin(), keys.end(), group.spec.name) != keys.end() && !group.is_numbered) {
    context.problems.add(group.at,
                         fmt::format("a job cannot be called '{}': `expect` uses that word", group.spec.name));
    return false;
  }
  context.task_total += int64_t{task_count(group.spec)} * group.count;
  if (out.job_count + group.count > kJobsMax || context.task_total > kTasksMax) {
    context.problems.add(group.at,
                         fmt::format("more than {} jobs or {} tasks", format_count(kJobsMax), format_count(kTasksMax)));
    return false;
  }
  if (!context.take_names(group.count, group.at)) return false;
  group.first = out.job_count;
  for (uint32_t i = 0; i < group.count; ++i) {
    std::string name = group.is_numbered ? fmt::format("{}{}", group.spec.name, i) : group.spec.name;
    if (!context.jobs.try_emplace(name, group.first + i).second) {
      context.problems.add(group.at, fmt::format("there is a job '{}' already", name));
      return false;
    }
  }
  out.job_count += group.count;
  out.jobs.push_back(std::move(group));
  return true;
}

}  // namespace

bool read_job(const YamlNode& node, JobSection section, ReadContext& context) {
  JobGroup group;
  group.at = node.at;
  MapReader reader(node, "a job", context.problems);
  read_identity(reader, group, context);
  read_parts(reader, group.spec, context);
  read_times(reader, group, context);
  read_past(reader, group, section, context);
  reader.finish();
  return !group.spec.name.empty() && define_jobs(std::move(group), context);
}

std::optional<JobIndex> ReadContext::find_job(std::string_view name, Place at) {
  if (const auto found = jobs.find(std::string(name)); found != jobs.end()) return found->second;
  if (problems.is_full()) return std::nullopt;
  std::vector<std::string_view> known;
  for (const auto& entry : jobs) known.push_back(entry.first);
  std::sort(known.begin(), known.end());
  problems.add(at, fmt::format("no job '{}' is defined above{}", name, did_you_mean(name, known)));
  return std::nullopt;
}

std::optional<JobIndex> ReadContext::find_job(const YamlNode& name) {
  const auto text = read_name(name, "a job", problems);
  return text ? find_job(*text, name.at) : std::nullopt;
}

}  // namespace weft::scenario
