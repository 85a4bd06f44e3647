#include "sim/scenario/read_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace weft::scenario {
namespace {

constexpr std::string_view kExpectKeys[] = {"together", "evictions", "moves", "evicted", "why", "one of", "count"};

/// "3", or in quotes ">=2".
std::optional<CountMatch> read_count_match(const YamlNode& node, std::string_view key, Problems& problems) {
  constexpr int64_t kCountMax = 1'000'000'000;
  if (node.kind == YamlNode::Kind::kScalar) {
    std::string_view text = node.text;
    CountMatch match;
    using Sign = std::pair<std::string_view, CountMatch::Kind>;
    for (const auto& [sign, kind] : {Sign{">=", CountMatch::Kind::kAtLeast}, Sign{"<=", CountMatch::Kind::kAtMost},
                                     Sign{">", CountMatch::Kind::kMore}, Sign{"<", CountMatch::Kind::kLess}}) {
      if (!text.starts_with(sign)) continue;
      match.kind = kind;
      text.remove_prefix(sign.size());
      text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
      break;
    }
    if (const auto value = parse_integer(text, 0, kCountMax)) {
      match.value = *value;
      return match;
    }
  }
  problems.add(node.at,
               fmt::format("{} is '{}'; a count such as 3, or \">=2\" in quotes, is expected", key, yaml_text(node)));
  return std::nullopt;
}

std::optional<StateWord> read_state(const YamlNode& node, Problems& problems) {
  const auto word = read_word(node, "the state", kStateWords, problems);
  return word ? std::optional(static_cast<StateWord>(*word)) : std::nullopt;
}

/// Calls `read(task, value)` for each entry of a map such as {w/0: …}.
template <typename Read>
void read_task_map(const YamlNode& node, std::string_view key, JobIndex job, ReadContext& context, Read&& read) {
  if (node.kind != YamlNode::Kind::kMap) {
    context.problems.add(node.at, fmt::format("{} is no map; tasks such as w/0 with their values are expected", key));
    return;
  }
  for (size_t i = 0; i + 1 < node.items.size() && !context.problems.is_full(); i += 2) {
    const auto name = read_text(*node.items[i], "a task", context.problems);
    if (!name) continue;
    const auto task = find_task(context.out.job_group(job).spec, *name, context.out.job_name(job), node.items[i]->at,
                                context.problems);
    if (task) read(*task, *node.items[i + 1]);
  }
}

std::vector<NodeIndex> read_nodes(const YamlNode& node, ReadContext& context) {
  std::vector<NodeIndex> out;
  for (const YamlNode* item : read_list_or_one(node, "nodes", context.problems)) {
    if (const auto found = context.find_node(*item)) out.push_back(*found);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void read_job_map(const YamlNode& node, JobCheck& check, ReadContext& context) {
  Problems& problems = context.problems;
  MapReader reader(node, "what is expected of a job", problems);
  if (const YamlNode* value = reader.find("state")) check.state = read_state(*value, problems);
  if (const YamlNode* value = reader.find("nodes")) check.nodes = read_nodes(*value, context);
  if (const YamlNode* value = reader.find("tasks")) {
    read_task_map(*value, "tasks", check.job, context, [&](TaskIndex task, const YamlNode& name) {
      if (const auto found = context.find_node(name)) check.tasks.emplace_back(task, *found);
    });
  }
  if (const YamlNode* value = reader.find("devices")) {
    read_task_map(*value, "devices", check.job, context, [&](TaskIndex task, const YamlNode& list) {
      std::vector<DeviceWord> words;
      for (const YamlNode* item : read_list(list, "devices", problems)) {
        if (auto word = read_device_word(*item, "devices", context)) words.push_back(std::move(*word));
      }
      check.devices.emplace_back(task, std::move(words));
    });
  }
  if (const YamlNode* value = reader.find("running")) check.running = read_count_match(*value, "running", problems);
  if (const YamlNode* value = reader.find("pending")) check.pending = read_count_match(*value, "pending", problems);
  if (const YamlNode* value = reader.find("moved")) check.is_moved = read_truth(*value, "moved", problems);
  reader.finish();
  if (node.kind == YamlNode::Kind::kMap && node.items.empty())
    problems.add(node.at, "nothing is expected of the job here");
}

JobCheck read_job_check(JobIndex job, const YamlNode& value, ReadContext& context) {
  JobCheck check{.job = job};
  if (value.kind == YamlNode::Kind::kMap)
    read_job_map(value, check, context);
  else
    check.state = read_state(value, context.problems);
  return check;
}

/// The tasks of the group and of all groups inside of it. Requires: the groups form a tree.
void append_group_tasks(const JobSpec& job, const GroupSpec& group, size_t depth, std::vector<TaskIndex>& out) {
  if (depth > job.groups.size()) return;  // a ring: a problem of its own already
  TaskIndex first = 0;
  for (const RoleSpec& role : job.roles) {
    const TaskIndex count = std::max(role.count, 0);
    if (std::find(group.roles.begin(), group.roles.end(), role.name) != group.roles.end()) {
      for (TaskIndex i = 0; i < count; ++i) out.push_back(first + i);
    }
    first += count;
  }
  for (const GroupSpec& inner : job.groups) {
    if (std::find(group.groups.begin(), group.groups.end(), inner.name) != group.groups.end()) {
      append_group_tasks(job, inner, depth + 1, out);
    }
  }
}

std::vector<TaskIndex> role_tasks(const JobSpec& job, std::string_view name) {
  std::vector<TaskIndex> out;
  TaskIndex first = 0;
  for (const RoleSpec& role : job.roles) {
    const TaskIndex count = std::max(role.count, 0);
    for (TaskIndex i = 0; role.name == name && i < count; ++i) out.push_back(first + i);
    first += count;
  }
  return out;
}

/// "JOB", "JOB/role" or "JOB/group".
std::optional<JobPart> read_job_part(const YamlNode& node, ReadContext& context) {
  const auto text = read_text(node, "a job", context.problems);
  if (!text) return std::nullopt;
  const size_t slash = text->find('/');
  const auto job = context.find_job(std::string_view(*text).substr(0, slash), node.at);
  if (!job) return std::nullopt;
  JobPart part{.job = *job, .tasks = {}, .text = *text};
  const JobSpec& spec = context.out.job_group(*job).spec;
  if (slash == std::string::npos) {
    for (TaskIndex task = 0; task < task_count(spec); ++task) part.tasks.push_back(task);
    return part;
  }
  const std::string name = text->substr(slash + 1);
  part.tasks = role_tasks(spec, name);
  if (!part.tasks.empty()) return part;
  std::vector<std::string_view> known;
  for (const RoleSpec& role : spec.roles) known.push_back(role.name);
  for (const GroupSpec& group : spec.groups) {
    known.push_back(group.name);
    if (group.name != name) continue;
    append_group_tasks(spec, group, 0, part.tasks);
    std::sort(part.tasks.begin(), part.tasks.end());
    return part;
  }
  context.problems.add(node.at, fmt::format("'{}' has no role or group '{}'{}", text->substr(0, slash), name,
                                            did_you_mean(name, known)));
  return std::nullopt;
}

void read_together(const YamlNode& node, Expectation& out, ReadContext& context) {
  if (node.kind != YamlNode::Kind::kMap) {
    context.problems.add(node.at,
                         "together is no map; jobs and the level that holds them, such as {train: rack}, are expected");
    return;
  }
  for (size_t i = 0; i + 1 < node.items.size() && !context.problems.is_full(); i += 2) {
    TogetherCheck check;
    for (const YamlNode* item : read_list_or_one(*node.items[i], "together", context.problems)) {
      if (auto part = read_job_part(*item, context)) check.parts.push_back(std::move(*part));
    }
    check.level = context.find_level(*node.items[i + 1], "together", ReadContext::Also::kDevice);
    out.checks.push_back({node.items[i]->at, std::move(check)});
  }
}

void read_evicted(const YamlNode& node, Expectation& out, ReadContext& context) {
  EvictedCheck check;
  for (const YamlNode* item : read_list_or_one(node, "evicted", context.problems)) {
    const auto text = read_text(*item, "evicted", context.problems);
    if (!text) continue;
    const size_t slash = text->find('/');
    const auto job = context.find_job(std::string_view(*text).substr(0, slash), item->at);
    if (!job) continue;
    std::optional<TaskIndex> task;
    if (slash != std::string::npos) {
      task = find_task(context.out.job_group(*job).spec, std::string_view(*text).substr(slash + 1),
                       text->substr(0, slash), item->at, context.problems);
    }
    check.who.emplace_back(*job, task);
  }
  out.checks.push_back({node.at, std::move(check)});
}

void read_why(const YamlNode& node, Expectation& out, ReadContext& context) {
  if (node.kind != YamlNode::Kind::kMap) {
    context.problems.add(node.at,
                         "why is no map; jobs and words of their verdicts, such as {train: [GPUs]}, are expected");
    return;
  }
  for (size_t i = 0; i + 1 < node.items.size() && !context.problems.is_full(); i += 2) {
    const auto job = context.find_job(*node.items[i]);
    if (!job) continue;
    WhyCheck check{.job = *job, .words = {}};
    for (const YamlNode* item : read_list_or_one(*node.items[i + 1], "why", context.problems)) {
      if (auto text = read_text(*item, "why", context.problems)) check.words.push_back(std::move(*text));
    }
    out.checks.push_back({node.items[i]->at, std::move(check)});
  }
}

void read_one_of(const YamlNode& node, Expectation& out, ReadContext& context) {
  OneOfCheck check;
  for (const YamlNode* item : read_list(node, "one of", context.problems))
    check.alternatives.push_back(read_expectation(*item, context));
  if (check.alternatives.empty()) context.problems.add(node.at, "one of lists no alternatives");
  out.checks.push_back({node.at, std::move(check)});
}

void read_one_count(const YamlNode& node, Expectation& out, ReadContext& context) {
  Problems& problems = context.problems;
  MapReader reader(node, "count", problems);
  CountCheck check;
  if (const YamlNode* of = reader.need("of")) {
    for (const YamlNode* item : read_list_or_one(*of, "of", problems)) {
      if (const auto job = context.find_job(*item)) check.of.push_back(*job);
    }
  }
  for (size_t s = 0; s < std::size(kStateWords); ++s) {
    const YamlNode* value = reader.find(kStateWords[s]);
    if (value == nullptr) continue;
    if (const auto match = read_count_match(*value, kStateWords[s], problems))
      check.counts.emplace_back(static_cast<StateWord>(s), *match);
  }
  reader.finish();
  if (check.counts.empty() && problems.is_empty()) {
    problems.add(node.at, "count names no state; such as {running: 3, of: [a, b, c]} is expected");
  }
  out.checks.push_back({node.at, std::move(check)});
}

void read_count(const YamlNode& node, Expectation& out, ReadContext& context) {
  if (node.kind != YamlNode::Kind::kList) return read_one_count(node, out, context);
  for (const YamlNode* item : node.items) read_one_count(*item, out, context);
}

/// True where `key` is one of the words that `expect` has for itself.
bool read_own_key(std::string_view key, const YamlNode& value, Expectation& out, ReadContext& context) {
  if (key == "together") {
    read_together(value, out, context);
  } else if (key == "evictions") {
    if (const auto count = read_count_match(value, key, context.problems))
      out.checks.push_back({value.at, EvictionsCheck{*count}});
  } else if (key == "moves") {
    if (const auto count = read_count_match(value, key, context.problems))
      out.checks.push_back({value.at, MovesCheck{*count}});
  } else if (key == "evicted") {
    read_evicted(value, out, context);
  } else if (key == "why") {
    read_why(value, out, context);
  } else if (key == "one of") {
    read_one_of(value, out, context);
  } else if (key == "count") {
    read_count(value, out, context);
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::span<const std::string_view> expectation_keys() { return kExpectKeys; }

Expectation read_expectation(const YamlNode& node, ReadContext& context) {
  Expectation out{.at = node.at, .checks = {}};
  Problems& problems = context.problems;
  if (node.kind != YamlNode::Kind::kMap || node.items.empty()) {
    problems.add(node.at, "what is expected is no map; jobs and their states, such as {train: running}, are expected");
    return out;
  }
  for (size_t i = 0; i + 1 < node.items.size() && !problems.is_full(); i += 2) {
    const YamlNode& key = *node.items[i];
    const YamlNode& value = *node.items[i + 1];
    const auto text = read_text(key, "a job", problems);
    if (!text) continue;
    if (value.kind == YamlNode::Kind::kNull) {
      problems.add(key.at, fmt::format("{} has no value", *text));
      continue;
    }
    if (read_own_key(*text, value, out, context)) continue;
    if (const auto found = context.jobs.find(*text); found != context.jobs.end()) {
      out.checks.push_back({key.at, read_job_check(found->second, value, context)});
      continue;
    }
    std::vector<std::string_view> known(std::begin(kExpectKeys), std::end(kExpectKeys));
    for (const auto& entry : context.jobs) known.push_back(entry.first);
    std::sort(known.begin(), known.end());
    problems.add(key.at, fmt::format("no job '{}' is defined above{}", *text, did_you_mean(*text, known)));
  }
  return out;
}

}  // namespace weft::scenario
