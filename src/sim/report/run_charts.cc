#include "sim/report/run_charts.h"

#include "base/printable.h"
#include "base/text.h"
#include "sim/report/chart.h"
#include "sim/report/run_format.h"
#include "sim/report/strip_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::sim {

namespace {

ChartAxis time_axis(double length) {
  return {.label = "time since the first submission", .low = 0, .high = length, .unit = AxisUnit::kSeconds};
}

double longest(const NamedRuns& runs) {
  double length = 0;
  for (const NamedRun& run : runs) length = std::max(length, run.report->picture.length);
  return length;
}

bool has_steps(const NamedRuns& runs) {
  return std::ranges::any_of(runs, [](const NamedRun& run) { return run.report->picture.steps.size() > 1; });
}

Strip strip_of(std::string name, const RunPicture& picture, double UseStep::* value) {
  Strip strip{.name = std::move(name), .high = 0, .high_text = {}, .points = {}};
  for (const UseStep& step : picture.steps) {
    strip.points.push_back({.x = step.at, .y = step.*value});
    strip.high = std::max(strip.high, step.*value);
  }
  return strip;
}

/// All strips on the axis of the highest.
void share_axis(std::vector<Strip>& strips, std::string_view what) {
  double high = 0;
  for (const Strip& strip : strips) high = std::max(high, strip.high);
  for (Strip& strip : strips) {
    strip.high = high;
    strip.high_text = fmt::format("{} {}", number_text(std::round(high)), what);
  }
}

std::string step_note(const NamedRuns& runs) {
  double step = 0;
  for (const NamedRun& run : runs) step = std::max(step, run.report->picture.step_seconds);
  return step > 0
             ? fmt::format("Each step is the mean over {}; peaks shorter than that are not seen.", duration_text(step))
             : "";
}

std::string one_run_use(const NamedRuns& runs) {
  const RunReport& report = *runs.front().report;
  StripChart chart{
      .title = "The cluster over time", .x = time_axis(longest(runs)), .strips = {}, .note = step_note(runs)};
  Strip used = strip_of("GPUs in use", report.picture, &UseStep::used_gpus);
  used.high = report.facts.gpus;
  used.high_text = fmt::format("top: all {}", number_text(used.high));
  chart.strips.push_back(std::move(used));
  for (const auto& [name, value] :
       {std::pair{"GPUs that waiting jobs ask for", &UseStep::pending_gpus},
        std::pair{"jobs waiting", &UseStep::pending}, std::pair{"jobs running", &UseStep::running}}) {
    Strip strip = strip_of(name, report.picture, value);
    strip.high_text = fmt::format("top: {}", number_text(std::round(strip.high)));
    chart.strips.push_back(std::move(strip));
  }
  return strip_chart_html(chart);
}

std::string many_runs_use(const NamedRuns& runs) {
  StripChart use{.title = "GPUs in use over time", .x = time_axis(longest(runs)), .strips = {}, .note = {}};
  StripChart queue{.title = "Jobs waiting over time", .x = use.x, .strips = {}, .note = step_note(runs)};
  for (const NamedRun& run : runs) {
    use.strips.push_back(strip_of(run.name, run.report->picture, &UseStep::used_gpus));
    use.strips.back().high = run.report->facts.gpus;
    queue.strips.push_back(strip_of(run.name, run.report->picture, &UseStep::pending));
  }
  share_axis(use.strips, "GPUs");
  share_axis(queue.strips, "jobs");
  return strip_chart_html(use) + strip_chart_html(queue);
}

using Cdf = std::vector<CdfPoint> RunPicture::*;

/// The edges of an axis of times: round below, and the longest.
ChartAxis cdf_axis(std::string label, const std::vector<const std::vector<CdfPoint>*>& curves) {
  double shortest = 1e300, longest_time = 0;
  for (const auto* curve : curves) {
    if (curve->empty()) continue;
    shortest = std::min(shortest, curve->front().seconds);
    longest_time = std::max(longest_time, curve->back().seconds);
  }
  double low = 1;
  for (const double round : {10.0, 60.0, 600.0, 3600.0}) {
    if (round <= shortest) low = round;
  }
  return {.label = std::move(label),
          .low = low,
          .high = std::max(longest_time, low * 10),
          .scale = AxisScale::kLog,
          .unit = AxisUnit::kSeconds};
}

ChartSeries cdf_series(std::string name, const std::vector<CdfPoint>& curve, const ChartAxis& axis) {
  ChartSeries series{.name = std::move(name), .points = {}};
  const auto add = [&](double x, double share) {
    series.points.push_back({.x = x, .y = share * 100, .low = share * 100, .high = share * 100});
  };
  for (const CdfPoint& point : curve) {
    // What is too short for the axis is one point at its edge.
    if (point.seconds <= axis.low && !series.points.empty()) series.points.pop_back();
    add(std::max(point.seconds, axis.low), point.share);
  }
  if (!curve.empty() && series.points.back().x < axis.high) add(axis.high, 1);
  return series;
}

struct CdfCurve {
  std::string name;
  const std::vector<CdfPoint>* points;
};

std::string cdf_chart(std::string title, std::string x_label, const std::vector<CdfCurve>& curves) {
  std::vector<const std::vector<CdfPoint>*> points;
  for (const CdfCurve& curve : curves) points.push_back(curve.points);
  if (std::ranges::all_of(points, [](const auto* curve) { return curve->empty(); })) return {};
  LineChart chart{.title = std::move(title),
                  .x = cdf_axis(std::move(x_label), points),
                  .y = {.label = "% of the jobs that ended", .low = 0, .high = 100},
                  .series = {},
                  .note = {}};
  for (const CdfCurve& curve : curves) chart.series.push_back(cdf_series(curve.name, *curve.points, chart.x));
  return line_chart_html(chart);
}

struct BarPlan {
  std::string_view title;
  double (*value)(const RunMetrics& metrics);
};

std::string bars(const NamedRuns& runs, const BarPlan& plan) {
  BarChart chart{.title = std::string(plan.title),
                 .value = {.label = "", .low = 0, .high = 0, .unit = AxisUnit::kSeconds},
                 .bars = {},
                 .mark_name = {}};
  for (const NamedRun& run : runs) {
    const double value = plan.value(run.report->metrics);
    if (!std::isfinite(value)) continue;
    chart.bars.push_back({.name = run.name, .value = value, .low = value, .high = value, .text = duration_text(value)});
    chart.value.high = std::max(chart.value.high, value * 1.15);
  }
  return chart.value.high > 0 ? bar_chart_html(chart) : std::string();
}

std::string left_out_note(const NodeTimeline& timeline) {
  std::string note;
  if (timeline.rows.size() < timeline.nodes) {
    note = fmt::format("{} of {} nodes are shown, evenly chosen. ", timeline.rows.size(),
                       format_count(static_cast<int64_t>(timeline.nodes)));
  }
  if (timeline.periods_left_out > 0) {
    note += fmt::format(
        "{} of {} periods in which a job ran are shown; the others are the smallest and have {} of the "
        "GPU time. ",
        format_count(static_cast<int64_t>(timeline.periods - timeline.periods_left_out)),
        format_count(static_cast<int64_t>(timeline.periods)), percent_text(timeline.left_out_share));
  }
  return note + "A row is as high as the most GPUs that its node had in use.";
}

}  // namespace

std::string use_charts(const NamedRuns& runs) {
  if (!has_steps(runs)) return {};
  return runs.size() == 1 ? one_run_use(runs) : many_runs_use(runs);
}

std::string cdf_charts(const NamedRuns& runs) {
  if (runs.size() == 1) {
    const RunPicture& picture = runs.front().report->picture;
    return cdf_chart("How long jobs took", "time, 1s and less at the edge",
                     {{"from submission to end (JCT)", &picture.jct}, {"of it waiting", &picture.waited}});
  }
  std::vector<CdfCurve> jct, waited;
  for (const NamedRun& run : runs) {
    jct.push_back({run.name, &run.report->picture.jct});
    waited.push_back({run.name, &run.report->picture.waited});
  }
  return cdf_chart("Jobs done within a time of their submission (JCT)", "time from submission to end", jct) +
         cdf_chart("Jobs that waited no longer than a time", "waiting, 1s and less at the edge", waited);
}

std::string comparison_bars(const NamedRuns& runs) {
  return bars(runs, {"Mean JCT", [](const RunMetrics& m) { return m.all.jct.mean; }}) +
         bars(runs, {"p99 JCT: one job in a hundred took longer", [](const RunMetrics& m) { return m.all.jct.p99; }});
}

std::string node_chart(const RunReport& report) {
  const NodeTimeline& timeline = report.picture.timeline;
  if (timeline.bars.empty()) return {};
  BlockChart chart{.title = "Jobs on nodes",
                   .x = time_axis(report.picture.length),
                   .rows = {},
                   .blocks = {},
                   .colours = {},
                   .note = left_out_note(timeline)};
  for (const NodeRow& row : timeline.rows) {
    chart.rows.push_back({.name = printable(row.name), .lanes = static_cast<double>(row.lanes)});
  }
  for (const NodeBar& bar : timeline.bars) {
    chart.blocks.push_back({.row = bar.row,
                            .lane = static_cast<double>(bar.lane),
                            .lanes = static_cast<double>(bar.lanes),
                            .from = bar.from,
                            .to = bar.to,
                            .colour = bar.size_class});
  }
  for (size_t c = 0; c < kSizeClasses; ++c) {
    chart.colours.push_back(fmt::format("{} {}", size_class_name(c), c == 0 ? "GPU" : "GPUs"));
  }
  return block_chart_html(chart);
}

}  // namespace weft::sim
