#include "base/text.h"
#include "sim/report/chart.h"
#include "sim/report/page.h"
#include "sim/saturation/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft::sim {

namespace {

using Measure = double SaturationColumn::*;
using Columns = std::array<SaturationColumn, kPercents>;

/// The cells of one workload, in the plan's order of policies.
std::vector<const CampaignCell*> cells_of(const SaturationReport& report, size_t workload) {
  std::vector<const CampaignCell*> cells;
  for (const CampaignCell& cell : report.result.cells) {
    if (cell.workload == workload) cells.push_back(&cell);
  }
  return cells;
}

ChartSeries series_of(const SaturationReport& report, const CampaignCell& cell, Measure measure) {
  ChartSeries series{.name = report.plan.policies[cell.policy], .points = {}};
  const SaturationSummary& summary = cell.summary;
  for (size_t percent = 0; percent < kPercents; ++percent) {
    series.points.push_back({.x = static_cast<double>(percent),
                             .y = summary.mean[percent].*measure,
                             .low = summary.low[percent].*measure,
                             .high = summary.high[percent].*measure});
  }
  return series;
}

/// Readers take it for a mistake that an empty cluster has fragments.
constexpr std::string_view kFragmentNote =
    "As in the published protocol, a pod without GPUs counts every free GPU as a fragment, for it can use none; where "
    "the "
    "list has such pods even an empty cluster does not begin at 0.";

struct ChartPlan {
  std::string_view title;
  std::string_view y_label;
  Measure measure;
  double x_low, y_low;
  std::string_view note = {};
};

std::string line_chart(const SaturationReport& report, const std::vector<const CampaignCell*>& cells,
                       const ChartPlan& plan) {
  LineChart chart{.title = std::string(plan.title),
                  .x = {.label = "% of the GPUs asked for by what has arrived", .low = plan.x_low, .high = 130},
                  .y = {.label = std::string(plan.y_label), .low = plan.y_low, .high = 100},
                  .series = {},
                  .note = std::string(plan.note)};
  for (const CampaignCell* cell : cells) chart.series.push_back(series_of(report, *cell, plan.measure));
  return line_chart_html(chart);
}

/// The largest multiple of five below every allocation from 80 % arrived on.
double zoom_floor(const std::vector<const CampaignCell*>& cells) {
  double low = 100;
  for (const CampaignCell* cell : cells) {
    for (size_t percent = 80; percent < kPercents; ++percent)
      low = std::min(low, cell->summary.low[percent].allocation);
  }
  return std::clamp(std::floor(low / 5) * 5, 0.0, 90.0);
}

std::string end_bars(const SaturationReport& report, const std::vector<const CampaignCell*>& cells) {
  BarChart chart{.title = "GPUs allocated when 130 % have been asked for",
                 .value = {.label = "% of all GPUs", .low = 0, .high = 100},
                 .bars = {},
                 .mark_name = {}};
  constexpr size_t kEnd = kPercents - 1;
  for (const CampaignCell* cell : cells) {
    const SaturationSummary& summary = cell->summary;
    Bar bar{.name = report.plan.policies[cell->policy],
            .value = summary.mean[kEnd].allocation,
            .low = summary.low[kEnd].allocation,
            .high = summary.high[kEnd].allocation};
    if (const std::optional<Comparison> comparison = compare(report, *cell)) {
      bar.mark = comparison->recorded[kEnd].allocation;
      chart.mark_name = "recorded mean";
    }
    chart.bars.push_back(std::move(bar));
  }
  return bar_chart_html(chart);
}

std::string cell_text(const Columns& columns, size_t percent, Measure measure) {
  const double value = columns[percent].*measure;
  return std::isnan(value) ? "-" : fmt::format("{:.2f}", value);
}

PageTable summary_table(const SaturationReport& report, const std::vector<const CampaignCell*>& cells) {
  PageTable table;
  table.header = {"policy"};
  for (const int percent : {85, 90, 95, 100, 110, 130})
    table.header.push_back(fmt::format("% of GPUs allocated at {} %", percent));
  for (const int percent : {50, 70, 90, 95})
    table.header.push_back(fmt::format("% of free GPUs in fragments at {} %", percent));
  table.header.insert(table.header.end(), {"pods/s", "s per run"});
  const auto row = [&](std::string label, const Columns& columns) {
    std::vector<std::string> cellsof{std::move(label)};
    for (const size_t percent : {85, 90, 95, 100, 110, 130})
      cellsof.push_back(cell_text(columns, percent, &SaturationColumn::allocation));
    for (const size_t percent : {50, 70, 90, 95})
      cellsof.push_back(cell_text(columns, percent, &SaturationColumn::fragment_ratio));
    return cellsof;
  };
  for (const CampaignCell* cell : cells) {
    table.rows.push_back(row(report.plan.policies[cell->policy], cell->summary.mean));
    table.rows.back().push_back(format_count(std::llround(cell->summary.pods_per_second)));
    table.rows.back().push_back(fmt::format("{:.3f}", cell->summary.seconds));
    if (const std::optional<Comparison> comparison = compare(report, *cell)) {
      table.rows.push_back(row(fmt::format("{} recorded", report.plan.policies[cell->policy]), comparison->recorded));
      table.rows.back().insert(table.rows.back().end(), {"", comparison->is_within()   ? "within"
                                                             : comparison->is_chance() ? "unknown"
                                                                                       : "differs"});
    }
  }
  return table;
}

PageTable percent_table(const SaturationReport& report, const std::vector<const CampaignCell*>& cells) {
  PageTable table;
  table.header = {"arrived %"};
  for (const CampaignCell* cell : cells) {
    const std::string& policy = report.plan.policies[cell->policy];
    table.header.push_back(policy + " allocated, %");
    table.header.push_back(policy + " fragments, % of free");
  }
  for (size_t percent = 0; percent < kPercents; ++percent) {
    std::vector<std::string> row{fmt::format("{}", percent)};
    for (const CampaignCell* cell : cells) {
      row.push_back(cell_text(cell->summary.mean, percent, &SaturationColumn::allocation));
      row.push_back(cell_text(cell->summary.mean, percent, &SaturationColumn::fragment_ratio));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string html_report(const SaturationReport& report) {
  const CampaignPlan& plan = report.plan;
  Page page{.title = fmt::format("Filling a cluster with pods for {:g} % of its GPUs", plan.ratio * 100),
            .subtitle = fmt::format("{} nodes with {} GPUs; {} per policy. Pods only arrive, in random order, until "
                                    "they have asked for {:g} % of the GPUs; "
                                    "one that finds no place is dropped. Lines are means over the seeds, bands reach "
                                    "from the lowest to the highest.",
                                    format_count(static_cast<int64_t>(plan.nodes.size())),
                                    format_count(gpu_milli_of(plan.nodes) / 1000),
                                    format_count(static_cast<int64_t>(plan.seeds.size()), "seed"), plan.ratio * 100),
            .sections = {}};
  for (size_t workload = 0; workload < plan.workloads.size(); ++workload) {
    const std::vector<const CampaignCell*> cells = cells_of(report, workload);
    PageSection section{
        .title = plan.workloads[workload].name,
        .paragraphs = {fmt::format("{} pods in the list.",
                                   format_count(static_cast<int64_t>(plan.workloads[workload].pods.size())))},
        .html = end_bars(report, cells),
        .table = summary_table(report, cells),
        .details_title = "Every percent",
        .details = percent_table(report, cells)};
    const double floor = zoom_floor(cells);
    section.html += line_chart(
        report, cells, {"GPUs allocated, near the end", "% of all GPUs", &SaturationColumn::allocation, 80, floor});
    section.html += line_chart(report, cells,
                               {"Free GPUs that the next task cannot use", "fragments, % of the free GPUs",
                                &SaturationColumn::fragment_ratio, 0, 0, kFragmentNote});
    section.html += line_chart(report, cells, {"GPUs allocated", "% of all GPUs", &SaturationColumn::allocation, 0, 0});
    page.sections.push_back(std::move(section));
  }
  return page_html(page);
}

}  // namespace weft::sim
