#include "base/text.h"
#include "sim/csv.h"
#include "sim/saturation/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace weft::sim {

namespace {

using Columns = std::array<SaturationColumn, kPercents>;
using Measure = double SaturationColumn::*;

/// What a table shows: measures at some percents arrived.
struct Shown {
  Measure measure;
  std::string_view title;
  std::vector<size_t> percents;
};

/// Of all tables of a workload; each fits into 80 columns.
const std::vector<std::vector<Shown>>& shown() {
  static const std::vector<std::vector<Shown>> kAll{
      {{&SaturationColumn::allocation, "allocation, % of GPUs", {85, 90, 95, 100, 110, 130}}},
      {{&SaturationColumn::fragment_ratio, "fragments, % of free GPUs", {50, 70, 90, 95}},
       {&SaturationColumn::fragment_amount, "fragments, % of GPUs", {50, 90, 130}}},
  };
  return kAll;
}
constexpr size_t kAllocationTable = 0;
constexpr size_t kFragmentTable = 1;

constexpr int kLabelWidth = 13;
constexpr int kCellWidth = 7;

class Table {
 public:
  /// `behind` is the heading of what stands behind the rows.
  Table(const std::vector<Shown>& shown, std::string_view behind) : shown_(shown) {
    std::string top(kLabelWidth, ' '), bottom = fmt::format("{:<{}}", "at % arrived", kLabelWidth);
    for (const Shown& group : shown_) {
      const int width = kCellWidth * static_cast<int>(group.percents.size());
      top += fmt::format("  {:>{}}", group.title, width);
      bottom += "  ";
      for (const size_t percent : group.percents) bottom += fmt::format("{:>{}}", percent, kCellWidth);
    }
    text_ = fmt::format("{}\n{}{}\n", top, bottom, behind);
  }

  enum class Sign : uint8_t { kPlain, kAlways };
  /// `after` stands behind the row, or nothing.
  void row(std::string_view label, const Columns& columns, std::string_view after, Sign sign = Sign::kPlain) {
    text_ += fmt::format("{:<{}}", label, kLabelWidth);
    for (const Shown& group : shown_) {
      text_ += "  ";
      for (const size_t percent : group.percents) text_ += cell(columns[percent].*group.measure, sign);
    }
    text_ += after;
    text_ += "\n";
  }

  void line(std::string_view line) { text_ += fmt::format("{}\n", line); }
  const std::string& text() const { return text_; }

 private:
  static std::string cell(double value, Sign sign) {
    if (std::isnan(value)) return fmt::format("{:>{}}", "-", kCellWidth);
    if (sign == Sign::kPlain) return fmt::format("{:>{}.2f}", value, kCellWidth);
    return fmt::format("{:>+{}.2f}", std::abs(value) < 0.005 ? 0.0 : value, kCellWidth);  // no "-0.00"
  }

  const std::vector<Shown>& shown_;
  std::string text_;
};

Columns difference(const Columns& ours, const Columns& theirs) {
  Columns off;
  for (size_t percent = 0; percent < kPercents; ++percent) {
    for (const Measure measure :
         {&SaturationColumn::allocation, &SaturationColumn::fragment_ratio, &SaturationColumn::fragment_amount}) {
      off[percent].*measure = ours[percent].*measure - theirs[percent].*measure;
    }
  }
  return off;
}

std::string speed(double pods_per_second, double seconds) {
  return fmt::format("{:>12}{:>9.3f}", format_count(std::llround(pods_per_second)), seconds);
}

std::string range_text(const std::vector<int64_t>& seeds) {
  const bool is_run =
      seeds.back() - seeds.front() == static_cast<int64_t>(seeds.size()) - 1 && std::ranges::is_sorted(seeds);
  if (seeds.size() == 1) return fmt::format("seed {}", seeds.front());
  return is_run ? fmt::format("seeds {}-{}", seeds.front(), seeds.back())
                : fmt::format("seeds {}", fmt::join(seeds, ","));
}

/// "ok: allocation at 100 and 130 is off by 0.25 (within 0.3)".
std::string verdict_line(const Comparison& comparison, std::string_view what, double off, double tolerance) {
  const bool is_within = off <= tolerance;
  const std::string_view word = is_within ? "ok" : comparison.is_chance() ? "unknown" : "DIFFERS";
  const std::string how =
      std::isnan(off) ? "cannot be told: a value is missing"
                      : fmt::format("off by {:.2f} ({} {:.1f})", off, is_within ? "within" : "OUTSIDE", tolerance);
  return fmt::format("  verdict      {}: {} {}", word, what, how);
}

void add_comparison(std::vector<Table>& tables, const SaturationReport& report, const CampaignCell& cell) {
  const std::optional<Comparison> comparison = compare(report, cell);
  for (Table& table : tables) {
    if (!comparison) {
      table.line("  (nothing recorded for this workload and policy)");
      continue;
    }
    table.row("  recorded", comparison->recorded, "");
    table.row("  difference", difference(cell.summary.mean, comparison->recorded), "", Table::Sign::kAlways);
  }
  if (!comparison) return;
  const auto judge = [&](Table& table, std::string_view what, double off, double tolerance) {
    table.line(verdict_line(*comparison, what, off, tolerance));
    if (!comparison->is_chance() || off <= tolerance) return;
    table.line(fmt::format("  (too few seeds of a policy that chooses at random; run {} or more)", kChanceSeedsMin));
  };
  judge(tables[kAllocationTable], "allocation at 100 and 130", comparison->allocation_off, kAllocationTolerance);
  judge(tables[kFragmentTable], "of free GPUs at 50, 70 and 90", comparison->fragment_ratio_off,
        kFragmentRatioTolerance);
}

}  // namespace

std::optional<Comparison> compare(const SaturationReport& report, const CampaignCell& cell) {
  if (report.recorded == nullptr) return std::nullopt;
  const std::string& workload = report.plan.workloads[cell.workload].name;
  const std::string& policy = report.plan.policies[cell.policy];
  const auto mean = [&](const std::vector<RecordedRow>& rows) {
    return recorded_mean(rows, workload, policy, report.plan.seeds);
  };
  const auto allocation = mean(report.recorded->allocation);
  const auto ratio = mean(report.recorded->fragment_ratio);
  const auto amount = mean(report.recorded->fragment_amount);
  if (!allocation || !ratio || !amount) return std::nullopt;
  Comparison comparison{.is_random = policy == "random", .seeds = report.plan.seeds.size()};
  for (size_t percent = 0; percent < kPercents; ++percent) {
    comparison.recorded[percent] = {.allocation = (*allocation)[percent],
                                    .fragment_ratio = (*ratio)[percent],
                                    .fragment_amount = (*amount)[percent],
                                    .samples = 1};
  }
  const Columns& ours = cell.summary.mean;
  const auto off = [&](Measure measure, size_t percent) {
    return std::abs(ours[percent].*measure - comparison.recorded[percent].*measure);
  };
  // What one side lacks cannot be judged, and must not pass: NaN stays, and is within no tolerance.
  const auto worst = [](double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b); };
  for (const size_t percent : {size_t{100}, size_t{130}}) {
    comparison.allocation_off = worst(comparison.allocation_off, off(&SaturationColumn::allocation, percent));
  }
  for (const size_t percent : {size_t{50}, size_t{70}, size_t{90}}) {
    comparison.fragment_ratio_off =
        worst(comparison.fragment_ratio_off, off(&SaturationColumn::fragment_ratio, percent));
  }
  return comparison;
}

namespace {

void add_cell(std::vector<Table>& tables, const SaturationReport& report, const CampaignCell& cell, Detail detail) {
  const SaturationSummary& summary = cell.summary;
  const auto add_row = [&](std::string_view label, const Columns& columns, const std::string& behind) {
    for (size_t t = 0; t < tables.size(); ++t) tables[t].row(label, columns, t == kAllocationTable ? behind : "");
  };
  if (detail == Detail::kSeeds) {
    for (const SaturationRun& run : cell.runs) {
      const double rate = run.seconds > 0 ? static_cast<double>(run.arrived) / run.seconds : 0;
      add_row(fmt::format("  seed {}", run.seed), run.columns, speed(rate, run.seconds));
    }
  }
  add_row(report.plan.policies[cell.policy], summary.mean, speed(summary.pods_per_second, summary.seconds));
  if (report.plan.seeds.size() > 1) add_row("  deviation", summary.deviation, "");
  if (report.recorded != nullptr) add_comparison(tables, report, cell);
}

}  // namespace

std::string text_report(const SaturationReport& report, Detail detail) {
  const CampaignPlan& plan = report.plan;
  std::string text;
  const auto& cells = report.result.cells;
  for (size_t first = 0; first < cells.size();) {
    const Workload& workload = plan.workloads[cells[first].workload];
    text += fmt::format("{}{}: {} on {} with {}, {}\n", text.empty() ? "" : "\n", workload.name,
                        format_count(static_cast<int64_t>(workload.pods.size()), "pod"),
                        format_count(static_cast<int64_t>(plan.nodes.size()), "node"),
                        format_count(gpu_milli_of(plan.nodes) / 1000, "GPU"), range_text(plan.seeds));
    std::vector<Table> tables;
    for (const auto& shown_there : shown())
      tables.emplace_back(shown_there, tables.empty() ? fmt::format("{:>12}{:>9}", "pods/s", "s/run") : "");
    const size_t workload_index = cells[first].workload;
    for (; first < cells.size() && cells[first].workload == workload_index; ++first)
      add_cell(tables, report, cells[first], detail);
    for (const Table& table : tables) text += (&table == tables.data() ? "" : "\n") + table.text();
  }
  return text;
}

std::string csv_report(const SaturationReport& report) {
  std::string text =
      "workload,policy,seed,arrived_percent,allocation_percent,fragment_ratio_percent,fragment_amount_percent,"
      "samples\n";
  for (const CampaignCell& cell : report.result.cells) {
    for (const SaturationRun& run : cell.runs) {
      for (size_t percent = 0; percent < kPercents; ++percent) {
        const SaturationColumn& column = run.columns[percent];
        fmt::format_to(std::back_inserter(text), "{},{},{},{},{:.4f},{:.4f},{:.4f},{}\n",
                       csv_text(report.plan.workloads[cell.workload].name), csv_text(report.plan.policies[cell.policy]),
                       run.seed, percent, column.allocation, column.fragment_ratio, column.fragment_amount,
                       column.samples);
      }
    }
  }
  return text;
}

}  // namespace weft::sim
