// The readers over public traces themselves, where WEFT_DATA names their folder.

#include "sim/trace/trace_testing.h"
#include "sim/trace/trace_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

namespace weft::sim {
namespace {

class RealTraces : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const data = std::getenv("WEFT_DATA");  // NOLINT(concurrency-mt-unsafe): one thread
    if (data == nullptr) GTEST_SKIP() << "not run: WEFT_DATA does not name the folder of public traces";
    folder_ = data;
  }
  ReadTrace read(const std::string& file) const {
    ReadTrace trace = drain(open_trace(folder_ + "/" + file, {}));
    EXPECT_EQ(trace.error, "");
    EXPECT_EQ(trace.notes.skipped, 0U);
    EXPECT_TRUE(std::ranges::is_sorted(trace.jobs, {}, &TraceJob::submit));
    return trace;
  }
  /// What is read from weft's own formats is what was read from the trace.
  static void expect_round_trip(const ReadTrace& trace) {
    const ReadTrace csv = read_text(trace_csv(trace.jobs, trace.notes.epoch));
    EXPECT_EQ(csv.error, "");
    EXPECT_TRUE(csv.jobs == trace.jobs);
    EXPECT_EQ(csv.notes.epoch, trace.notes.epoch);
  }
  static std::map<int64_t, int> sizes(const ReadTrace& trace) {
    std::map<int64_t, int> counts;
    for (const TraceJob& job : trace.jobs) ++counts[job.gpu_count()];
    return counts;
  }

  std::string folder_;
};

TEST_F(RealTraces, Tiresias) {
  const ReadTrace trace = read("tiresias/60_job.csv");
  EXPECT_EQ(trace.notes.format, TraceFormat::kTiresias);
  EXPECT_EQ(sizes(trace), (std::map<int64_t, int>{{1, 30}, {2, 10}, {4, 10}, {8, 10}}));
  int64_t gpu_seconds = 0;
  for (const TraceJob& job : trace.jobs) gpu_seconds += job.gpu_count() * job.run_time.ns / 1'000'000'000;
  EXPECT_EQ(gpu_seconds, 26'624);
  expect_round_trip(trace);
  const ReadTrace yaml = read_text(trace_yaml(trace.jobs));
  EXPECT_TRUE(yaml.jobs == trace.jobs) << yaml.error;
}

TEST_F(RealTraces, Muri) {
  const ReadTrace trace = read("muri/trace3.csv");
  EXPECT_EQ(trace.notes.format, TraceFormat::kMuri);
  EXPECT_EQ(sizes(trace), (std::map<int64_t, int>{{1, 134}, {2, 22}, {4, 34}, {8, 691}, {16, 3}, {32, 108}}));
  EXPECT_EQ(std::ranges::max(trace.jobs, {}, &TraceJob::run_time).run_time, seconds(927'475));
  EXPECT_EQ(trace.jobs[0].iterations, 1'046'811);
  EXPECT_EQ(trace.jobs[0].iteration_time, milliseconds(886));
  expect_round_trip(trace);
  const ReadTrace at_once = read("muri/trace3_pr.csv");
  EXPECT_EQ(at_once.jobs.size(), 992U);
  EXPECT_TRUE(std::ranges::all_of(at_once.jobs, [](const TraceJob& job) { return job.submit == Instant{0}; }));
}

TEST_F(RealTraces, Philly) {
  const ReadTrace trace = read("philly/philly_sia.csv");
  EXPECT_EQ(trace.notes.format, TraceFormat::kPhilly);
  EXPECT_EQ(trace.jobs.size(), 82'247U);
  expect_round_trip(trace);
  EXPECT_EQ(read("philly/philly_a.csv").jobs.size(), 1792U);
}

TEST_F(RealTraces, Openb) {
  const ReadTrace trace = read("openb/openb_pod_list_default.csv");
  EXPECT_EQ(trace.notes.format, TraceFormat::kOpenb);
  EXPECT_EQ(trace.jobs.size() + trace.notes.left_out, 8152U);
  EXPECT_EQ(trace.notes.left_out, 897U);  // its pods in phase Pending
  expect_round_trip(trace);
  EXPECT_EQ(drain(open_trace(folder_ + "/openb/openb_pod_list_multigpu30.csv", {})).jobs.size(), 0U);
}

}  // namespace
}  // namespace weft::sim
