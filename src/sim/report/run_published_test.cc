// The measures, on the per-job results that the authors' simulators left, against the summaries published with them.

#include "sim/csv.h"
#include "sim/report/run_metrics.h"
#include "sim/text_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace weft::sim {
namespace {

struct Published {
  std::string_view run;
  std::string_view average;
  int64_t median = 0;
  int64_t p90 = -1;  ///< -1: not told
  int64_t p99 = 0;
  int64_t makespan = 0;
  std::string_view wait = {};  ///< empty: not told
  int64_t preempts = 0;
};

constexpr Published kPublished[]{
    {"n16g4-60_job-count-fifo", "178.4", 125, -1, 1800, 3271},
    {"n16g4-60_job-count-dlas-gpu", "178.4", 125, -1, 1800, 3271},
    {"n4g4-60_job-count-fifo", "200.8", 151, 263, 1864, 3335, "22.4", 0},
    {"n4g4-60_job-count-fjf", "190.7", 130, 301, 1800, 3271, "12.3", 0},
    {"n4g4-60_job-count-sjf", "198.2", 127, 368, 1800, 3271, "19.8", 8},
    {"n4g4-60_job-count-lpjf", "205.1", 155, 283, 1864, 3335, "26.6", 0},
    {"n4g4-60_job-count-shortest", "192.1", 127, 304, 1800, 3271, "13.7", 4},
    {"n4g4-60_job-count-shortest-gpu", "195.9", 127, 360, 1844, 3315, "17.5", 7},
    {"n4g4-60_job-count-dlas", "190.7", 130, 301, 1800, 3271, "12.3", 0},
    {"n4g4-60_job-count-dlas-gpu", "190.7", 130, 301, 1800, 3271, "12.3", 0},
    {"n4g4-60_job-yarn-fifo", "219.2", 180, 292, 1870, 3341, "40.8", 0},
    {"n4g4-60_job-yarn-fjf", "219.2", 149, 369, 1800, 3271, "40.8", 0},
    {"n8g8-trace3_job-count-fifo", "991167.0", 1143209, -1, 1696723, 8171961, "", 0},
    {"n8g8-trace3_job-count-fjf", "480104.8", 376580, -1, 3746037, 8171961, "", 0},
    {"n8g8-trace3_job-count-sjf", "408105.8", 43243, -1, 5018623, 8171961, "", 126},
    {"n8g8-trace3_job-count-shortest", "180116.3", 3628, -1, 4280559, 8171961, "", 1037},
    {"n8g8-trace3_job-count-shortest-gpu", "172683.7", 3628, -1, 3580618, 8171961, "", 749},
    {"n8g8-trace3_job-count-dlas", "276829.7", 4266, -1, 4958766, 8171961, "", 1362},
    {"n8g8-trace3_job-count-dlas-gpu", "312869.6", 9595, -1, 4728812, 8171961, "", 1303},
    {"n8g8-trace3_job-yarn-fifo", "991215.7", 1143209, -1, 1696723, 8171961, "", 0},
    {"n7g8-philly_a-count-fifo", "45792.1", 53477, -1, 92399, 378588, "40820.5", 0},
    {"n7g8-philly_a-count-fjf", "21913.1", 15435, -1, 94704, 348992, "16941.5", 0},
    {"n7g8-philly_a-count-sjf", "17625.9", 6964, -1, 110067, 356941, "12654.3", 79},
    {"n7g8-philly_a-count-shortest", "8728.8", 333, -1, 150161, 350763, "3757.2", 1912},
    {"n7g8-philly_a-count-shortest-gpu", "7725.3", 333, -1, 106477, 370017, "2753.7", 1510},
    {"n7g8-philly_a-count-dlas", "10724.9", 573, -1, 117906, 345104, "5753.3", 1762},
    {"n7g8-philly_a-count-dlas-gpu", "9316.4", 514, -1, 107233, 349910, "4344.8", 1721},
    {"n7g8-philly_a-yarn-fifo", "72302.5", 82078, -1, 118330, 429374, "", 0},
    {"n7g8-philly_a-yarn-fjf", "22450.1", 10788, -1, 125858, 373296, "", 0},
};

/// The rows of a file of per-job results as an outcome. The files' executed_time counts pauses too; what ran is the JCT
/// without pending_time.
void read_outcome(const std::string& path, RunOutcome& outcome) {
  const Result<std::string> content = read_text_file(path);
  ASSERT_TRUE(content) << content.error().message;
  CsvReader reader(*content, path);
  std::vector<CsvField> row;
  Result<CsvReader::Step> step = reader.next(row);
  ASSERT_TRUE(step && *step == CsvReader::Step::kRow);
  const std::vector<CsvField> header = row;
  const auto value = [&](std::string_view name) {
    const auto column = std::ranges::find(header, name, &CsvField::text) - header.begin();
    return std::strtoll(std::string(row.at(static_cast<size_t>(column)).text).c_str(), nullptr, 10);
  };
  while ((step = reader.next(row)) && *step == CsvReader::Step::kRow) {
    JobOutcome& job = outcome.jobs.emplace_back();
    job.gpus = static_cast<int32_t>(value("num_gpu"));
    job.gpu_milli = value("num_gpu") * 1000;
    job.submit = Instant{} + seconds(value("submit_time"));
    job.start = Instant{} + seconds(value("start_time"));
    job.end = Instant{} + seconds(value("end_time"));
    job.executed = seconds(value("JCT") - value("pending_time"));
    job.run_time = seconds(value("duration"));
    job.preempts = static_cast<int32_t>(value("preempt"));
    job.how = JobEnd::kDone;
  }
  ASSERT_TRUE(step) << step.error().message;
}

TEST(RunMetrics, SummariesOfThePublishedSimulatorsComeOutAsPrinted) {
  const char* data = std::getenv("WEFT_DATA");  // NOLINT(concurrency-mt-unsafe): one thread
  if (data == nullptr) GTEST_SKIP() << "not run: WEFT_DATA does not name the folder of public traces";
  for (const Published& expected : kPublished) {
    SCOPED_TRACE(expected.run);
    RunOutcome outcome;
    read_outcome(fmt::format("{}/tiresias/expected/{}.job.csv", data, expected.run), outcome);
    const RunMetrics metrics = measure(outcome);
    EXPECT_EQ(fmt::format("{:.1f}", metrics.all.jct.mean), expected.average);
    EXPECT_EQ(metrics.all.jct.median, static_cast<double>(expected.median));
    if (expected.p90 >= 0) {
      EXPECT_EQ(metrics.all.jct.p90, static_cast<double>(expected.p90));
    }
    EXPECT_EQ(metrics.all.jct.p99, static_cast<double>(expected.p99));
    EXPECT_EQ(metrics.makespan, static_cast<double>(expected.makespan));
    if (!expected.wait.empty()) {
      EXPECT_EQ(fmt::format("{:.1f}", metrics.all.waited.mean), expected.wait);
    }
    EXPECT_EQ(metrics.all.preempts, expected.preempts);
  }
}

}  // namespace
}  // namespace weft::sim
