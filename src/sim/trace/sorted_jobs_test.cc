#include "sim/trace/sorted_jobs.h"

#include "base/rng.h"
#include "sim/trace/job_pack.h"
#include "sim/trace/weft_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace weft::sim {
namespace {

/// A value for each field that is not its default.
TraceJob full_job() {
  return {.id = "id of more than sixteen bytes",
          .name = "name",
          .user = "u",
          .queue = "a queue",
          .model = "model of eighteen",
          .submit = {-5},
          .run_time = {7},
          .estimate = {8},
          .limit = {9},
          .deadline = {10},
          .tasks = 3,
          .gpus_per_task = 4,
          .gpu_milli = 5,
          .cpu_milli = 6,
          .memory_bytes = 7,
          .gpu_models = {"A", "", "a longer name than usual"},
          .priority = -1,
          .is_gpu_count = 1,
          .iterations = 11,
          .iteration_time = {12},
          .end = TraceEnd::kCancelled,
          .recorded_start = {13},
          .recorded_end = {14}};
}

TEST(JobPack, GivesBackEveryFieldWhateverTheJobHeldBefore) {
  std::string bytes(4096, '\0');
  for (const TraceJob& packed : {full_job(), TraceJob{}, TraceJob{.id = "short", .gpus_per_task = 8}}) {
    const char* const end = pack(packed, bytes.data());
    EXPECT_EQ(packed_submit(bytes.data()), packed.submit);
    EXPECT_LE(static_cast<size_t>(end - bytes.data()), packed_bytes_max(packed));
    for (TraceJob before : {full_job(), TraceJob{}}) {
      EXPECT_EQ(unpack(bytes.data(), before), end);
      EXPECT_EQ(before, packed);
    }
  }
  TraceJob job = full_job();
  reset(job);
  EXPECT_EQ(job, TraceJob{});
}

TEST(JobPack, KnowsEachFieldThatWeftWrites) {
  std::string bytes(4096, '\0');
  const TraceJob all = full_job();
  for (const WeftField& field : weft_fields()) {
    std::string text;
    field.write(all, text);
    ASSERT_FALSE(text.empty()) << field.name;
    TraceJob one;
    ASSERT_TRUE(field.read(text, one)) << field.name;
    EXPECT_NE(one, TraceJob{}) << field.name;
    TraceJob back;
    pack(one, bytes.data());
    unpack(bytes.data(), back);
    EXPECT_EQ(back, one) << field.name;
  }
}

/// `name` makes the jobs larger.
std::string order_of(const std::vector<int64_t>& submits, const std::string& name = "") {
  SortedJobs jobs;
  for (size_t i = 0; i < submits.size(); ++i) jobs.add({.id = std::to_string(i), .name = name, .submit = {submits[i]}});
  jobs.sort();
  EXPECT_EQ(jobs.first_submit().ns, std::ranges::min(submits));
  TraceJob job;
  std::string order;
  int64_t last = INT64_MIN;
  while (jobs.next(job)) {
    EXPECT_LE(last, job.submit.ns);
    EXPECT_EQ(job.submit.ns, submits[std::stoul(job.id)]);
    EXPECT_EQ(job.name, name);
    last = job.submit.ns;
    order += job.id + " ";
  }
  return order;
}

TEST(SortedJobs, ComeBySubmissionAndThoseOfOneInstantAsTheyCame) {
  EXPECT_EQ(order_of({3, 1, 2, 1, 3, 0}), "5 1 3 2 0 4 ");
  EXPECT_EQ(order_of({1, 2, 2, 3}), "0 1 2 3 ");
  EXPECT_EQ(order_of({-5, 5, -7, 0}), "2 0 3 1 ");
  constexpr int64_t kSecond = 1'000'000'000;
  EXPECT_EQ(order_of({kSecond * 1'500'000'000, kSecond * 1'400'000'000, kSecond * 1'500'000'000}), "1 0 2 ");
  EXPECT_EQ(order_of({kSecond * 1'500'000'000 + 1, kSecond * 1'400'000'000, kSecond * 1'500'000'000}), "1 2 0 ");
}

/// What is so close together that it comes as often as not at one instant, in each unit that times are written in, and
/// what is so far apart that a word cannot hold it beside the place of a job.
TEST(SortedJobs, AgreeWithAStableSort) {
  constexpr int64_t kSecond = 1'000'000'000;
  struct Times {
    int64_t first;
    int64_t unit;
    int64_t range;
  };
  for (const Times times : {Times{0, 1, 1000}, Times{-7, 1, 1000}, Times{5, 1000, 4000}, Times{1, 1'000'000, 2000},
                            Times{1'500'000'000 * kSecond, kSecond, 90'000}, Times{-3, kSecond, 1'000'000},
                            Times{-2'000'000'000 * kSecond, 1, 4'000'000'000 * kSecond}}) {
    std::vector<int64_t> submits;
    Rng rng(7);
    for (int i = 0; i < 5000; ++i) submits.push_back(times.first + rng.between(0, times.range) * times.unit);
    std::vector<size_t> order(submits.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](size_t i) { return submits[i]; });
    std::string expected;
    for (const size_t i : order) expected += std::to_string(i) + " ";
    EXPECT_EQ(order_of(submits), expected) << times.unit;
    EXPECT_EQ(order_of(submits, std::string(600, 'x')), expected) << "in several blocks, " << times.unit;
  }
}

TEST(SortedJobs, TakesAJobThatIsLargerThanABlock) {
  SortedJobs jobs;
  const TraceJob large{.id = "large", .name = std::string(3 << 20, 'x'), .submit = {2}};
  jobs.add({.id = "small", .submit = {3}});
  jobs.add(large);
  jobs.add({.id = "last", .submit = {1}});
  jobs.sort();
  TraceJob job;
  ASSERT_TRUE(jobs.next(job));
  EXPECT_EQ(job.id, "last");
  ASSERT_TRUE(jobs.next(job));
  EXPECT_EQ(job, large);
  ASSERT_TRUE(jobs.next(job));
  EXPECT_EQ(job.id, "small");
  EXPECT_FALSE(jobs.next(job));
}

}  // namespace
}  // namespace weft::sim
