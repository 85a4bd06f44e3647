#include "sim/trace/sorted_jobs.h"

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

std::string order_of(const std::vector<int64_t>& submits) {
  SortedJobs jobs;
  for (size_t i = 0; i < submits.size(); ++i) jobs.add({.id = std::to_string(i), .submit = {submits[i]}});
  jobs.sort();
  TraceJob job;
  std::string order;
  int64_t last = INT64_MIN;
  while (jobs.next(job)) {
    EXPECT_LE(last, job.submit.ns);
    EXPECT_EQ(job.submit.ns, submits[std::stoul(job.id)]);
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

TEST(SortedJobs, AgreesWithAStableSort) {
  std::vector<int64_t> submits;
  uint64_t state = 7;
  for (int i = 0; i < 5000; ++i) {
    state = state * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    submits.push_back(static_cast<int64_t>(state >> 33) * ((state >> 20) % 2 == 0 ? 1 : 1'000'000) % 4'000'000'000);
  }
  std::vector<size_t> order(submits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return submits[i]; });
  std::string expected;
  for (const size_t i : order) expected += std::to_string(i) + " ";
  EXPECT_EQ(order_of(submits), expected);
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
}

}  // namespace
}  // namespace weft::sim
