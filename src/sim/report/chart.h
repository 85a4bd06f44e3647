#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

// Charts as SVG inside HTML, drawn here: they need no library, no network and no script to be seen. Each comes in two
// widths, of which the page's style sheet (sim/report/page.h) shows one, so that text keeps its size on a phone.
// Colours are classes s0, s1, … of the style sheet; lines differ in their dashes too, for readers and printers without
// colours.

enum class AxisScale : unsigned char { kLinear, kLog };
enum class AxisUnit : unsigned char { kNumber, kSeconds };  ///< kSeconds: shown as 10s, 1m, 2h, 3d

struct ChartAxis {
  std::string label;
  double low = 0;  ///< above zero where the scale is logarithmic
  double high = 100;
  AxisScale scale = AxisScale::kLinear;
  AxisUnit unit = AxisUnit::kNumber;
};

struct ChartPoint {
  double x = 0;
  double y = 0;    ///< NaN: the line is broken here
  double low = 0;  ///< of the band around the line
  double high = 0;
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;  ///< by rising x; those outside of the axes are left out
};

struct LineChart {
  std::string title;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;  ///< at most 8 differ in colour, 12 in their dashes
  std::string note;                 ///< said below it; nothing when empty
};

struct Bar {
  std::string name;
  double value = 0;
  double low = 0;  ///< of a whisker
  double high = 0;
  double mark = std::numeric_limits<double>::quiet_NaN();  ///< a mark to compare with; NaN: none
  std::string text = {};                                   ///< at its end; empty: the value with two decimals
};

struct BarChart {
  std::string title;
  ChartAxis value;  ///< low should be 0: a bar's length is read as its amount
  std::vector<Bar> bars;
  std::string mark_name;  ///< what the marks are; empty: there are none
};

/// A <figure>. Cost: O(points).
std::string line_chart_html(const LineChart& chart);
std::string bar_chart_html(const BarChart& chart);

/// Text for HTML and SVG, also inside attributes.
std::string html_text(std::string_view text);

/// Round positions for grid lines, 3 to 9 of them, from `axis.low` on; on a linear axis of numbers the last is
/// `axis.high`, round or not, so that it is seen where the axis ends.
std::vector<double> axis_ticks(const ChartAxis& axis);
std::string tick_text(const ChartAxis& axis, double value);
/// Where on the axis a value is, from 0 (low) to 1 (high).
double axis_share(const ChartAxis& axis, double value);

/// "s0", "s1", …: the style sheet's class of a series.
std::string series_class(size_t series);

}  // namespace weft::sim
