#include "sim/simulation/service_history.h"

#include "base/rng.h"
#include "sim/byte_source.h"
#include "sim/trace/trace_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace weft::sim {
namespace {

TEST(ServiceHistory, KeepsAllServicesOfAShortPastSorted) {
  ServiceHistory history;
  for (const int64_t each : {30, 10, 20, 10}) history.add(seconds(each));
  history.add(Duration{0});
  EXPECT_EQ(history.count(), 4U) << "a job that took nothing tells nothing";
  EXPECT_EQ(history.samples(), (std::vector<Duration>{seconds(10), seconds(10), seconds(20), seconds(30)}));
  EXPECT_TRUE(ServiceHistory().samples().empty());
}

TEST(ServiceHistory, KeepsQuantilesOfALongOneWhateverTheOrder) {
  std::vector<Duration> all;
  Rng rng(1);
  for (size_t i = 0; i < 3 * ServiceHistory::kSamplesMax + 17; ++i)
    all.push_back(Duration{1 + rng.between(0, 1'000'000) * rng.between(0, 1'000'000) * rng.between(1, 1'000)});
  ServiceHistory history, backwards;
  for (const Duration each : all) history.add(each);
  for (size_t i = all.size(); i-- > 0;) backwards.add(all[i]);
  std::vector<Duration> samples = history.samples();
  ASSERT_EQ(samples.size(), ServiceHistory::kSamplesMax);
  EXPECT_EQ(samples, backwards.samples());
  EXPECT_TRUE(std::ranges::is_sorted(samples));
  std::ranges::sort(all);
  double sum = 0, sum_of_samples = 0;
  for (const Duration each : all) sum += each.seconds();
  for (const Duration each : samples) sum_of_samples += each.seconds();
  EXPECT_NEAR(sum_of_samples / static_cast<double>(samples.size()), sum / static_cast<double>(all.size()),
              1e-4 * sum / static_cast<double>(all.size()));
  for (size_t i = 0; i < samples.size(); i += 97) {
    const auto exact = static_cast<double>(all[(2 * i + 1) * all.size() / (2 * samples.size())].ns);
    EXPECT_NEAR(static_cast<double>(samples[i].ns), exact, 1e-3 * exact + 1) << i;
  }
}

TEST(ServiceHistory, HoldsTheShortestAndTheLongestServiceThatThereCanBe) {
  ServiceHistory history;
  constexpr Duration kLongest{std::numeric_limits<int64_t>::max()};
  for (size_t i = 0; i <= ServiceHistory::kSamplesMax; ++i) history.add(i % 2 == 0 ? Duration{1} : kLongest);
  const std::vector<Duration> samples = history.samples();
  EXPECT_EQ(samples.front(), Duration{1});
  EXPECT_EQ(samples.back(), kLongest);
}

TEST(ServiceHistory, ServiceIsRunTimeTimesGpusByTheRules) {
  const std::vector<TraceJob> jobs{{.id = "a", .run_time = milliseconds(1500), .gpus_per_task = 4, .is_gpu_count = 1},
                                   {.id = "b", .run_time = seconds(10), .gpu_milli = 500},
                                   {.id = "c", .run_time = seconds(3)}};
  const auto read = [&](Rules rules) {
    const std::string text = trace_csv(jobs);
    auto source = bytes_of(text, "trace.csv");
    const auto reader = open_trace(std::move(source), {});
    EXPECT_TRUE(reader) << reader.error().message;
    const auto history = read_history(**reader, rules);
    EXPECT_TRUE(history);
    return history->samples();
  };
  EXPECT_EQ(read(Rules::kNative), (std::vector<Duration>{seconds(3), seconds(5), seconds(6)}));
  EXPECT_EQ(read(Rules::kTiresias), (std::vector<Duration>{seconds(3), seconds(5), seconds(8)}));
  EXPECT_EQ(service_of(kEndless, 1'000'000'000), Duration{std::numeric_limits<int64_t>::max()});
}

}  // namespace
}  // namespace weft::sim
