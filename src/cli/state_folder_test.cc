#include "cli/state_folder.h"

#include "base/test_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(StateFolder, AFolderOfSomebodyElseIsRefusedAndLeftAsItWas) {
  const TestFolder made;
  const fs::path folder = fs::path(made.path()) / "project";
  fs::create_directories(folder / "jobs");
  std::ofstream(folder / "jobs" / "precious") << "a year's work";
  fs::permissions(folder, fs::perms{0755});
  {
    const auto taken = StateFolder::take(folder.string(), seconds(0));
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(taken.error().message, HasSubstr("project holds other files"));
  }
  EXPECT_TRUE(fs::exists(folder / "jobs" / "precious"));
  EXPECT_FALSE(fs::exists(folder / "lock"));
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms{0755});
}

TEST(StateFolder, AnEmptyFolderAndOneOfAnEarlierServerAreTaken) {
  const TestFolder made;
  for (int i = 0; i < 2; ++i) {
    const auto taken = StateFolder::take(made.path(), seconds(0));
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_TRUE(fs::is_directory(taken->jobs()));
  }
  fs::remove(made.path() + "/tasks.lock");  // as after a server that ended between its two files
  EXPECT_TRUE(StateFolder::take(made.path(), seconds(0)));
}

TEST(StateFolder, AFileSystemThatWasJustMadeIsEmpty) {
  const TestFolder made;
  const fs::path lost = fs::path(made.path()) / "lost+found";
  std::ofstream(lost) << "a file of that name is somebody's";
  EXPECT_FALSE(StateFolder::take(made.path(), seconds(0)));
  fs::remove(lost);
  fs::create_directory(lost);
  EXPECT_TRUE(StateFolder::take(made.path(), seconds(0)));
  EXPECT_TRUE(fs::is_directory(lost));
}

}  // namespace
}  // namespace weft::cli
