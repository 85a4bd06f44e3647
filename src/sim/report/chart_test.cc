#include "sim/report/chart.h"

#include "sim/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace weft::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

size_t count_of(std::string_view text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

TEST(Chart, TicksAreRoundAndInsideTheAxis) {
  EXPECT_THAT(axis_ticks({.label = "", .low = 0, .high = 100}), ElementsAre(0, 25, 50, 75, 100));
  EXPECT_THAT(axis_ticks({.label = "", .low = 80, .high = 130}), ElementsAre(80, 90, 100, 110, 120, 130));
  EXPECT_THAT(axis_ticks({.label = "", .low = 85, .high = 100}), ElementsAre(85, 90, 95, 100));
  EXPECT_THAT(axis_ticks({.label = "", .low = 0, .high = 130}), ElementsAre(0, 25, 50, 75, 100, 130))
      << "the end is shown, and 125 would stand in its way";
  EXPECT_THAT(axis_ticks({.label = "", .low = 0, .high = 120}), ElementsAre(0, 25, 50, 75, 100, 120));
  EXPECT_THAT(axis_ticks({.label = "", .low = 0, .high = 118}), ElementsAre(0, 25, 50, 75, 100, 118));
  for (const double high : {0.3, 1.0, 7.0, 99.0, 12345.0}) {
    const auto ticks = axis_ticks({.label = "", .low = 0, .high = high});
    EXPECT_GE(ticks.size(), 3U) << high;
    EXPECT_LE(ticks.size(), 9U) << high;
    EXPECT_NEAR(ticks.back(), high, high * 1e-9) << high;
  }
  EXPECT_EQ(axis_ticks({.label = "", .low = 5, .high = 5}).size(), 1U);
}

LineChart two_lines() {
  return {.title = "a <b> & \"c\"",
          .x = {.label = "x", .low = 0, .high = 10},
          .y = {.label = "y", .low = 0, .high = 10},
          .series = {{.name = "one", .points = {{0, 1, 1, 1}, {5, NAN, 0, 0}, {10, 2, 2, 2}}},
                     {.name = "two", .points = {{0, 50, 40, 60}, {20, 1, 1, 1}}}}};
}

TEST(Chart, ALineIsBrokenWhereThereIsNoValue) {
  const std::string html = line_chart_html(two_lines());
  EXPECT_EQ(count_of(html, "<path class=\"line s0\""), 5U) << "two pieces in each of two drawings, and the legend";
  EXPECT_EQ(count_of(html, "<path class=\"band s1\""), 2U);
  EXPECT_EQ(count_of(html, "<svg class=\"chart"), 2U);
}

TEST(Chart, ValuesOutsideTheAxesAreHeldAtTheEdgeOrLeftOut) {
  LineChart chart = two_lines();
  chart.series.erase(chart.series.begin());
  const std::string html = line_chart_html(chart);
  EXPECT_THAT(html, HasSubstr("M52.0,12.0 \"")) << "y = 50 is drawn at the upper edge, and x = 20 is not drawn";
  EXPECT_THAT(html, HasSubstr("\"points\":[[0,50.00]]"));
}

TEST(Chart, ANoteStandsBelowOnlyWhereThereIsOne) {
  LineChart chart = two_lines();
  EXPECT_THAT(line_chart_html(chart), Not(HasSubstr("class=\"note\"")));
  chart.note = "one < two";
  EXPECT_THAT(line_chart_html(chart), HasSubstr("<p class=\"note\">one &lt; two</p>"));
}

TEST(Chart, TextIsEscaped) {
  const std::string html = line_chart_html(two_lines());
  EXPECT_THAT(html, HasSubstr("a &lt;b&gt; &amp; &quot;c&quot;"));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_EQ(html_text("a\\b\n"), "a&#92;b ");
}

TEST(Chart, BarsShowTheirValueAndTheMarkBesideThem) {
  const std::string html =
      bar_chart_html({.title = "t",
                      .value = {.label = "v", .low = 0, .high = 100},
                      .bars = {{.name = "fgd", .value = 95.394, .low = 95, .high = 96, .mark = 95.4},
                               {.name = "random", .value = 87, .low = 87, .high = 87}},
                      .mark_name = "recorded"});
  EXPECT_EQ(count_of(html, ">95.39<"), 2U);
  EXPECT_EQ(count_of(html, "class=\"mark\""), 2U) << "one bar has a mark, in two drawings";
  EXPECT_THAT(html, HasSubstr("recorded"));
}

TEST(Page, StandsAloneAndEscapesWhatItIsTold) {
  const std::string html = page_html({.title = "T & U",
                                      .subtitle = "s",
                                      .sections = {{.title = "<one>",
                                                    .paragraphs = {"p"},
                                                    .html = "<i>kept</i>",
                                                    .table = {.header = {"h"}, .rows = {{"<cell>"}}},
                                                    .details_title = "more",
                                                    .details = {.header = {"d"}, .rows = {}}}}});
  EXPECT_THAT(html, HasSubstr("<title>T &amp; U</title>"));
  EXPECT_THAT(html, HasSubstr("&lt;one&gt;"));
  EXPECT_THAT(html, HasSubstr("<i>kept</i>"));
  EXPECT_THAT(html, HasSubstr("<td>&lt;cell&gt;</td>"));
  EXPECT_THAT(html, HasSubstr("<details><summary>more</summary>"));
  for (const std::string_view fetched : {"http:", "https:", " src=", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(std::string(fetched))));
  EXPECT_THAT(html, HasSubstr("h1, h2, p, figcaption { overflow-wrap: anywhere; }"))
      << "a long name is no reason to scroll";
  EXPECT_THAT(html, HasSubstr(".scroll { overflow-x: auto; margin: 14px calc(50% - 50vw + var(--edge)); }"))
      << "a table has the whole window, not the column of the text";
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(html, HasSubstr("@media print"));
}

}  // namespace
}  // namespace weft::sim
