#include "sim/scenario/expect.h"

#include "base/bits.h"
#include "model/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

namespace weft::scenario {
namespace {

std::string_view word_of(StateWord state) { return kStateWords[static_cast<size_t>(state)]; }

bool holds_a_place(TaskState state) {
  return state == TaskState::kHeld || state == TaskState::kRunning || state == TaskState::kReleasing;
}

bool contains_word(std::string_view text, std::string_view word) {
  const auto is_same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), is_same) != text.end();
}

/// "3", "0:2g.20gb@4".
std::string device_text(const DeviceWord& word) {
  std::string out = fmt::format("{}", word.device);
  if (!word.profile.empty()) out += ":" + word.profile;
  if (word.start >= 0) out += fmt::format("@{}", word.start);
  return out;
}

std::string list_text(const std::vector<std::string>& items) { return fmt::format("[{}]", fmt::join(items, ", ")); }

std::string devices_text(const std::vector<DeviceWord>& words) {
  std::vector<std::string> items;
  for (const DeviceWord& word : words) items.push_back(device_text(word));
  return list_text(items);
}

/// Compares one expectation with the world. Each check_… returns nothing where all is well.
class Comparison {
 public:
  explicit Comparison(World& world) : world_(world), scenario_(world.scenario()) {}

  std::vector<Mismatch> run(const Expectation& expectation) {
    std::vector<Mismatch> all;
    for (const Check& check : expectation.checks) {
      at_ = check.at;
      found_.clear();
      std::visit([this](const auto& body) { compare(body); }, check.body);
      all.insert(all.end(), found_.begin(), found_.end());
    }
    return all;
  }

 private:
  void miss(std::string expected, std::string found) { found_.push_back({at_, std::move(expected), std::move(found)}); }

  StateWord state_of(JobIndex job) const { return state_word(world_.view(job)); }

  std::string state_text(JobIndex job) const {
    const JobView& view = world_.view(job);
    const StateWord state = state_of(job);
    const bool has_reason = (state == StateWord::kPending || state == StateWord::kRejected) && !view.why.empty();
    if (!has_reason) return std::string(word_of(state));
    // Nobody thinks of it: by default a node's GPUs go to one job each.
    const bool wants_share = view.verdict.is_never && view.verdict.unit == CountUnit::kMilliGpu &&
                             view.verdict.nodes_by_reason[static_cast<size_t>(Reason::kNone)] == 0;
    return fmt::format(
        "{} ({}{})", word_of(state), view.why,
        wants_share ? "; a node whose GPUs jobs may share has the key 'share: mps' or 'share: timeslice'" : "");
  }

  static int64_t count_tasks(const JobView& view, TaskState state) {
    return std::count_if(view.tasks.begin(), view.tasks.end(), [state](const TaskView& t) { return t.state == state; });
  }

  /// The task's view where it holds a place. Tasks that are being released count only where no other of the job holds
  /// one.
  static const TaskView* placed(const JobView& view, TaskIndex task) {
    if (static_cast<size_t>(task) >= view.tasks.size()) return nullptr;
    const TaskView& found = view.tasks[static_cast<size_t>(task)];
    if (!holds_a_place(found.state)) return nullptr;
    const bool has_others = count_tasks(view, TaskState::kRunning) + count_tasks(view, TaskState::kHeld) > 0;
    return found.state == TaskState::kReleasing && has_others ? nullptr : &found;
  }

  void compare(const JobCheck& check) {
    const JobView& view = world_.view(check.job);
    const std::string name = scenario_.job_name(check.job);
    if (check.state && *check.state != state_of(check.job))
      miss(fmt::format("{}: {}", name, word_of(*check.state)), state_text(check.job));
    compare_count(name, "running", check.running, count_tasks(view, TaskState::kRunning));
    compare_count(name, "pending", check.pending, count_tasks(view, TaskState::kPending));
    if (check.nodes) compare_nodes(name, *check.nodes, view);
    for (const auto& [task, node] : check.tasks) {
      const TaskView* found = placed(view, task);
      if (found != nullptr && index(found->placement.node) == node) continue;
      miss(fmt::format("{}: {} on {}", name, scenario_.task_name(check.job, task), scenario_.node_name(node)),
           found == nullptr ? fmt::format("it is nowhere; {} is {}", name, state_text(check.job)) : found->node);
    }
    for (const auto& [task, words] : check.devices) compare_devices(check.job, task, words, view);
    if (check.is_moved && (*check.is_moved != 0) != world_.is_moved(check.job)) {
      miss(fmt::format("{}: moved: {}", name, *check.is_moved != 0),
           world_.is_moved(check.job) ? "it was moved" : "it was not moved");
    }
  }

  void compare_count(std::string_view name, std::string_view what, const std::optional<CountMatch>& count,
                     int64_t found) {
    if (!count || count->holds(found)) return;
    miss(fmt::format("{}: {} tasks {}", name, count->text(), what), fmt::format("{}", found));
  }

  void compare_nodes(std::string_view name, const std::vector<NodeIndex>& nodes, const JobView& view) {
    std::set<NodeIndex> found;
    for (size_t t = 0; t < view.tasks.size(); ++t) {
      if (const TaskView* task = placed(view, static_cast<TaskIndex>(t)))
        found.insert(static_cast<NodeIndex>(index(task->placement.node)));
    }
    if (std::equal(found.begin(), found.end(), nodes.begin(), nodes.end())) return;
    std::vector<std::string> expected_names, found_names;
    for (const NodeIndex node : nodes) expected_names.push_back(scenario_.node_name(node));
    for (const NodeIndex node : found) found_names.push_back(scenario_.node_name(node));
    miss(fmt::format("{}: nodes {}", name, list_text(expected_names)), list_text(found_names));
  }

  /// The devices of a task, MIG instances with profile and start.
  std::vector<DeviceWord> words_of(const TaskPlacement& placement) const {
    const DeviceCatalogue& catalogue = known_devices();
    std::vector<DeviceWord> out;
    for_each_bit(placement.devices, [&](unsigned device) {
      DeviceWord word{.device = static_cast<uint8_t>(device)};
      if (placement.kind == DeviceNeedKind::kMig) {
        const NodeSpec& node = scenario_.node_group(static_cast<NodeIndex>(index(placement.node))).spec;
        const DeviceModel& model = catalogue.model(catalogue.find(node.devices[device].model));
        word.profile = model.mig_profiles[placement.mig_profile].name;
        word.start = static_cast<int8_t>(placement.mig_start);
      }
      out.push_back(std::move(word));
    });
    return out;
  }

  void compare_devices(JobIndex job, TaskIndex task, const std::vector<DeviceWord>& words, const JobView& view) {
    const TaskView* found = placed(view, task);
    const std::vector<DeviceWord> has = found == nullptr ? std::vector<DeviceWord>() : words_of(found->placement);
    const auto fits = [](const DeviceWord& wanted, const DeviceWord& given) {
      return wanted.device == given.device && (wanted.profile.empty() || wanted.profile == given.profile) &&
             (wanted.start < 0 || wanted.start == given.start);
    };
    const bool is_same = found != nullptr && words.size() == has.size() &&
                         std::all_of(words.begin(), words.end(), [&](const DeviceWord& w) {
                           return std::any_of(has.begin(), has.end(), [&](const DeviceWord& h) { return fits(w, h); });
                         });
    if (is_same) return;
    miss(fmt::format("{}: {} on devices {}", scenario_.job_name(job), scenario_.task_name(job, task),
                     devices_text(words)),
         found == nullptr ? fmt::format("it is nowhere; the job is {}", state_text(job)) : devices_text(has));
  }

  /// Where a task is, as one value: two tasks are together at the level where these are equal. Empty: in no domain of
  /// the level.
  std::string position(const TaskView& task, const std::string& level) const {
    const auto node = static_cast<NodeIndex>(index(task.placement.node));
    if (level == "node") return task.node;
    if (level == "device" || level == "nvlink") {
      const DeviceMask devices = task.placement.devices;
      if (devices == 0) return {};
      if (level == "device")
        return (devices & (devices - 1)) == 0 ? fmt::format("{}:{}", task.node, devices) : std::string();
      const auto& islands = scenario_.node_group(node).spec.islands;
      if (islands.empty()) return task.node;
      for (const DeviceMask island : islands) {
        if ((devices & ~island) == 0) return fmt::format("{}:{}", task.node, island);
      }
      return {};
    }
    return world_.scheduler().domain_of(task.placement.node, level);
  }

  void compare(const TogetherCheck& check) {
    std::vector<std::string> positions, texts;
    for (const JobPart& part : check.parts) {
      texts.push_back(part.text);
      const JobView& view = world_.view(part.job);
      for (const TaskIndex task : part.tasks) {
        if (const TaskView* found = placed(view, task)) positions.push_back(position(*found, check.level));
      }
    }
    const std::string expected = fmt::format("{} together in one {}", fmt::join(texts, " and "), check.level);
    if (positions.empty()) return miss(expected, "none of them runs");
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    if (positions.front().empty()) return miss(expected, fmt::format("a task is in no single {}", check.level));
    if (positions.size() > 1) miss(expected, list_text(positions));
  }

  void compare(const EvictionsCheck& check) {
    if (!check.count.holds(world_.tally().evictions))
      miss(fmt::format("evictions: {}", check.count.text()), evicted_text());
  }

  void compare(const MovesCheck& check) {
    if (!check.count.holds(world_.tally().moves))
      miss(fmt::format("moves: {}", check.count.text()), fmt::format("{}", world_.tally().moves));
  }

  std::string evicted_text() const {
    std::vector<std::string> names;
    for (const auto& [job, task] : world_.tally().evicted) {
      names.push_back(fmt::format("{}/{}", scenario_.job_name(job), scenario_.task_name(job, task)));
    }
    return fmt::format("{} {}", world_.tally().evictions, names.empty() ? "" : list_text(names));
  }

  void compare(const EvictedCheck& check) {
    std::set<std::pair<JobIndex, TaskIndex>> left = world_.tally().evicted;
    bool is_same = true;
    std::vector<std::string> names;
    for (const auto& [job, task] : check.who) {
      names.push_back(task ? fmt::format("{}/{}", scenario_.job_name(job), scenario_.task_name(job, *task))
                           : scenario_.job_name(job));
      const auto is_named = [&, j = job, t = task](const auto& entry) {
        return entry.first == j && (!t || entry.second == *t);
      };
      is_same = std::erase_if(left, is_named) > 0 && is_same;
    }
    if (!is_same || !left.empty()) miss(fmt::format("evicted: {}", list_text(names)), evicted_text());
  }

  void compare(const WhyCheck& check) {
    const std::string& why = world_.view(check.job).why;
    for (const std::string& word : check.words) {
      if (contains_word(why, word)) continue;
      miss(fmt::format("why {}: \"{}\"", scenario_.job_name(check.job), word),
           why.empty() ? fmt::format("no verdict; it is {}", state_text(check.job)) : fmt::format("\"{}\"", why));
    }
  }

  void compare(const OneOfCheck& check) {
    std::vector<std::string> reasons;
    for (const Expectation& alternative : check.alternatives) {
      const std::vector<Mismatch> mismatches = Comparison(world_).run(alternative);
      if (mismatches.empty()) return;
      reasons.push_back(fmt::format("expected {}, found {}", mismatches[0].expected, mismatches[0].found));
    }
    miss(fmt::format("one of {} alternatives", check.alternatives.size()),
         fmt::format("none: {}", fmt::join(reasons, "; ")));
  }

  void compare(const CountCheck& check) {
    for (const auto& [state, count] : check.counts) {
      int64_t found = 0;
      std::vector<std::string> others;
      for (const JobIndex job : check.of) {
        if (state_of(job) == state) ++found;
        others.push_back(fmt::format("{}: {}", scenario_.job_name(job), word_of(state_of(job))));
      }
      if (count.holds(found)) continue;
      miss(fmt::format("{} of {} {}", count.text(), check.of.size(), word_of(state)),
           fmt::format("{} ({})", found, fmt::join(others, ", ")));
    }
  }

  World& world_;
  const Scenario& scenario_;
  Place at_;
  std::vector<Mismatch> found_;
};

}  // namespace

StateWord state_word(const JobView& view) {
  switch (view.state) {
    case JobState::kPending: return StateWord::kPending;
    case JobState::kHolding:
    case JobState::kStarting: return StateWord::kHeld;
    case JobState::kRunning: return StateWord::kRunning;
    case JobState::kReleasing: return StateWord::kReleasing;
    case JobState::kDone: return StateWord::kDone;
    case JobState::kFailed: return StateWord::kFailed;
    case JobState::kCancelled: return StateWord::kCancelled;
    case JobState::kRejected: return StateWord::kRejected;
  }
  return StateWord::kPending;
}

std::vector<Mismatch> find_mismatches(const Expectation& expectation, World& world) {
  return Comparison(world).run(expectation);
}

}  // namespace weft::scenario
