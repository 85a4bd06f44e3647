#include "sim/report/strip_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ChartAxis hour_axis() { return {.label = "time", .low = 0, .high = 3600, .unit = AxisUnit::kSeconds}; }

TEST(StripChart, StepsHoldUntilTheNextPoint) {
  const std::string html =
      strip_chart_html({.title = "t",
                        .x = hour_axis(),
                        .strips = {{.name = "use",
                                    .high = 8,
                                    .high_text = "8 GPUs",
                                    .points = {{0, 4}, {900, 8}, {1800, 8}, {2700, 100}, {3600, 0}}}}});
  EXPECT_THAT(html, HasSubstr("d=\"M0,100H0V50H250V0H1000V100H1000V100Z\""))
      << "a level that goes on is not repeated, and what is above the axis is held at its edge";
  EXPECT_THAT(html, HasSubstr("data-high=\"8\""));
  EXPECT_THAT(html, HasSubstr(">use<small>8 GPUs</small>"));
}

TEST(StripChart, NamesAreEscapedAndAnEmptyStripIsNoBug) {
  const std::string html = strip_chart_html({.title = "<t>",
                                             .x = hour_axis(),
                                             .strips = {{.name = "a<b\"", .high = 0, .high_text = {}, .points = {}}},
                                             .note = "<n>"});
  EXPECT_THAT(html, Not(HasSubstr("<t>")));
  EXPECT_THAT(html, Not(HasSubstr("<n>")));
  EXPECT_THAT(html, HasSubstr("a&lt;b&quot;"));
  EXPECT_THAT(html, Not(HasSubstr("a<b")));
  EXPECT_THAT(html, Not(HasSubstr("class=\"area")));
}

TEST(BlockChart, BlocksStandInTheirRowAndColour) {
  const std::string html =
      block_chart_html({.title = "nodes",
                        .x = hour_axis(),
                        .rows = {{.name = "n0", .lanes = 2}, {.name = "n<1>", .lanes = 2}},
                        .blocks = {{.row = 1, .lane = 1, .lanes = 1, .from = 900, .to = 902, .colour = 1}},
                        .colours = {"small", "large"}});
  // Lanes of 14 pixels, rows 3 apart: row 1 begins at 31, its lane 1 at 45. Two seconds are 0.6 of 1000 wide.
  EXPECT_THAT(html, HasSubstr("<path class=\"g1\" d=\"M250,45h0.6v13.4h-0.6z\"/>"));
  EXPECT_THAT(html, HasSubstr("<path class=\"g0\" d=\"\"/>"));
  EXPECT_THAT(html, HasSubstr("n&lt;1&gt;"));
  EXPECT_THAT(html, HasSubstr("style=\"height:62px\""));
}

TEST(BlockChart, WhereRowsAreThinOnlySomeAreNamed) {
  BlockChart chart{.title = "nodes", .x = hour_axis(), .rows = {}, .blocks = {}, .colours = {}};
  for (int i = 0; i < 60; ++i) chart.rows.push_back({.name = "row" + std::to_string(i), .lanes = 8});
  const std::string html = block_chart_html(chart);
  EXPECT_THAT(html, HasSubstr(">row0<"));
  EXPECT_THAT(html, Not(HasSubstr(">row1<"))) << "its name would stand on that of the first";
}

TEST(ChartAxis, TimesHaveTheStepsThatPeopleUse) {
  using ::testing::ElementsAre;
  EXPECT_THAT(axis_ticks(hour_axis()), ElementsAre(0, 900, 1800, 2700, 3600));
  EXPECT_THAT(axis_ticks({.label = "", .low = 0, .high = 90, .unit = AxisUnit::kSeconds}), ElementsAre(0, 30, 60, 90));
  EXPECT_THAT(axis_ticks({.label = "", .low = 0, .high = 86400.0 * 30000, .unit = AxisUnit::kSeconds}).size(), 6U);
  EXPECT_EQ(tick_text(hour_axis(), 5400), "1h30m");
  EXPECT_EQ(tick_text(hour_axis(), 0), "0");
}

TEST(ChartAxis, ALogarithmicAxisHasATickPerOrderOfMagnitude) {
  using ::testing::ElementsAre;
  const ChartAxis times{.label = "", .low = 1, .high = 90000, .scale = AxisScale::kLog, .unit = AxisUnit::kSeconds};
  EXPECT_THAT(axis_ticks(times), ElementsAre(1, 10, 60, 600, 3600, 21600, 86400));
  const ChartAxis numbers{.label = "", .low = 1, .high = 1000, .scale = AxisScale::kLog};
  EXPECT_THAT(axis_ticks(numbers), ElementsAre(1, 10, 100, 1000));
  EXPECT_DOUBLE_EQ(axis_share(numbers, 10), 1.0 / 3);
  EXPECT_DOUBLE_EQ(axis_share({.label = "", .low = 0, .high = 200}, 50), 0.25);
}

}  // namespace
}  // namespace weft::sim
