#include "sim/scenario/read_context.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::scenario {
namespace {

constexpr int64_t kCyclesMax = 1'000'000;

/// "JOB", or "JOB/w/1".
struct Named {
  JobIndex job = 0;
  std::optional<TaskIndex> task;
};
std::optional<Named> read_job_or_task(const YamlNode& node, std::string_view key, ReadContext& context) {
  const auto text = read_text(node, key, context.problems);
  if (!text) return std::nullopt;
  const size_t slash = text->find('/');
  const auto job = context.find_job(std::string_view(*text).substr(0, slash), node.at);
  if (!job) return std::nullopt;
  Named named{.job = *job};
  if (slash == std::string::npos) return named;
  named.task = find_task(context.out.job_group(*job).spec, std::string_view(*text).substr(slash + 1),
                         text->substr(0, slash), node.at, context.problems);
  return named.task ? std::optional(named) : std::nullopt;
}

void read_submit(const YamlNode& node, Step& step, ReadContext& context) {
  SubmitStep submit;
  const auto read_one = [&](const YamlNode& job) {
    if (read_job(job, JobSection::kSubmit, context))
      submit.groups.push_back(static_cast<uint32_t>(context.out.jobs.size() - 1));
  };
  if (node.kind == YamlNode::Kind::kMap) {
    read_one(node);
  } else {
    for (const YamlNode* item : read_list(node, "submit", context.problems)) read_one(*item);
  }
  step.body = std::move(submit);
}

void read_run(const YamlNode& node, Step& step, ReadContext& context) {
  const auto expected = [&] {
    context.problems.add(node.at,
                         fmt::format("run is '{}'; 1 cycle, 5 cycles, until stable, or a time such as 30s is expected",
                                     yaml_text(node)));
  };
  if (node.kind != YamlNode::Kind::kScalar) return expected();
  std::string_view text = node.text;
  if (text == "until stable") {
    step.body = RunUntilStableStep{};
    return;
  }
  for (const std::string_view unit : {" cycles", " cycle"}) {
    if (!text.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    const auto count = parse_integer(text, 1, kCyclesMax);
    if (!count) return expected();
    step.body = RunCyclesStep{*count};
    return;
  }
  const auto time = parse_duration(text);
  const bool has_unit =
      text.find_first_not_of("0123456789.") != std::string_view::npos;  // a bare number could be seconds or cycles
  if (!time || !has_unit || *time < Duration{} || *time > kTimeMax) return expected();
  step.body = RunForStep{*time};
}

void read_crash(const YamlNode& node, Step& step, ReadContext& context) {
  const auto named = read_job_or_task(node, "crash", context);
  if (named) step.body = CrashStep{named->job, named->task.value_or(-1)};
}

void read_fault(const YamlNode& node, FaultStep::Kind kind, Step& step, ReadContext& context) {
  FaultStep fault{.kind = kind};
  if (node.kind != YamlNode::Kind::kMap) {
    if (const auto found = context.find_node(node)) fault.node = *found;
    step.body = fault;
    return;
  }
  MapReader reader(node, "a fault", context.problems);
  std::optional<NodeIndex> found;
  if (const YamlNode* name = reader.need("node")) found = context.find_node(*name);
  if (const YamlNode* device = reader.find("device")) {
    const auto count =
        found ? static_cast<int64_t>(context.out.node_group(*found).spec.devices.size()) : int64_t{kMaxDevicesPerNode};
    const auto index = count == 0 ? std::nullopt : read_integer(*device, "device", 0, count - 1, context.problems);
    if (count == 0)
      context.problems.add(device->at, fmt::format("the node '{}' has no gpus", context.out.node_name(*found)));
    fault.device = static_cast<int>(index.value_or(0));
    if (kind != FaultStep::Kind::kFail && kind != FaultStep::Kind::kRecover) {
      context.problems.add(device->at, "a whole node is cordoned and uncordoned, not one device");
    }
  }
  reader.finish();
  fault.node = found.value_or(0);
  step.body = fault;
}

void read_stick(const YamlNode& node, StickStep::Kind kind, Step& step, ReadContext& context) {
  const auto named = read_job_or_task(node, kind == StickStep::Kind::kStick ? "stick" : "unstick", context);
  if (!named) return;
  if (!named->task) {
    context.problems.add(node.at, fmt::format("'{}' is a job; one of its tasks, such as {}/w/0, is expected",
                                              yaml_text(node), yaml_text(node)));
    return;
  }
  step.body = StickStep{kind, named->job, *named->task};
}

void read_scale(const YamlNode& node, Step& step, ReadContext& context) {
  ScaleStep scale;
  if (node.kind != YamlNode::Kind::kMap || node.items.empty()) {
    context.problems.add(node.at,
                         "scale is no map; jobs and how many tasks they wish for, such as {train: 4}, are expected");
    return;
  }
  for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const auto job = context.find_job(*node.items[i]);
    const auto wish = read_integer(*node.items[i + 1], "scale", 0, kTasksMax, context.problems);
    if (job && wish) scale.wishes.emplace_back(*job, *wish);
  }
  step.body = std::move(scale);
}

using ReadStep = void (*)(const YamlNode&, Step&, ReadContext&);
struct StepKind {
  std::string_view key;
  ReadStep read;
};

template <typename Body>
void read_job_step(const YamlNode& node, Step& step, ReadContext& context) {
  if (const auto job = context.find_job(node)) step.body = Body{*job};
}

constexpr StepKind kSteps[] = {
    {"submit", read_submit},
    {"run", read_run},
    {"expect", [](const YamlNode& n, Step& s, ReadContext& c) { s.body = ExpectStep{read_expectation(n, c)}; }},
    {"never", [](const YamlNode& n, Step& s, ReadContext& c) { s.body = NeverStep{read_expectation(n, c)}; }},
    {"finish", read_job_step<FinishStep>},
    {"crash", read_crash},
    {"cancel", read_job_step<CancelStep>},
    {"fail", [](const YamlNode& n, Step& s, ReadContext& c) { read_fault(n, FaultStep::Kind::kFail, s, c); }},
    {"recover", [](const YamlNode& n, Step& s, ReadContext& c) { read_fault(n, FaultStep::Kind::kRecover, s, c); }},
    {"cordon", [](const YamlNode& n, Step& s, ReadContext& c) { read_fault(n, FaultStep::Kind::kCordon, s, c); }},
    {"uncordon", [](const YamlNode& n, Step& s, ReadContext& c) { read_fault(n, FaultStep::Kind::kUncordon, s, c); }},
    {"stick", [](const YamlNode& n, Step& s, ReadContext& c) { read_stick(n, StickStep::Kind::kStick, s, c); }},
    {"unstick", [](const YamlNode& n, Step& s, ReadContext& c) { read_stick(n, StickStep::Kind::kUnstick, s, c); }},
    {"scale", read_scale},
};

void read_step(const YamlNode& node, ReadContext& context) {
  Step step{.at = node.at, .body = RunUntilStableStep{}};
  if (node.kind != YamlNode::Kind::kMap || node.items.size() != 2) {
    context.problems.add(
        node.at,
        fmt::format("a step is '{}'; one key with its value, such as `run: 1 cycle`, is expected", yaml_text(node)));
    return;
  }
  const YamlNode& key = *node.items[0];
  const YamlNode& value = *node.items[1];
  std::vector<std::string_view> known;
  for (const StepKind& kind : kSteps) {
    known.push_back(kind.key);
    if (key.kind != YamlNode::Kind::kScalar || key.text != kind.key) continue;
    if (value.kind == YamlNode::Kind::kNull) {
      context.problems.add(key.at, fmt::format("{} has no value", kind.key));
      return;
    }
    kind.read(value, step, context);
    context.out.steps.push_back(std::move(step));
    return;
  }
  const std::string text = yaml_text(key);
  const std::string_view meant = meant_by(text, known);
  context.problems.add(key.at, meant.empty()
                                   ? fmt::format("there is no step '{}'; a step is {}", text, join_words(known))
                                   : fmt::format("there is no step '{}'; did you mean '{}'?", text, meant));
}

}  // namespace

void read_steps(const YamlNode& node, ReadContext& context) {
  for (const YamlNode* item : read_list(node, "steps", context.problems)) {
    if (context.problems.is_full()) return;
    read_step(*item, context);
  }
}

}  // namespace weft::scenario
