#include "base/printable.h"
#include "base/text.h"
#include "sim/report/run_format.h"
#include "sim/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace weft::sim {

namespace {

constexpr size_t kColumns = 80;
constexpr size_t kLabel = 18;
constexpr size_t kGroupLabel = 16;
constexpr size_t kGroupsShown = 10;

std::string line(std::string_view label, std::string_view text) {
  return fmt::format("{}{}\n", fitted(label, kLabel), text);
}

std::string cell_10(double value) { return number_cell(value, 10); }
std::string ratio_cell_10(double value) { return decimal_cell(value, 2, 10); }

std::string distribution_line(std::string_view label, const Distribution& d, std::string (*cell)(double)) {
  std::string text = fitted(label, kLabel);
  for (const double value : {d.mean, d.median, d.p90, d.p95, d.p99, d.max}) text += cell(value);
  return text + "\n";
}

std::string head_text(const RunReport& report) {
  const RunFacts& facts = report.facts;
  std::string text =
      cut_to(fmt::format("{} on {}", run_label(report, {&report, 1}), trace_label(report, {&report, 1})), kColumns) +
      "\n";
  text +=
      fmt::format("{}, {}\n", format_count(static_cast<int64_t>(report.metrics.all.jobs), "job"), cluster_text(facts));
  text += cut_to(fmt::format("placement {}, rules {}, seed {}", facts.placement, facts.rules, facts.seed), kColumns);
  if (!facts.past.empty()) text += "\n" + cut_to(fmt::format("learnt from {}", printable(facts.past)), kColumns);
  return text + "\n\n";
}

std::string times_text(const RunMetrics& metrics) {
  std::string text = fitted("", kLabel);
  for (const std::string_view heading : {"mean", "median", "p90", "p95", "p99", "max"}) {
    text += fmt::format("{:>10}", heading);
  }
  text += "\n";
  text += distribution_line("JCT, s", metrics.all.jct, cell_10);
  text += distribution_line("waiting, s", metrics.all.waited, cell_10);
  text += distribution_line("slowdown", metrics.all.slowdown, ratio_cell_10);
  if (metrics.fairness.kind != FairParties::kNone) {
    text += distribution_line("finish-time ratio", metrics.fairness.finish_time_ratio, ratio_cell_10);
  }
  return text + "\n";
}

std::string_view parties_text(FairParties kind) { return kind == FairParties::kUsers ? "users" : "queues"; }

std::string fairness_text(const RunFairness& fairness) {
  std::string text = fmt::format("Jain's index {} over jobs", decimal_text(fairness.jain_jobs, 3));
  if (fairness.kind != FairParties::kNone) {
    text += fmt::format(", {} over {} {}", decimal_text(fairness.jain_parties, 3), count_text(fairness.parties),
                        parties_text(fairness.kind));
  }
  return text;
}

std::string fragments_text(const RunOccupancy& occupancy) {
  if (std::isnan(occupancy.fragment_mean)) return {};
  return "; free but in fragments " + percent_text(occupancy.fragment_mean);
}

std::string facts_text(const RunReport& report) {
  const RunMetrics& metrics = report.metrics;
  const RunOccupancy& occupancy = metrics.occupancy;
  const RunFacts& facts = report.facts;
  std::string text = line("jobs", ends_text(metrics));
  text += line("makespan", fmt::format("{} s ({})", number_text(metrics.makespan), duration_text(metrics.makespan)));
  text += line("GPU time in use", percent_text(metrics.utilization) + fragments_text(occupancy));
  text +=
      line("queue", fmt::format("{} jobs for {} GPUs on average, {} jobs at most", number_text(occupancy.pending_mean),
                                number_text(occupancy.pending_gpus_mean), number_text(occupancy.pending_max)));
  text += line("preemptions", fmt::format("{}; {} GPU hours lost", format_count(metrics.all.preempts),
                                          gpu_hours_text(metrics.all.lost_gpu_seconds)));
  text += line("fairness", fairness_text(metrics.fairness));
  if (metrics.fairness.kind != FairParties::kNone) {
    text += line("", fmt::format("{} of the jobs were done later than on an equal share",
                                 percent_text(metrics.fairness.share_above_one)));
  }
  text += line("decisions", fmt::format("{} of {} events, hash {:016x}", count_text(facts.decisions),
                                        count_text(facts.events), facts.decision_hash));
  text += line("took", fmt::format("{:.3f} s, and {:.3f} s to read the trace", facts.wall_seconds, facts.read_seconds));
  return text;
}

std::string groups_text(std::string_view title, const std::vector<RunGroup>& groups, uint64_t left_out) {
  if (groups.empty()) return {};
  std::string text = fmt::format("\n{}{:>11}{:>11}{:>11}{:>11}{:>11}{:>9}\n", fitted(title, kGroupLabel), "jobs",
                                 "GPU hours", "mean JCT", "p99 JCT", "mean wait", "preempts");
  for (size_t i = 0; i < std::min(groups.size(), kGroupsShown); ++i) {
    const RunGroup& group = groups[i];
    text += fitted(group.name, kGroupLabel) + number_cell(static_cast<double>(group.jobs), 11);
    for (const double value : {group.gpu_seconds / 3600, group.jct.mean, group.jct.p99, group.waited.mean}) {
      text += number_cell(value, 11);
    }
    text += number_cell(static_cast<double>(group.preempts), 9) + "\n";
  }
  const uint64_t more = left_out + (groups.size() - std::min(groups.size(), kGroupsShown));
  if (more > 0) text += fmt::format("({} more with less GPU time)\n", count_text(more));
  return text;
}

}  // namespace

std::string run_text(const RunReport& report) {
  const RunMetrics& metrics = report.metrics;
  std::string text = head_text(report) + times_text(metrics) + facts_text(report);
  text += groups_text("GPUs per job", metrics.by_size, 0);
  text += groups_text("queue", metrics.by_queue, metrics.queues_left_out);
  text += groups_text("user", metrics.by_user, metrics.users_left_out);
  return text;
}

}  // namespace weft::sim
