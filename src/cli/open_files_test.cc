#include "cli/open_files.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

namespace weft::cli {
namespace {

TEST(OpenFiles, ConnectionsLeaveRoomForStartsOfJobs) {
  EXPECT_EQ(connections_max(0), 1U) << "a server that nobody can talk to is of no use";
  EXPECT_EQ(connections_max(5), 1U);
  EXPECT_EQ(connections_max(6), 2U);
  EXPECT_EQ(connections_max(14), 2U);
  EXPECT_EQ(connections_max(17), 3U);
  EXPECT_EQ(connections_max(1'000), 250U);
  EXPECT_EQ(connections_max(1'000'000), 250'000U);
}

TEST(OpenFiles, EachOpenFileLeavesOneLess) {
  const uint64_t before = open_files_left();
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(open_files_left(), before - 1);
  ::close(fd);
  EXPECT_EQ(open_files_left(), before);
}

}  // namespace
}  // namespace weft::cli
