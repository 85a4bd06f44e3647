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

/// What the table shows: measures at some percents arrived.
struct Shown {
  Measure measure;
  std::string_view title;
  std::vector<size_t> percents;
};

const std::vector<Shown>& shown() {
  static const std::vector<Shown> kAll{
      {&SaturationColumn::allocation, "allocation, % of GPUs", {85, 90, 95, 100, 110, 130}},
      {&SaturationColumn::fragment_ratio, "fragments, % of free GPUs", {50, 70, 90, 95}},
      {&SaturationColumn::fragment_amount, "fragments, % of GPUs", {50, 90, 130}},
  };
  return kAll;
}

constexpr int kLabelWidth = 13;
constexpr int kCellWidth = 7;

class Table {
 public:
  void header() {
    std::string top(kLabelWidth, ' '), bottom = fmt::format("{:<{}}", "at % arrived", kLabelWidth);
    for (const Shown& group : shown()) {
      const int width = kCellWidth * static_cast<int>(group.percents.size());
      top += fmt::format("  {:>{}}", group.title, width);
      bottom += "  ";
      for (const size_t percent : group.percents) bottom += fmt::format("{:>{}}", percent, kCellWidth);
    }
    text_ += top + "\n" + bottom + fmt::format("{:>12}{:>9}\n", "pods/s", "s/run");
  }

  enum class Sign : uint8_t { kPlain, kAlways };
  /// `after` stands behind the row, or nothing.
  void row(std::string_view label, const Columns& columns, std::string_view after, Sign sign = Sign::kPlain) {
    text_ += fmt::format("{:<{}}", label, kLabelWidth);
    for (const Shown& group : shown()) {
      text_ += "  ";
      for (const size_t percent : group.percents) text_ += cell(columns[percent].*group.measure, sign);
    }
    text_ += after;
    text_ += "\n";
  }

  void line(std::string_view line) { text_ += fmt::format("{}\n", line); }
  std::string take() { return std::move(text_); }

 private:
  static std::string cell(double value, Sign sign) {
    if (std::isnan(value)) return fmt::format("{:>{}}", "-", kCellWidth);
    if (sign == Sign::kPlain) return fmt::format("{:>{}.2f}", value, kCellWidth);
    return fmt::format("{:>+{}.2f}", std::abs(value) < 0.005 ? 0.0 : value, kCellWidth);  // no "-0.00"
  }

  std::string text_;
};

Columns difference(const Columns& ours, const Columns& theirs) {
  Columns off;
  for (size_t percent = 0; percent < kPercents; ++percent) {
    for (const Shown& group : shown()) {
      off[percent].*group.measure = ours[percent].*group.measure - theirs[percent].*group.measure;
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

void add_comparison(Table& table, const SaturationReport& report, const CampaignCell& cell) {
  const std::optional<Comparison> comparison = compare(report, cell);
  if (!comparison) {
    table.line("  (nothing recorded for this workload and policy)");
    return;
  }
  table.row("  recorded", comparison->recorded, "");
  table.row("  difference", difference(cell.summary.mean, comparison->recorded), "", Table::Sign::kAlways);
  const auto judged = [](double off, double tolerance) {
    if (std::isnan(off)) return std::string("an unknown amount: a value is missing");
    return fmt::format("{:.2f} ({} {:.1f})", off, off <= tolerance ? "within" : "OUTSIDE", tolerance);
  };
  table.line(fmt::format(
      "  verdict      {}: allocation at 100 and 130 is off by {}, fragments of free GPUs at 50, 70 and 90 by {}",
      comparison->is_within() ? "ok" : "DIFFERS", judged(comparison->allocation_off, kAllocationTolerance),
      judged(comparison->fragment_ratio_off, kFragmentRatioTolerance)));
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
  Comparison comparison;
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

std::string text_report(const SaturationReport& report, Detail detail) {
  Table table;
  const CampaignPlan& plan = report.plan;
  size_t last_workload = plan.workloads.size();
  for (const CampaignCell& cell : report.result.cells) {
    if (cell.workload != last_workload) {
      if (last_workload < plan.workloads.size()) table.line("");
      last_workload = cell.workload;
      const Workload& workload = plan.workloads[cell.workload];
      table.line(fmt::format("{}: {} pods on {} nodes with {} GPUs, {}", workload.name,
                             format_count(static_cast<int64_t>(workload.pods.size())),
                             format_count(static_cast<int64_t>(plan.nodes.size())),
                             format_count(gpu_milli_of(plan.nodes) / 1000), range_text(plan.seeds)));
      table.header();
    }
    const SaturationSummary& summary = cell.summary;
    if (detail == Detail::kSeeds) {
      for (const SaturationRun& run : cell.runs) {
        const double rate = run.seconds > 0 ? static_cast<double>(run.arrived) / run.seconds : 0;
        table.row(fmt::format("  seed {}", run.seed), run.columns, speed(rate, run.seconds));
      }
    }
    table.row(plan.policies[cell.policy], summary.mean, speed(summary.pods_per_second, summary.seconds));
    if (plan.seeds.size() > 1) table.row("  deviation", summary.deviation, "");
    if (report.recorded != nullptr) add_comparison(table, report, cell);
  }
  return table.take();
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
