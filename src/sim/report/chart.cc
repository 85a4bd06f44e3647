#include "sim/report/chart.h"

#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace weft::sim {

namespace {

/// Where a drawing puts things, in the units of its view box (CSS pixels at full size).
struct Frame {
  std::string_view name;  ///< class of the drawing
  double width, height;
  double left, right, top, bottom;  ///< margins

  double x(const ChartAxis& axis, double value) const {
    return left + axis_share(axis, value) * (width - left - right);
  }
  double y(const ChartAxis& axis, double value) const {
    return height - bottom - axis_share(axis, value) * (height - top - bottom);
  }
};

constexpr Frame kWide{.name = "wide", .width = 760, .height = 360, .left = 52, .right = 16, .top = 12, .bottom = 44};
constexpr Frame kNarrow{.name = "narrow", .width = 358, .height = 300, .left = 40, .right = 8, .top = 10, .bottom = 42};

class Drawing {
 public:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void open_svg(Drawing& out, const Frame& frame, std::string_view title) {
  out.add("<svg class=\"chart {}\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", frame.name, frame.width,
          frame.height, html_text(title));
}

void draw_axes(Drawing& out, const Frame& frame, const LineChart& chart) {
  for (const double tick : axis_ticks(chart.y)) {
    const double y = frame.y(chart.y, tick);
    out.add("<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", frame.left, y,
            frame.width - frame.right, y);
    out.add("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", frame.left - 6, y + 4,
            tick_text(chart.y, tick));
  }
  for (const double tick : axis_ticks(chart.x)) {
    const double x = frame.x(chart.x, tick);
    const double bottom = frame.height - frame.bottom;
    out.add("<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", x, bottom, x, bottom + 5);
    const bool is_at_edge = x > frame.width - 14;  // the middle of the number would push its end out of the drawing
    out.add("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
            is_at_edge ? frame.width - 1 : x, bottom + 18, is_at_edge ? "end" : "middle", tick_text(chart.x, tick));
  }
  out.add("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
          (frame.left + frame.width - frame.right) / 2, frame.height - 6, html_text(chart.x.label));
}

/// The points inside of the axes, with values held at the edge; a break where there is none.
std::vector<std::vector<ChartPoint>> visible_runs(const LineChart& chart, const ChartSeries& series) {
  std::vector<std::vector<ChartPoint>> runs(1);
  for (ChartPoint point : series.points) {
    if (point.x < chart.x.low || point.x > chart.x.high) continue;
    if (std::isnan(point.y)) {
      if (!runs.back().empty()) runs.emplace_back();
      continue;
    }
    for (double* value : {&point.y, &point.low, &point.high}) *value = std::clamp(*value, chart.y.low, chart.y.high);
    runs.back().push_back(point);
  }
  return runs;
}

void draw_series(Drawing& out, const Frame& frame, const LineChart& chart, size_t series) {
  const bool has_band =
      std::ranges::any_of(chart.series[series].points, [](const ChartPoint& p) { return p.low != p.high; });
  for (const std::vector<ChartPoint>& run : visible_runs(chart, chart.series[series])) {
    if (run.empty()) continue;
    if (has_band) {
      out.add("<path class=\"band {}\" d=\"M", series_class(series));
      for (const ChartPoint& p : run) out.add("{:.1f},{:.1f} ", frame.x(chart.x, p.x), frame.y(chart.y, p.high));
      for (auto p = run.rbegin(); p != run.rend(); ++p)
        out.add("{:.1f},{:.1f} ", frame.x(chart.x, p->x), frame.y(chart.y, p->low));
      out.add("Z\"/>");
    }
    out.add("<path class=\"line {}\" d=\"M", series_class(series));
    for (const ChartPoint& p : run) out.add("{:.1f},{:.1f} ", frame.x(chart.x, p.x), frame.y(chart.y, p.y));
    out.add("\"/>\n");
  }
}

/// What the page's script needs to tell values at the pointer: the axes' ends in the drawing and the points.
void add_hover_data(Drawing& out, const LineChart& chart) {
  out.add("<script type=\"application/json\">{{\"x\":[{},{}],\"log\":{},\"seconds\":{},\"unit\":\"{}\",\"series\":[",
          chart.x.low, chart.x.high, chart.x.scale == AxisScale::kLog, chart.x.unit == AxisUnit::kSeconds,
          html_text(chart.x.label));
  for (size_t s = 0; s < chart.series.size(); ++s) {
    out.add("{}{{\"name\":\"{}\",\"points\":[", s > 0 ? "," : "", html_text(chart.series[s].name));
    bool is_first = true;
    for (const ChartPoint& p : chart.series[s].points) {
      if (std::isnan(p.y) || p.x < chart.x.low || p.x > chart.x.high) continue;
      out.add("{}[{:.6g},{:.2f}]", is_first ? "" : ",", p.x, p.y);
      is_first = false;
    }
    out.add("]}}");
  }
  out.add("]}}</script>\n");
}

void draw_legend(Drawing& out, const std::vector<ChartSeries>& series) {
  out.add("<ul class=\"legend\">");
  for (size_t s = 0; s < series.size(); ++s) {
    out.add(
        "<li><svg viewBox=\"0 0 28 10\" width=\"28\" height=\"10\" aria-hidden=\"true\"><path class=\"line {}\" "
        "d=\"M1,5 27,5\"/></svg>{}</li>",
        series_class(s), html_text(series[s].name));
  }
  out.add("</ul>\n");
}

size_t longest_name(const BarChart& chart) {
  size_t longest = 0;
  for (const Bar& bar : chart.bars) longest = std::max(longest, bar.name.size());
  return longest;
}

void draw_bar(Drawing& out, const Frame& frame, const BarChart& chart, size_t i) {
  const Bar& bar = chart.bars[i];
  constexpr double kRow = 30;
  const double y = frame.top + kRow * static_cast<double>(i);
  const double middle = y + 10;
  const double end = frame.x(chart.value, std::clamp(bar.value, chart.value.low, chart.value.high));
  out.add("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", frame.left - 8, middle + 4,
          html_text(bar.name));
  out.add("<rect class=\"bar {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"20\"/>", series_class(i),
          frame.left, y, std::max(end - frame.left, 0.0));
  out.add("<line class=\"whisker\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>",
          frame.x(chart.value, bar.low), middle, frame.x(chart.value, bar.high), middle);
  if (!std::isnan(bar.mark)) {
    const double x = frame.x(chart.value, bar.mark);
    out.add("<line class=\"mark\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", x, y - 4, x, y + 24);
  }
  const double text_x =
      frame.x(chart.value, std::max({bar.value, bar.high, std::isnan(bar.mark) ? bar.value : bar.mark})) + 8;
  out.add("<text class=\"value\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", text_x, middle + 4,
          bar.text.empty() ? fmt::format("{:.2f}", bar.value) : html_text(bar.text));
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : as_utf8(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\\': out += "&#92;"; break;  // also keeps the JSON for the script sound
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string line_chart_html(const LineChart& chart) {
  Drawing out;
  out.add("<figure class=\"lines\"><figcaption>{}</figcaption>\n", html_text(chart.title));
  draw_legend(out, chart.series);
  out.add("<p class=\"axis\">{}</p>\n<div class=\"plot\">\n", html_text(chart.y.label));
  for (const Frame& frame : {kWide, kNarrow}) {
    open_svg(out, frame, chart.title);
    draw_axes(out, frame, chart);
    for (size_t series = 0; series < chart.series.size(); ++series) draw_series(out, frame, chart, series);
    out.add(
        "<line class=\"cursor\" x1=\"0\" x2=\"0\" y1=\"{}\" y2=\"{}\" data-left=\"{}\" data-right=\"{}\"/>\n</svg>\n",
        frame.top, frame.height - frame.bottom, frame.left, frame.width - frame.right);
  }
  out.add("<div class=\"tip\" hidden></div></div>\n");
  if (!chart.note.empty()) out.add("<p class=\"note\">{}</p>\n", html_text(chart.note));
  add_hover_data(out, chart);
  out.add("</figure>\n");
  return out.take();
}

std::string bar_chart_html(const BarChart& chart) {
  Drawing out;
  out.add("<figure class=\"bars\"><figcaption>{}</figcaption>\n", html_text(chart.title));
  const double label_height = chart.value.label.empty() ? 0 : 18;
  const double height = 30 * static_cast<double>(chart.bars.size()) + 28 + label_height;
  for (Frame frame : {kWide, kNarrow}) {
    const bool is_wide = frame.name == kWide.name;
    const double names = 7.2 * static_cast<double>(longest_name(chart)) + 12;
    frame.left = is_wide ? std::clamp(names, 96.0, 200.0) : std::clamp(names, 78.0, 130.0);
    frame.right = is_wide ? 64 : 52;
    frame.height = height;
    open_svg(out, frame, chart.title);
    for (const double tick : axis_ticks(chart.value)) {
      const double x = frame.x(chart.value, tick);
      out.add("<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", x, frame.top - 6, x,
              height - 20 - label_height);
      out.add("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x,
              height - 4 - label_height, tick_text(chart.value, tick));
    }
    for (size_t i = 0; i < chart.bars.size(); ++i) draw_bar(out, frame, chart, i);
    out.add("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n</svg>\n",
            (frame.left + frame.width - frame.right) / 2, height - 4, html_text(chart.value.label));
  }
  if (!chart.mark_name.empty())
    out.add("<p class=\"note\"><span class=\"mark-key\"></span> {}</p>\n", html_text(chart.mark_name));
  out.add("</figure>\n");
  return out.take();
}

}  // namespace weft::sim
