#include "sim/report/run_tables.h"

#include "base/printable.h"
#include "base/text.h"
#include "sim/report/run_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft::sim {

namespace {

std::string three_decimals(double value) { return decimal_text(value, 3); }
std::string two_decimals(double value) { return decimal_text(value, 2); }

enum class Better : uint8_t { kLow, kHigh, kNeither };

/// A column of a comparison: its value for a run, and how that is written.
struct Measure {
  std::string_view heading;
  Better better = Better::kLow;
  double (*value)(const RunMetrics& metrics);
  std::string (*text)(double value);
};

using M = const RunMetrics&;

const std::vector<Measure>& time_measures() {
  static const std::vector<Measure> kAll{
      {"mean JCT", Better::kLow, [](M m) { return m.all.jct.mean; }, duration_text},
      {"median JCT", Better::kLow, [](M m) { return m.all.jct.median; }, duration_text},
      {"p90 JCT", Better::kLow, [](M m) { return m.all.jct.p90; }, duration_text},
      {"p99 JCT", Better::kLow, [](M m) { return m.all.jct.p99; }, duration_text},
      {"mean waiting", Better::kLow, [](M m) { return m.all.waited.mean; }, duration_text},
      {"mean slowdown", Better::kLow, [](M m) { return m.all.slowdown.mean; }, two_decimals},
      {"makespan", Better::kLow, [](M m) { return m.makespan; }, duration_text},
  };
  return kAll;
}

const std::vector<Measure>& cluster_measures() {
  static const std::vector<Measure> kAll{
      {"GPU time in use", Better::kHigh, [](M m) { return m.utilization; }, percent_text},
      {"free but in fragments", Better::kLow, [](M m) { return m.occupancy.fragment_mean; }, percent_text},
      {"mean jobs waiting", Better::kLow, [](M m) { return m.occupancy.pending_mean; }, number_text},
      {"preemp- tions", Better::kNeither, [](M m) { return static_cast<double>(m.all.preempts); }, number_text},
      {"GPU hours lost", Better::kNeither, [](M m) { return m.all.lost_gpu_seconds; }, gpu_hours_text},
      {"Jain's index, jobs", Better::kHigh, [](M m) { return m.fairness.jain_jobs; }, three_decimals},
      {"Jain's index, owners", Better::kHigh, [](M m) { return m.fairness.jain_parties; }, three_decimals},
      {"finish-time ratio, mean", Better::kLow, [](M m) { return m.fairness.finish_time_ratio.mean; }, two_decimals},
      {"p99", Better::kLow, [](M m) { return m.fairness.finish_time_ratio.p99; }, two_decimals},
      {"jobs above 1", Better::kLow, [](M m) { return m.fairness.share_above_one; }, percent_text},
  };
  return kAll;
}

/// Marks the best value of a line of cells; nothing when all are equal or unknown.
class BestMark {
 public:
  explicit BestMark(Better better) : better_(better) {}
  void add(double value, std::pair<size_t, size_t> cell) {
    if (std::isnan(value)) return;
    const bool is_better = better_ == Better::kLow ? value < best_ : value > best_;
    is_spread_ |= count_ > 0 && value != best_;
    if (count_++ == 0 || is_better) {
      best_ = value;
      cells_.clear();
    }
    if (value == best_) cells_.push_back(cell);
  }
  void put_into(PageTable& table) const {
    if (better_ != Better::kNeither && is_spread_) table.best.insert(table.best.end(), cells_.begin(), cells_.end());
  }

 private:
  Better better_;
  double best_ = 0;
  size_t count_ = 0;
  bool is_spread_ = false;
  std::vector<std::pair<size_t, size_t>> cells_;
};

enum class Ratios : uint8_t { kNone, kToFirst };

PageTable comparison(const NamedRuns& runs, const std::vector<Measure>& measures, Ratios ratios) {
  PageTable table{.header = {"policy"}, .rows = {}};
  for (const NamedRun& run : runs) table.rows.push_back({run.name});
  const RunMetrics& first = runs.front().report->metrics;
  for (const Measure& measure : measures) {
    const auto value_of = [&](const NamedRun& run) { return measure.value(run.report->metrics); };
    if (std::ranges::all_of(runs, [&](const NamedRun& run) { return std::isnan(value_of(run)); })) continue;
    BestMark best(measure.better);
    for (size_t i = 0; i < runs.size(); ++i) {
      const double value = value_of(runs[i]);
      best.add(value, {i, table.header.size()});
      std::string text = measure.text(value);
      if (ratios == Ratios::kToFirst && i > 0) {
        text += fmt::format(" ({})", ratio_text(ratio_to(value, measure.value(first))));
      }
      table.rows[i].push_back(std::move(text));
    }
    best.put_into(table);
    table.header.emplace_back(measure.heading);
  }
  return table;
}

std::string policy_text(const RunFacts& facts) {
  const std::string policy = printable(facts.policy);
  return facts.past.empty() ? policy : fmt::format("{}, learnt from {}", policy, printable(facts.past));
}

}  // namespace

PageTable times_table(const RunReport& report) {
  PageTable table{.header = {"", "mean", "median", "p90", "p95", "p99", "max"}, .rows = {}};
  const auto add = [&](std::string name, const Distribution& d, std::string (*text)(double)) {
    if (d.count == 0) return;
    table.rows.push_back(
        {std::move(name), text(d.mean), text(d.median), text(d.p90), text(d.p95), text(d.p99), text(d.max)});
  };
  const RunMetrics& metrics = report.metrics;
  add("JCT: from submission to end", metrics.all.jct, duration_text);
  add("of it waiting", metrics.all.waited, duration_text);
  add("slowdown (bound 10 s)", metrics.all.slowdown, two_decimals);
  add("finish-time ratio", metrics.fairness.finish_time_ratio, two_decimals);
  return table;
}

PageTable times_comparison(const NamedRuns& runs) { return comparison(runs, time_measures(), Ratios::kToFirst); }

PageTable cluster_comparison(const NamedRuns& runs) { return comparison(runs, cluster_measures(), Ratios::kNone); }

PageTable seconds_table(const NamedRuns& runs) {
  PageTable table{.header = {"policy"}, .rows = {}};
  for (const std::string_view what : {"JCT", "waiting"}) {
    for (const std::string_view part : {"mean", "median", "p90", "p95", "p99", "max"}) {
      table.header.push_back(fmt::format("{} {}", part, what));
    }
  }
  table.header.emplace_back("makespan");
  for (const NamedRun& run : runs) {
    const RunMetrics& metrics = run.report->metrics;
    std::vector<std::string> row{run.name};
    for (const Distribution* d : {&metrics.all.jct, &metrics.all.waited}) {
      for (const double value : {d->mean, d->median, d->p90, d->p95, d->p99, d->max}) row.push_back(number_text(value));
    }
    row.push_back(number_text(metrics.makespan));
    table.rows.push_back(std::move(row));
  }
  return table;
}

PageTable facts_table(const NamedRuns& runs) {
  PageTable table{.header = {"run", "policy", "placement", "rules", "seed", "cluster", "jobs", "events", "decisions",
                             "decision hash", "simulated in", "trace read in"},
                  .rows = {}};
  for (const NamedRun& run : runs) {
    const RunFacts& facts = run.report->facts;
    table.rows.push_back({run.name, policy_text(facts), printable(facts.placement), printable(facts.rules),
                          fmt::format("{}", facts.seed), printable(facts.cluster),
                          count_text(run.report->metrics.all.jobs), count_text(facts.events),
                          count_text(facts.decisions), fmt::format("{:016x}", facts.decision_hash),
                          fmt::format("{:.3f} s", facts.wall_seconds), fmt::format("{:.3f} s", facts.read_seconds)});
  }
  return table;
}

PageTable groups_table(std::string_view heading, const std::vector<RunGroup>& groups) {
  if (groups.empty()) return {};
  PageTable table{.header = {std::string(heading), "jobs", "GPU hours", "mean JCT", "median JCT", "p99 JCT",
                             "mean waiting", "mean slowdown", "preemp- tions", "GPU hours lost"},
                  .rows = {}};
  for (const RunGroup& group : groups) {
    table.rows.push_back({printable(group.name), count_text(group.jobs), gpu_hours_text(group.gpu_seconds),
                          duration_text(group.jct.mean), duration_text(group.jct.median), duration_text(group.jct.p99),
                          duration_text(group.waited.mean), two_decimals(group.slowdown.mean),
                          format_count(group.preempts), gpu_hours_text(group.lost_gpu_seconds)});
  }
  return table;
}

PageTable groups_comparison(std::string_view heading, const NamedRuns& runs, GroupsOf groups) {
  const std::vector<RunGroup>& first = runs.front().report->metrics.*groups;
  if (first.empty()) return {};
  PageTable table{.header = {std::string(heading), "jobs"}, .rows = {}};
  for (const NamedRun& run : runs) table.header.push_back(run.name);
  for (const RunGroup& group : first) {
    std::vector<std::string> row{printable(group.name), count_text(group.jobs)};
    BestMark best(Better::kLow);
    for (const NamedRun& run : runs) {
      const std::vector<RunGroup>& own = run.report->metrics.*groups;
      const auto found = std::ranges::find(own, group.name, &RunGroup::name);
      const double mean = found != own.end() ? found->jct.mean : kUnknown;
      best.add(mean, {table.rows.size(), row.size()});
      row.push_back(duration_text(mean));
    }
    best.put_into(table);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace weft::sim
