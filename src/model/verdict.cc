#include "model/verdict.h"

#include "base/check.h"
#include "base/text.h"
#include "model/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace weft {
namespace {

/// What turns one verdict into text.
struct Writer {
  const Verdict& verdict;
  const Vocabulary& names;
  std::optional<Instant> now;

  std::string sentence() const;
  bool needs_node_counts() const;
  std::string node_counts() const;
  std::string level_name() const;

 private:
  bool has_counts() const { return verdict.need > 0; }
  std::string amounts() const;
  std::string noun() const;
  std::string room(std::string_view where) const;
  std::string resource(std::string_view word, CountUnit unit) const;
  std::string job() const;
  std::string in_time() const;
  std::string queue_name() const {
    return is_set(verdict.queue) ? names.queues.text(verdict.queue) : std::string("of the job");
  }
  std::string model_name() const {
    return is_set(verdict.model) ? names.devices.model(verdict.model).name : std::string();
  }
  std::string gate() const;
  std::string queue_rule() const;
  std::string place() const;
  std::string best(std::string_view name) const;
  std::string group(Reason reason, uint32_t count) const;
  std::string unavailable(uint32_t count) const;
};

/// "an H100", "a G3", "an A100": names are read letter by letter, so the sound of the first letter decides.
std::string with_article(std::string_view name) {
  constexpr std::string_view kVowelSounds = "AEFHILMNORSXaeio";
  const bool is_vowel = !name.empty() && kVowelSounds.find(name.front()) != std::string_view::npos;
  return fmt::format("{} {}", is_vowel ? "an" : "a", name);
}

std::string bytes_of(int64_t have, int64_t need) {
  std::string have_text = format_bytes_short(have);
  std::string need_text = format_bytes_short(need);
  if (have_text != need_text) return fmt::format("{} of {}", have_text, need_text);
  return fmt::format("{} of {}", format_bytes(have), format_bytes(need));  // cut off, they would look the same
}

/// "3 of 4", in the verdict's unit. Less than nothing is left of a limit that was lowered: people read 0.
std::string Writer::amounts() const {
  const int64_t have = std::max<int64_t>(verdict.have, 0);
  switch (verdict.unit) {
    case CountUnit::kMilliCpu:
    case CountUnit::kMilliGpu: return fmt::format("{} of {}", format_milli(have), format_milli(verdict.need));
    case CountUnit::kBytes: return bytes_of(have, verdict.need);
    case CountUnit::kGpus:
    case CountUnit::kTasks:
    case CountUnit::kNodes:
    case CountUnit::kSlices: break;
  }
  return fmt::format("{} of {}", format_count(have), format_count(verdict.need));
}

std::string Writer::noun() const {
  switch (verdict.unit) {
    case CountUnit::kGpus: return " GPUs";
    case CountUnit::kTasks: return " tasks";
    case CountUnit::kNodes: return " nodes";
    case CountUnit::kMilliCpu: return " CPUs";
    case CountUnit::kBytes: return " memory";
    case CountUnit::kSlices: return " MIG slices";
    case CountUnit::kMilliGpu: return " GPUs";
  }
  check_failed("false", "a count has a unit");
}

/// "4 of 8 needed GPUs free" + where; for tasks and nodes "room for 3 of 4 tasks" + where. Without "needed" the second
/// number would be read as all that there is.
std::string Writer::room(std::string_view where) const {
  const std::string_view then = verdict.is_never ? " even with everything free" : "";
  if (verdict.unit == CountUnit::kTasks) return fmt::format("room for {} tasks{}{}", amounts(), where, then);
  if (verdict.unit == CountUnit::kNodes) return fmt::format("room on {} nodes{}{}", amounts(), where, then);
  return fmt::format("{} needed{}{}{}", amounts(), noun(), verdict.is_never ? "" : " free", where).append(then);
}

/// "CPUs: 4 of 6 needed are free": the word stands for the noun when they are the same.
std::string Writer::resource(std::string_view word, CountUnit unit) const {
  if (!has_counts()) return fmt::format("{}: too {} free", word, unit == CountUnit::kBytes ? "little" : "few");
  if (verdict.unit != unit && !(unit == CountUnit::kGpus && verdict.unit == CountUnit::kMilliGpu)) {
    return fmt::format("{}: {}", word, room(""));
  }
  if (verdict.is_never) return fmt::format("{}: {} needed, even with everything free", word, amounts());
  return fmt::format("{}: {} needed {} free", word, amounts(), unit == CountUnit::kBytes ? "is" : "are");
}

std::string Writer::job() const {
  return is_set(verdict.blocker) ? fmt::format("job {}", index(verdict.blocker)) : std::string("another job");
}

/// " in 1h30m", or nothing when the present is not known.
std::string Writer::in_time() const {
  if (!now || verdict.until == kNever || verdict.until <= *now) return "";
  return fmt::format(" in {}", format_duration(verdict.until - *now));
}

std::string Writer::level_name() const {
  if (!is_set(verdict.level)) return "level";
  WEFT_CHECK(index(verdict.level) < names.levels.size(), "a verdict's level is one of the topology");
  return names.levels[index(verdict.level)];
}

std::string Writer::gate() const {
  switch (verdict.reason) {
    case Reason::kDependency: return fmt::format("dependency: {}, which it comes after, has not ended well", job());
    case Reason::kBeginTime: {
      const std::string when = in_time();
      return when.empty() ? "begin time: it has not come yet" : "begin time:" + when;
    }
    case Reason::kHeld: return "held: by its user or an operator, until it is released";
    default:
      return fmt::format("patience: others may be stopped for it only{}", in_time().empty() ? " later" : in_time());
  }
}

std::string Writer::queue_rule() const {
  const bool is_limit = verdict.reason == Reason::kLimit;
  const std::string_view word = is_limit ? "limit" : "guarantee";
  const std::string_view why = is_limit ? "" : ", and a job that is not preemptible must fit inside it";
  if (!has_counts()) return fmt::format("{}: nothing is left of the {} of queue {}{}", word, word, queue_name(), why);
  return fmt::format("{}: {} needed{}{} {} the {} of queue {}{}", word, amounts(), noun(),
                     verdict.is_never ? "" : " left", is_limit ? "under" : "inside", word, queue_name(), why);
}

/// " (best: n0 with 4 of 8 needed GPUs free)".
std::string Writer::best(std::string_view name) const {
  if (!has_counts()) return "";
  const std::string_view with = name.empty() ? "" : " with ";
  return fmt::format(" (best: {}{}{})", name, with, room(""));
}

std::string Writer::place() const {
  switch (verdict.reason) {
    case Reason::kModel: {
      const std::string model = is_set(verdict.model) ? fmt::format(" ({})", model_name()) : std::string();
      if (!has_counts()) return fmt::format("model: no device that will do{}", model);
      return "model: " + room(fmt::format(" of those that will do{}", model));
    }
    case Reason::kNuma: return fmt::format("numa: no NUMA zone of one node holds a task{}", best(""));
    case Reason::kNvlink: return fmt::format("nvlink: no NVLink island of one node holds a task{}", best(""));
    case Reason::kNode: {
      const std::string node = is_set(verdict.node) ? names.nodes.text(verdict.node) : std::string();
      if (!verdict.is_node_named) return fmt::format("node: no single node holds a task{}", best(node));
      if (!has_counts()) return fmt::format("node: {}, which it names, does not hold a task", node);
      return fmt::format("node: {}, which it names, has {}", node, room(""));
    }
    case Reason::kLevel: {
      const size_t domain = index(verdict.domain);
      const bool is_known = is_set(verdict.domain) && domain < names.domains.size();
      const std::string level = level_name();
      return fmt::format("{}: no {} holds it{}", level, level, best(is_known ? names.domains[domain] : std::string()));
    }
    case Reason::kTaint:
      return "taint: " +
             (has_counts() ? room(" on nodes whose taints it tolerates") : "no node whose taints it tolerates");
    case Reason::kLabel:
      return "label: " + (has_counts() ? room(" on nodes that carry its labels") : "no node carries its labels");
    default:
      return "node: " + (has_counts() ? room(" on nodes that are up and not cordoned") : "all are down or cordoned");
  }
}

std::string Writer::sentence() const {
  switch (verdict.reason) {
    case Reason::kNone: return "";
    case Reason::kDependency:
    case Reason::kBeginTime:
    case Reason::kHeld:
    case Reason::kPatience: return gate();
    case Reason::kLimit:
    case Reason::kGuarantee: return queue_rule();
    case Reason::kOrder: return fmt::format("priority: {} goes first and waits for room", job());
    case Reason::kReservation: return fmt::format("reservation: it would delay {}, for which room is reserved", job());
    case Reason::kGpus:
    case Reason::kMig: return resource("GPUs", CountUnit::kGpus);
    case Reason::kGpuMemory: return resource("GPU memory", CountUnit::kBytes);
    case Reason::kCpus: return resource("CPUs", CountUnit::kMilliCpu);
    case Reason::kMemory: return resource("memory", CountUnit::kBytes);
    case Reason::kDisk: return resource("disk", CountUnit::kBytes);
    case Reason::kModel:
    case Reason::kNuma:
    case Reason::kNvlink:
    case Reason::kNode:
    case Reason::kLevel:
    case Reason::kTaint:
    case Reason::kLabel:
    case Reason::kUnavailable: return place();
    case Reason::kEngine: return "engine: it refused to hold or to start the job";
    case Reason::kBudget: return "search: it stopped at its budget, a place may exist all the same";
  }
  check_failed("false", "a verdict has one of the reasons");
}

/// "202 cordoned", "150 cordoned, 52 down", or both in one where the verdict does not tell them apart.
std::string Writer::unavailable(uint32_t count) const {
  const uint32_t down = verdict.nodes_down;
  const uint32_t cordoned = verdict.nodes_cordoned;
  if (uint64_t{down} + cordoned != count) return fmt::format("{} down or cordoned", format_count(count));
  if (down == 0) return fmt::format("{} cordoned", format_count(cordoned));
  if (cordoned == 0) return fmt::format("{} down", format_count(down));
  return fmt::format("{} cordoned, {} down", format_count(cordoned), format_count(down));
}

/// "30 have too few free GPUs (most: 3 of 4)".
std::string Writer::group(Reason reason, uint32_t count) const {
  const bool is_one = count == 1;
  const std::string_view have = is_one ? "has" : "have";
  const std::string_view lack = is_one ? "lacks" : "lack";
  const std::string_view are = is_one ? "is" : "are";
  const std::string_view free = verdict.is_never ? "" : "free ";
  const auto say = [&](std::string_view verb, std::string_view what) {
    return fmt::format("{} {} {}", format_count(count), verb, what);
  };
  switch (reason) {
    case Reason::kUnavailable: return unavailable(count);
    case Reason::kNode: return say(are, "not the one that it names");
    case Reason::kLabel: return say(lack, "a label");
    case Reason::kTaint: return say(have, "a taint that it does not tolerate");
    case Reason::kModel: return say(lack, is_set(verdict.model) ? with_article(model_name()) : "a device that will do");
    case Reason::kGpuMemory: return say(have, fmt::format("too little {}GPU memory", free));
    case Reason::kMig: return say(have, "no room for the MIG instance");
    case Reason::kGpus:
      if (verdict.task_gpus <= 0 && verdict.is_never) return say(have, "no GPU that jobs may share");
      if (verdict.task_gpus <= 0) return say(have, "too little of a free GPU");
      return say(have, fmt::format("too few {}GPUs (most: {} of {})", free, verdict.most_free_gpus, verdict.task_gpus));
    case Reason::kCpus: return say(have, fmt::format("too few {}CPUs", free));
    case Reason::kMemory: return say(have, fmt::format("too little {}memory", free));
    case Reason::kDisk: return say(have, fmt::format("too little {}disk", free));
    case Reason::kNuma: return say(have, "no NUMA zone with room");
    case Reason::kNvlink: return say(have, "no NVLink island with room");
    case Reason::kLevel: return say(are, fmt::format("in no {} with room", level_name()));
    case Reason::kReservation: return say(are, "reserved");
    case Reason::kNone: return fmt::format("{} could take a task", format_count(count));
    default: return say(are, "held back for another reason");
  }
}

/// The order in which nodes are counted for people: what never changes, what is taken now, what is away, what would do.
constexpr Reason kGroupOrder[] = {
    Reason::kNode,      Reason::kLabel,  Reason::kTaint,    Reason::kModel,       Reason::kGpuMemory,
    Reason::kMig,       Reason::kGpus,   Reason::kCpus,     Reason::kMemory,      Reason::kDisk,
    Reason::kNuma,      Reason::kNvlink, Reason::kLevel,    Reason::kReservation, Reason::kDependency,
    Reason::kBeginTime, Reason::kHeld,   Reason::kPatience, Reason::kLimit,       Reason::kGuarantee,
    Reason::kOrder,     Reason::kEngine, Reason::kBudget,   Reason::kUnavailable, Reason::kNone,
};
static_assert(
    [] {
      uint64_t seen = 0;
      for (const Reason reason : kGroupOrder) seen |= uint64_t{1} << static_cast<unsigned>(reason);
      return std::size(kGroupOrder) == kReasonCount && seen == (uint64_t{1} << kReasonCount) - 1;
    }(),
    "every reason has one place, so that the counts add up");

/// On a single server the counts mostly repeat the sentence: "GPUs: 1 of 2 needed are free; 1 node: 1 has too few …".
bool Writer::needs_node_counts() const {
  if (verdict.nodes_total != 1) return verdict.nodes_total > 0;
  if (!has_counts() || verdict.nodes_by_reason[static_cast<size_t>(verdict.reason)] != 1) return true;
  switch (verdict.reason) {
    case Reason::kGpus:
      if (verdict.task_gpus <= 0) return verdict.is_never;  // then the counts say that no GPU is shared
      return verdict.task_gpus != verdict.need;             // a gang's, and a task's
    case Reason::kCpus:
    case Reason::kMemory:
    case Reason::kDisk:
    case Reason::kGpuMemory:
    case Reason::kModel: return false;
    default: return true;
  }
}

/// "1,213 nodes: 981 lack a G3, 202 cordoned, 30 could take a task".
std::string Writer::node_counts() const {
  std::string text = fmt::format("{} node{}: ", format_count(verdict.nodes_total), verdict.nodes_total == 1 ? "" : "s");
  std::string_view comma;
  for (const Reason reason : kGroupOrder) {
    const uint32_t count = verdict.nodes_by_reason[static_cast<size_t>(reason)];
    if (count == 0) continue;
    text += comma;
    text += group(reason, count);
    comma = ", ";
  }
  return text;
}

std::string write(const Writer& writer) {
  if (writer.verdict.is_yes()) return "";
  std::string text = writer.verdict.is_never ? "can never run here: " : "";
  text += writer.sentence();
  if (writer.needs_node_counts()) text += "; " + writer.node_counts();
  return text;
}

}  // namespace

std::string reason_word(const Verdict& verdict, const Vocabulary& names) {
  if (verdict.reason == Reason::kGpuMemory) return "memory";  // in a sentence "GPU memory"
  const Writer writer{verdict, names, std::nullopt};
  if (verdict.reason == Reason::kLevel) return writer.level_name();  // a name of the user's, which may hold a colon
  const std::string sentence = writer.sentence();
  return sentence.substr(0, sentence.find(':'));
}

std::string verdict_text(const Verdict& verdict, const Vocabulary& names) {
  return write(Writer{verdict, names, std::nullopt});
}

std::string verdict_text(const Verdict& verdict, const Vocabulary& names, Instant now) {
  return write(Writer{verdict, names, now});
}

}  // namespace weft
