#include "sim/scenario/read_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::scenario {
namespace {

/// No `queues` at all: one queue without bounds.
void define_default_queue(ReadContext& context) {
  QueueSpec queue{.name = "default"};
  queue.guarantee = kUnlimitedResources;
  context.queues.emplace(queue.name, 0);
  context.has_children.push_back(0);
  context.out.queues.push_back(std::move(queue));
}

void read_document(const YamlNode& root, ReadContext& context) {
  Problems& problems = context.problems;
  MapReader reader(root, "a scenario", problems);
  if (const YamlNode* value = reader.need("scenario"))
    context.out.title = read_text(*value, "scenario", problems).value_or("");
  if (const YamlNode* value = reader.find("tags")) {
    for (const YamlNode* item : read_list_or_one(*value, "tags", problems)) {
      if (auto tag = read_text(*item, "a tag", problems)) context.out.tags.push_back(std::move(*tag));
    }
  }
  const YamlNode* cluster = reader.need("cluster");
  const YamlNode* queues = reader.find("queues");
  const YamlNode* policy = reader.find("policy");
  const YamlNode* jobs = reader.find("jobs");
  const YamlNode* steps = reader.need("steps");
  reader.finish();
  if (cluster != nullptr) read_cluster(*cluster, context);
  if (queues != nullptr)
    read_queues(*queues, context);
  else
    define_default_queue(context);
  if (policy != nullptr) read_policy_wish(*policy, context.out.policy, problems);
  if (jobs != nullptr) {
    for (const YamlNode* item : read_list(*jobs, "jobs", problems)) {
      if (problems.is_full()) break;
      read_job(*item, JobSection::kJobs, context);
    }
  }
  context.out.initial_groups = static_cast<uint32_t>(context.out.jobs.size());
  if (steps != nullptr) read_steps(*steps, context);
}

}  // namespace

bool ReadContext::take_names(uint32_t count, Place at) {
  if (names_left >= count) {
    names_left -= count;
    return true;
  }
  problems.add(
      at, fmt::format("the scenarios of one file have at most {} nodes and jobs together", format_count(kNamesMax)));
  return false;
}

std::vector<ScenarioDocument> read_scenarios(std::string_view text) {
  int64_t names_left = kNamesMax;
  std::vector<ScenarioDocument> out;
  for (const YamlDocument& document : read_yaml(text)) {
    if (document.problem) {
      out.push_back({.at = document.problem->at, .title = {}, .scenario = {}, .problems = {*document.problem}});
      continue;
    }
    if (document.root == nullptr || document.root->kind == YamlNode::Kind::kNull)
      continue;  // nothing between two markers
    Problems problems;
    Scenario scenario;
    scenario.at = document.root->at;
    ReadContext context{.problems = problems, .out = scenario, .catalogue = known_devices(), .names_left = names_left};
    read_document(*document.root, context);
    ScenarioDocument& entry = out.emplace_back();
    entry.at = document.root->at;
    entry.title = scenario.title;
    entry.problems = problems.list();
    std::ranges::stable_sort(entry.problems, {}, [](const Problem& p) { return std::pair(p.at.line, p.at.column); });
    if (problems.is_empty()) entry.scenario = std::move(scenario);
  }
  if (out.empty()) {
    out.push_back({.at = {1, 1},
                   .title = {},
                   .scenario = {},
                   .problems = {{{1, 1}, "the file is empty; a scenario starts with `scenario:`"}}});
  }
  return out;
}

}  // namespace weft::scenario
