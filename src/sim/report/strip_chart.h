#pragma once

#include "sim/report/chart.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::sim {

// Charts whose drawing stretches to any width beside text that does not: one drawing for all screens.

struct StripPoint {
  double x = 0;
  double y = 0;  ///< from here to the next point
};

/// One quantity over time as a stepped area.
struct Strip {
  std::string name;
  double high = 1;  ///< of its axis, which begins at 0
  std::string high_text;
  std::vector<StripPoint> points;  ///< by rising x; the last one ends it
};

/// Quantities over the same time, one above the other, all on one time axis.
struct StripChart {
  std::string title;
  ChartAxis x;
  std::vector<Strip> strips;
  std::string note;
};
std::string strip_chart_html(const StripChart& chart);

/// A rectangle in a row of a BlockChart; lanes divide the row's height.
struct Block {
  uint32_t row = 0;
  double lane = 0;
  double lanes = 1;
  double from = 0;
  double to = 0;
  uint8_t colour = 0;  ///< index into BlockChart::colours
};

struct BlockRow {
  std::string name;
  double lanes = 1;
};

/// Blocks in rows over time.
struct BlockChart {
  std::string title;
  ChartAxis x;
  std::vector<BlockRow> rows;
  std::vector<Block> blocks;
  std::vector<std::string> colours;  ///< what they mean; at most 6, from light to strong
  std::string note;
};
std::string block_chart_html(const BlockChart& chart);

}  // namespace weft::sim
