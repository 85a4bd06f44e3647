#include "sim/report/strip_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace weft::sim {

namespace {

constexpr double kWidth = 1000;  // of the view box: stretched to what there is
constexpr double kStripHeight = 100;

template <typename... Args>
void add(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

double place(const ChartAxis& axis, double x) { return std::clamp(axis_share(axis, x), 0.0, 1.0) * kWidth; }

/// A coordinate with one decimal, without ".0": thousands of them stand in a page.
std::string coordinate(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

void add_time_lines(std::string& out, const ChartAxis& axis, double height) {
  out += "<path class=\"rule\" d=\"";
  for (const double tick : axis_ticks(axis)) add(out, "M{},0V{}", coordinate(place(axis, tick)), coordinate(height));
  out += "\"/>";
}

void add_time_axis(std::string& out, const ChartAxis& axis) {
  out += "<div class=\"ticks\">";
  for (const double tick : axis_ticks(axis)) {
    const double percent = place(axis, tick) / kWidth * 100;
    add(out, "<span class=\"{}\" style=\"left:{:.2f}%\">{}</span>", percent > 96 ? "last" : "at", percent,
        html_text(tick_text(axis, tick)));
  }
  add(out, "</div>\n<p class=\"axis under\">{}</p>\n", html_text(axis.label));
}

void add_strip(std::string& out, const StripChart& chart, const Strip& strip, size_t number) {
  add(out,
      "<div class=\"strip\"><div class=\"strip-name\">{}<small>{}</small></div><svg viewBox=\"0 0 {} {}\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\" data-high=\"{:.6g}\">",
      html_text(strip.name), html_text(strip.high_text), kWidth, kStripHeight, html_text(strip.name), strip.high);
  add_time_lines(out, chart.x, kStripHeight);
  add(out, "<path class=\"rule\" d=\"M0,0H{}M0,{}H{}\"/>", kWidth, kStripHeight, kWidth);
  if (!strip.points.empty()) {
    add(out, "<path class=\"area {}\" d=\"M{},{}", series_class(number),
        coordinate(place(chart.x, strip.points.front().x)), kStripHeight);
    std::string last;
    for (const StripPoint& point : strip.points) {
      const double y = strip.high > 0 ? std::clamp(point.y / strip.high, 0.0, 1.0) : 0;
      std::string level = coordinate(kStripHeight * (1 - y));
      if (level == last) continue;  // it goes on as it was
      add(out, "H{}V{}", coordinate(place(chart.x, point.x)), level);
      last = std::move(level);
    }
    add(out, "H{}V{}Z\"/>", coordinate(place(chart.x, strip.points.back().x)), kStripHeight);
  }
  out += "</svg></div>\n";
}

/// Where rows and lanes are, in pixels.
struct BlockLayout {
  double lane = 1;
  double gap = 2;
  std::vector<double> tops;
  double height = 0;
};

BlockLayout lay_out(const BlockChart& chart) {
  constexpr double kHeightMax = 560;
  double lanes = 0;
  for (const BlockRow& row : chart.rows) lanes += std::max(row.lanes, 1.0);
  BlockLayout layout;
  layout.gap = chart.rows.size() > 40 ? 1 : 3;
  const double free = kHeightMax - layout.gap * static_cast<double>(chart.rows.size());
  layout.lane = std::clamp(free / lanes, 0.4, 14.0);
  for (const BlockRow& row : chart.rows) {
    layout.tops.push_back(layout.height);
    layout.height += std::max(row.lanes, 1.0) * layout.lane + layout.gap;
  }
  return layout;
}

void add_row_names(std::string& out, const BlockChart& chart, const BlockLayout& layout) {
  constexpr double kTextHeight = 13;
  out += "<div class=\"rows\">";
  double free_from = 0;
  for (size_t i = 0; i < chart.rows.size(); ++i) {
    const double middle = layout.tops[i] + std::max(chart.rows[i].lanes, 1.0) * layout.lane / 2;
    const double top = std::max(middle - kTextHeight / 2, 0.0);
    if (top < free_from) continue;
    free_from = top + kTextHeight;
    add(out, "<span style=\"top:{:.1f}px\">{}</span>", top, html_text(chart.rows[i].name));
  }
  out += "</div>";
}

/// All blocks of one colour are one path. Small gaps tell neighbours apart where there is room for them.
void add_blocks(std::string& out, const BlockChart& chart, const BlockLayout& layout, size_t colour) {
  add(out, "<path class=\"g{}\" d=\"", colour);
  for (const Block& block : chart.blocks) {
    if (block.colour != colour) continue;
    const double x = place(chart.x, block.from);
    double width = place(chart.x, block.to) - x;
    double height = block.lanes * layout.lane;
    width = std::max(width > 3 ? width - 0.8 : width, 0.2);
    if (height > 3) height -= 0.6;
    add(out, "M{},{}h{}v{}h-{}z", coordinate(x), coordinate(layout.tops[block.row] + block.lane * layout.lane),
        coordinate(width), coordinate(height), coordinate(width));
  }
  out += "\"/>";
}

void add_row_lines(std::string& out, const BlockLayout& layout) {
  out += "<path class=\"rule\" d=\"";
  for (const double top : layout.tops) add(out, "M0,{}H{}", coordinate(top - layout.gap / 2), kWidth);
  add(out, "M0,{}H{}\"/>", coordinate(layout.height - layout.gap / 2), kWidth);
}

void add_colours(std::string& out, const std::vector<std::string>& colours) {
  out += "<ul class=\"legend\">";
  for (size_t i = 0; i < colours.size(); ++i) {
    add(out,
        "<li><svg viewBox=\"0 0 14 10\" width=\"14\" height=\"10\" aria-hidden=\"true\"><path class=\"g{}\" "
        "d=\"M0,0h14v10h-14z\"/></svg>{}</li>",
        i, html_text(colours[i]));
  }
  out += "</ul>\n";
}

}  // namespace

std::string strip_chart_html(const StripChart& chart) {
  std::string out;
  add(out, "<figure class=\"strips\"><figcaption>{}</figcaption>\n<div class=\"plot\">\n", html_text(chart.title));
  for (size_t i = 0; i < chart.strips.size(); ++i) add_strip(out, chart, chart.strips[i], i);
  out += "<div class=\"tip\" hidden></div></div>\n";
  add_time_axis(out, chart.x);
  if (!chart.note.empty()) add(out, "<p class=\"note\">{}</p>\n", html_text(chart.note));
  add(out, "<script type=\"application/json\">{{\"x\":[{},{}]}}</script></figure>\n", chart.x.low, chart.x.high);
  return out;
}

std::string block_chart_html(const BlockChart& chart) {
  const BlockLayout layout = lay_out(chart);
  std::string out;
  add(out, "<figure class=\"blocks\"><figcaption>{}</figcaption>\n", html_text(chart.title));
  add_colours(out, chart.colours);
  add(out, "<div class=\"block-plot\" style=\"height:{:.0f}px\">", layout.height);
  add_row_names(out, chart, layout);
  add(out, "<svg viewBox=\"0 0 {} {:.1f}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">", kWidth,
      layout.height, html_text(chart.title));
  add_time_lines(out, chart.x, layout.height);
  add_row_lines(out, layout);
  for (size_t colour = 0; colour < chart.colours.size(); ++colour) add_blocks(out, chart, layout, colour);
  out += "</svg></div>\n";
  add_time_axis(out, chart.x);
  if (!chart.note.empty()) add(out, "<p class=\"note\">{}</p>\n", html_text(chart.note));
  out += "</figure>\n";
  return out;
}

}  // namespace weft::sim
