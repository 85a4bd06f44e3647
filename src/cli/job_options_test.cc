#include "cli/job_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <unistd.h>

namespace weft::cli {
namespace {

using testing::Pair;

constexpr std::array kFields{
    &JobOptions::gpus,     &JobOptions::cpus,      &JobOptions::memory, &JobOptions::name,  &JobOptions::queue,
    &JobOptions::priority, &JobOptions::gpu_model, &JobOptions::tasks,  &JobOptions::time,  &JobOptions::grace,
    &JobOptions::gpu_bind, &JobOptions::directory, &JobOptions::output, &JobOptions::error,
};
static_assert(sizeof(JobOptions) == kFields.size() * sizeof(std::optional<std::string>), "every option is listed");

/// This process has `entries` for its environment as long as it lives.
class Environment {
 public:
  explicit Environment(char** entries) : before_(environ) { environ = entries; }
  ~Environment() { environ = before_; }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  char** before_;
};

TEST(JobOptions, EachOneIsTakenFromTheWeakerSideOnlyWhereTheStrongerLacksIt) {
  for (const auto field : kFields) {
    JobOptions one;
    one.*field = "one";
    JobOptions other;
    other.*field = "other";
    EXPECT_EQ(merged({}, other).*field, "other");
    EXPECT_EQ(merged(one, {}).*field, "one");
    EXPECT_EQ(merged(one, other).*field, "one");
    for (const auto another : kFields) {
      if (another != field) {
        EXPECT_EQ(merged(one, {}).*another, std::nullopt);
      }
    }
  }
}

TEST(JobOptions, OfAVariableThatIsThereTwiceTheFirstCounts) {
  std::array<std::string, 3> entries{"A=first", "A=second", "B=x=y"};
  std::array<char*, 4> words{entries[0].data(), entries[1].data(), entries[2].data(), nullptr};
  const Environment scripted(words.data());
  const auto request = make_request({});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_THAT(request->environment, testing::ElementsAre(Pair("A", "first"), Pair("B", "x=y")));
}

TEST(JobOptions, EachOneReachesTheRequest) {
  const auto request = make_request({.gpus = "2",
                                     .cpus = "1.5",
                                     .memory = "8Gi",
                                     .name = "n",
                                     .queue = "q",
                                     .priority = "-7",
                                     .gpu_model = "H100",
                                     .tasks = "3",
                                     .time = "90m",
                                     .grace = "250ms",
                                     .gpu_bind = "task",
                                     .directory = "/",
                                     .output = "o",
                                     .error = "e"});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->gpus, 2);
  EXPECT_EQ(request->cpu_milli, 1500);
  EXPECT_EQ(request->memory_bytes, 8 * kGiB);
  EXPECT_EQ(request->name, "n");
  EXPECT_EQ(request->queue, "q");
  EXPECT_EQ(request->priority, -7);
  EXPECT_THAT(request->gpu_models, testing::ElementsAre("H100"));
  EXPECT_EQ(request->tasks, 3);
  EXPECT_EQ(request->time_limit, minutes(90));
  EXPECT_EQ(request->grace, milliseconds(250));
  EXPECT_EQ(request->device_view, DeviceView::kTask);
  EXPECT_EQ(request->directory, "/");
  EXPECT_EQ(request->output, "o");
  EXPECT_EQ(request->error, "e");
}

}  // namespace
}  // namespace weft::cli
