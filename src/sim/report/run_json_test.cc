#include "sim/report/json_writer.h"
#include "sim/report/run_report.h"
#include "sim/report/run_testing.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace weft::sim {
namespace {

namespace json = boost::json;

json::value parsed(const std::string& text) {
  json::error_code code;
  json::value value = json::parse(text, code);
  EXPECT_FALSE(code) << code.message() << "\n" << text;
  return value;
}

TEST(JsonWriter, WritesNumbersAsShortAsTheyCanBeReadBack) {
  JsonWriter out;
  out.open_object();
  out.add("tenth", 0.1);
  out.add("whole", 3271.0);
  out.add("third", 1.0 / 3);
  out.add("nothing", kUnknown);
  out.add("large", ~uint64_t{0});
  out.open_array("empty");
  out.close();
  out.close();
  EXPECT_EQ(out.take(),
            "{\n  \"tenth\": 0.1,\n  \"whole\": 3271,\n  \"third\": 0.3333333333333333,\n  \"nothing\": null,\n"
            "  \"large\": 18446744073709551615,\n  \"empty\": []\n}\n");
}

TEST(JsonWriter, TextIsEscapedAndMadeUtf8) {
  JsonWriter out;
  out.open_array();
  out.add({}, "a\"b\\c\n\x01\xff\u00e9");
  out.close();
  EXPECT_EQ(out.take(), "[\n  \"a\\\"b\\\\c\\u000a\\u0001\ufffd\u00e9\"\n]\n");
}

TEST(RunJson, HoldsTheMeasuresUnderTheirFixedNames) {
  const json::object run = parsed(run_json(make_run_report(small_outcome()))).as_object();
  EXPECT_EQ(run.at("jobs"), 4);
  EXPECT_EQ(run.at("ended"), 3);
  EXPECT_DOUBLE_EQ(run.at("avg_jct").as_double(), 290.0 / 3);
  EXPECT_EQ(run.at("median_jct"), 100);
  EXPECT_EQ(run.at("p90_jct"), 110);
  EXPECT_EQ(run.at("p99_jct"), 110);
  EXPECT_EQ(run.at("makespan"), 120);
  EXPECT_DOUBLE_EQ(run.at("avg_wait").as_double(), 110.0 / 3);
  EXPECT_EQ(run.at("preempts"), 1);
  EXPECT_DOUBLE_EQ(run.at("utilization").as_double(), 400.0 / 480);
  EXPECT_EQ(run.at("wall_seconds"), 0.25);
  EXPECT_EQ(run.at("decision_hash"), "00ab54a98ceb1f0a") << "text, for a number of JSON would lose digits";
  EXPECT_EQ(run.at("policy"), "srsf");
  EXPECT_EQ(run.at("shared_by"), "users");
  ASSERT_EQ(run.at("by_user").as_array().size(), 2U);
  const json::object ann = run.at("by_user").as_array()[0].as_object();
  EXPECT_EQ(ann.at("name"), "ann");
  EXPECT_EQ(ann.at("avg_jct"), 105);
  EXPECT_EQ(run.at("by_size").as_array().size(), 2U);
  EXPECT_TRUE(run.at("by_queue").as_array().empty());
}

TEST(RunJson, WhatIsNotKnownIsNull) {
  const json::object run = parsed(run_json(make_run_report(RunOutcome{}))).as_object();
  for (const char* key : {"avg_jct", "makespan", "utilization", "avg_allocation", "jain_jobs"})
    EXPECT_TRUE(run.at(key).is_null()) << key;
}

TEST(RunJson, AComparisonHasRatiosToTheFirstRunOfTheSameTrace) {
  RunOutcome slow = small_outcome();
  slow.policy = "fifo";
  slow.jobs[0].end = slow.jobs[0].end + seconds(145);  // JCT 100 -> 245; the mean of the three 290/3 -> 435/3
  RunOutcome other = small_outcome();
  other.trace = "other.csv";
  const std::vector<RunReport> reports{make_run_report(small_outcome()), make_run_report(other), make_run_report(slow)};
  const json::array runs = parsed(comparison_json(reports)).at("runs").as_array();
  ASSERT_EQ(runs.size(), 3U);
  const auto ratio = [&](size_t i) { return runs[i].at("ratio_to_first").at("avg_jct"); };
  EXPECT_EQ(ratio(0), 1);
  EXPECT_EQ(runs[1].at("policy"), "fifo") << "runs of one trace stand together";
  EXPECT_EQ(ratio(1), 1.5);
  EXPECT_EQ(runs[2].at("trace"), "other.csv");
  EXPECT_EQ(ratio(2), 1);
}

}  // namespace
}  // namespace weft::sim
