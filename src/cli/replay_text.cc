#include "cli/replay_text.h"

#include "base/bits.h"
#include "base/printable.h"
#include "base/text.h"
#include "cli/moment_text.h"
#include "cli/present.h"
#include "cli/table.h"
#include "model/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::cli {

namespace {

std::string count_text(uint64_t count) { return format_count(static_cast<int64_t>(count)); }

/// What a table leaves out.
std::string rest_text(size_t shown, size_t all) {
  return all > shown ? fmt::format("… and {} more (--rows, --json)\n", count_text(all - shown)) : "";
}

std::string node_state(const NodeView& node) { return !node.is_up ? "down" : node.is_cordoned ? "cordoned" : "up"; }

/// Neighbours that are alike in all that is shown are one row.
bool is_alike(const NodeView& a, const NodeView& b) {
  return a.device_count == b.device_count && a.free_devices == b.free_devices && a.is_up == b.is_up &&
         a.is_cordoned == b.is_cordoned && a.device_model == b.device_model;
}

std::string nodes_text(const std::vector<NodeView>& nodes, size_t rows) {
  Table table({{"NODE"},
               {"GPUS", Table::Align::kRight},
               {"USED", Table::Align::kRight},
               {"FREE", Table::Align::kRight},
               {"FREE ONES"},
               {"STATE"},
               {"MODEL"}});
  size_t shown = 0, first = 0;
  for (; first < nodes.size() && shown < rows; ++shown) {
    const NodeView& node = nodes[first];
    size_t last = first;
    while (last + 1 < nodes.size() && is_alike(node, nodes[last + 1])) ++last;
    const std::string name =
        last == first ? node.name : fmt::format("{} … {} ({})", node.name, nodes[last].name, last - first + 1);
    const auto free = static_cast<int32_t>(popcount(node.free_devices));
    table.add({name, fmt::format("{}", node.device_count), fmt::format("{}", node.device_count - free),
               fmt::format("{}", free), free == 0 ? "-" : sim::device_ranges(node.free_devices), node_state(node),
               node.device_model.empty() ? "-" : node.device_model});
    first = last + 1;
  }
  return table.text(terminal_width()) + rest_text(first, nodes.size());
}

std::string running_text(const sim::Moment& moment, size_t rows) {
  Table table({{"JOB", Table::Align::kRight},
               {"NAME"},
               {"USER"},
               {"STATE"},
               {"GPUS", Table::Align::kRight},
               {"FOR", Table::Align::kRight},
               {"ATTEMPT", Table::Align::kRight},
               {"ON"}});
  const size_t shown = std::min(rows, moment.running.size());
  for (size_t i = 0; i < shown; ++i) {
    const JobView& job = moment.running[i];
    const bool has_started = job.state == JobState::kRunning || job.state == JobState::kReleasing;
    table.add({fmt::format("{}", index(job.id)), shortened(job.name, 24), shortened(job.user, 12),
               std::string(to_text(job.state)), sim::gpus_text(job.request),
               has_started ? format_duration(moment.at - job.started) : "-", fmt::format("{}", job.attempt),
               sim::places_text(job)});
  }
  return table.text(terminal_width()) + rest_text(shown, moment.running_count);
}

std::string waiting_text(const sim::Moment& moment, size_t rows) {
  Table table({{"JOB", Table::Align::kRight},
               {"NAME"},
               {"USER"},
               {"GPUS", Table::Align::kRight},
               {"SINCE", Table::Align::kRight},
               {"WHY"}});
  const size_t shown = std::min(rows, moment.waiting.size());
  for (size_t i = 0; i < shown; ++i) {
    const JobView& job = moment.waiting[i];
    table.add({fmt::format("{}", index(job.id)), shortened(job.name, 24), shortened(job.user, 12),
               sim::gpus_text(job.request), format_duration(moment.at - job.submitted),
               job.why.empty() ? "waits for its turn" : job.why});
  }
  return table.text(terminal_width()) + rest_text(shown, moment.waiting_count);
}

void add_decisions(Table& table, sim::Replay& replay, const std::vector<sim::NumberedDecision>& decisions,
                   const std::string& mark_of_last) {
  for (size_t i = 0; i < decisions.size(); ++i) {
    const sim::NumberedDecision& numbered = decisions[i];
    table.add({i + 1 == decisions.size() ? mark_of_last : "", count_text(numbered.number),
               instant_text(numbered.decision.at), replay.text(numbered.decision)});
  }
}

std::vector<Table::Column> decision_columns() {
  return {{""}, {"DECISION", Table::Align::kRight}, {"AT", Table::Align::kRight}, {"WHAT"}};
}

std::string heading(std::string_view text) { return fmt::format("\n{}\n", text); }

}  // namespace

// ---- What was run, and how it went

std::string head_text(const std::string& path, const store::JournalHead& head) {
  std::string text = fmt::format("{}: weft {}", printable(path), head.command);
  for (const auto& [name, value] : head.facts) text += fmt::format(", {} {}", printable(name), printable(value));
  return text + fmt::format(", recorded by weft {}\n", head.weft_version);
}

std::string result_text(const sim::Replay& replay) {
  const store::JournalEnd& totals = replay.totals();
  std::string text = fmt::format(
      "{}, {}, hash {:016x}: the same as recorded\n", format_count(static_cast<int64_t>(totals.events), "event"),
      format_count(static_cast<int64_t>(totals.decisions), "decision"), totals.decision_hash);
  if (!replay.journal().end()) text += "unfinished: the run goes on, or was killed; this is what was written of it\n";
  return text;
}

std::string difference_text(const store::JournalHead& head, const sim::ReplayDifference& difference) {
  return fmt::format("call {} at {}, decision {}: recorded: {}; now: {}", count_text(difference.call),
                     moment_text(head, difference.at), count_text(difference.decision), difference.recorded,
                     difference.found);
}

std::string decision_line(sim::Replay& replay, const sim::NumberedDecision& numbered) {
  return fmt::format("{:>9}  {:>16}  {}\n", count_text(numbered.number), instant_text(numbered.decision.at),
                     replay.text(numbered.decision));
}

// ---- Tables

std::string moment_tables(sim::Replay& replay, const sim::Moment& moment, size_t rows) {
  const ClusterView& cluster = moment.cluster;
  const store::JournalHead& head = replay.journal().head();
  std::string text = "at " + moment_text(head, moment.at);
  if (moment.decision) text += fmt::format(", after the call that made decision {}", count_text(*moment.decision));
  if (moment.last_call != moment.at)
    text += fmt::format(" (the last thing before it happened at {})", instant_text(moment.last_call));
  text +=
      fmt::format("\n{} in {}, {} used, {} free; jobs: {} running, {} waiting, {} ended\n",
                  format_count(cluster.gpus, "GPU"), format_count(cluster.nodes, "node"),
                  format_count(cluster.gpus - cluster.gpus_free), format_count(cluster.gpus_free),
                  count_text(moment.running_count), count_text(moment.waiting_count), format_count(cluster.jobs_ended));
  text += heading("Nodes") + nodes_text(moment.nodes, rows);
  if (moment.running_count > 0) text += heading("Running") + running_text(moment, rows);
  if (moment.waiting_count > 0) text += heading("Waiting") + waiting_text(moment, rows);
  Table decisions(decision_columns());
  add_decisions(decisions, replay, moment.before, "last");
  add_decisions(decisions, replay, moment.after, "");
  if (!decisions.is_empty()) text += heading("Decisions before and after") + decisions.text(terminal_width());
  return text;
}

std::string job_text(sim::Replay& replay, const JobView& job, const std::vector<sim::NumberedDecision>& decisions,
                     size_t rows) {
  const store::JournalHead& head = replay.journal().head();
  const auto line = [](std::string_view name, std::string_view value) {
    return value.empty() ? std::string() : fmt::format("{:<10} {}\n", name, printable(std::string(value)));
  };
  const auto moment = [&](Instant at) { return at < kNever ? moment_text(head, at) : std::string(); };
  std::string text = heading(replay.job_text(job.id));
  text += line("state", to_text(job.state)) + line("user", job.user) + line("queue", job.queue);
  text += line("priority", fmt::format("{}", job.priority)) + line("GPUs", sim::gpus_text(job.request));
  text += line("submitted", moment(job.submitted)) + line("started", moment(job.started));
  text += line("ended", moment(job.ended));
  if (job.attempt > 0) text += line("attempt", fmt::format("{}", job.attempt));
  text += line("on", sim::places_text(job)) + line("why", job.why);
  Table table(decision_columns());
  const size_t shown = std::min(rows, decisions.size());
  add_decisions(table, replay, {decisions.end() - static_cast<std::ptrdiff_t>(shown), decisions.end()}, "");
  if (shown < decisions.size())
    text += heading(fmt::format("The last {} of {} decisions about it", shown, count_text(decisions.size())));
  else if (shown > 0)
    text += heading("Decisions about it");
  return shown > 0 ? text + table.text(terminal_width()) : text;
}

}  // namespace weft::cli
