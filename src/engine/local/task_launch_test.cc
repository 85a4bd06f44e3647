#include "engine/local/task_launch.h"

#include <gtest/gtest.h>

namespace weft::local {
namespace {

TaskLaunch example() {
  return {.arguments = {"python", "a b", ""},
          .environment = {"A=1", std::string("B=\n\xff")},
          .directory = "/data",
          .output_path = "/data/out",
          .error_path = "",
          .grace_ns = 10'000'000'000,
          .open_files_soft_max = 1024};
}

TEST(TaskLaunch, SurvivesTheWayToTheSupervisor) { EXPECT_EQ(read_launch(write_launch(example())), example()); }

TEST(TaskLaunch, EveryTruncationIsNoticed) {
  const std::string bytes = write_launch(example());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(read_launch(bytes.substr(0, size))) << size;
  EXPECT_FALSE(read_launch(bytes + '\0'));
}

}  // namespace
}  // namespace weft::local
