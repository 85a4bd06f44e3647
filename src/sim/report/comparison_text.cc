#include "base/text.h"
#include "sim/report/run_format.h"
#include "sim/report/run_report.h"

#include <fmt/format.h>

#include <string_view>

namespace weft::sim {

namespace {

constexpr size_t kLabel = 12;

/// A column: what it is called, and its text for a run beside the first run of the trace.
struct Column {
  std::string_view heading;
  size_t width = 0;
  std::string (*cell)(const RunMetrics& metrics, const RunMetrics& first);
};

std::string with_ratio(double value, double first) {
  return fmt::format("{} {:>6}", number_cell(value, 10), ratio_text(ratio_to(value, first)));
}
std::string slowdown_with_ratio(double value, double first) {
  return fmt::format("{} {:>6}", decimal_cell(value, 2, 10), ratio_text(ratio_to(value, first)));
}

const std::vector<std::vector<Column>>& tables() {
  using M = const RunMetrics&;
  static const std::vector<std::vector<Column>> kTables{
      {{"mean JCT, s", 17, [](M m, M f) { return with_ratio(m.all.jct.mean, f.all.jct.mean); }},
       {"median JCT, s", 17, [](M m, M f) { return with_ratio(m.all.jct.median, f.all.jct.median); }},
       {"p90 JCT, s", 17, [](M m, M f) { return with_ratio(m.all.jct.p90, f.all.jct.p90); }},
       {"p99 JCT, s", 17, [](M m, M f) { return with_ratio(m.all.jct.p99, f.all.jct.p99); }}},
      {{"mean waiting, s", 17, [](M m, M f) { return with_ratio(m.all.waited.mean, f.all.waited.mean); }},
       {"mean slowdown", 17, [](M m, M f) { return slowdown_with_ratio(m.all.slowdown.mean, f.all.slowdown.mean); }},
       {"makespan, s", 17, [](M m, M f) { return with_ratio(m.makespan, f.makespan); }},
       {"in use", 8, [](M m, M) { return percent_text(m.utilization); }},
       {"preempts", 9, [](M m, M) { return number_cell(static_cast<double>(m.all.preempts), 9); }}},
      {{"fragments", 10, [](M m, M) { return percent_text(m.occupancy.fragment_mean); }},
       {"GPU h lost", 11, [](M m, M) { return number_cell(m.all.lost_gpu_seconds / 3600, 11); }},
       {"Jain, jobs", 11, [](M m, M) { return decimal_text(m.fairness.jain_jobs, 3); }},
       {"owners", 7, [](M m, M) { return decimal_text(m.fairness.jain_parties, 3); }},
       {"finish ratio", 13, [](M m, M) { return decimal_cell(m.fairness.finish_time_ratio.mean, 2, 13); }},
       {"p99", 8, [](M m, M) { return decimal_cell(m.fairness.finish_time_ratio.p99, 2, 8); }},
       {"above 1", 8, [](M m, M) { return percent_text(m.fairness.share_above_one); }}},
  };
  return kTables;
}

std::string table_text(const std::vector<Column>& columns, const std::vector<const RunReport*>& runs,
                       std::span<const RunReport> all) {
  std::string text = "\n" + fitted("", kLabel);
  for (const Column& column : columns) text += fmt::format("{:>{}}", column.heading, column.width);
  text += "\n";
  const RunMetrics& first = runs.front()->metrics;
  for (const RunReport* run : runs) {
    text += fitted(run_label(*run, all), kLabel);
    for (const Column& column : columns) text += fmt::format("{:>{}}", column.cell(run->metrics, first), column.width);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string comparison_text(std::span<const RunReport> reports) {
  std::string text;
  for (const std::vector<const RunReport*>& runs : by_trace(reports)) {
    const RunReport& first = *runs.front();
    if (!text.empty()) text += "\n";
    text += cut_to(fmt::format("{}: {}, {}", trace_label(first, reports),
                               format_count(static_cast<int64_t>(first.metrics.all.jobs), "job"),
                               cluster_text(first.facts)),
                   80) +
            "\n";
    for (const std::vector<Column>& columns : tables()) text += table_text(columns, runs, reports);
    if (runs.size() > 1) text += fmt::format("Ratios are to {}.\n", cut_to(run_label(first, reports), 60));
  }
  return text;
}

}  // namespace weft::sim
