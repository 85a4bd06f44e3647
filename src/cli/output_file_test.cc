#include "cli/output_file.h"

#include "base/test_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

/// A folder of its own for each test, gone at the end.
class OutputFile : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return path(name);
  }
  std::string content(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return std::move(out).str();
  }
  size_t file_count() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  const TestFolder made_;
  const fs::path folder_ = made_.path();
};

std::string error_of(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs = {}) {
  const Result<void> checked = check_outputs(outputs, inputs);
  return checked ? "" : checked.error().message;
}

TEST_F(OutputFile, ReplacesAFileWholeAndKeepsItsPermissions) {
  const std::string file = write("a", "old");
  ::chmod(file.c_str(), 0640);
  ASSERT_TRUE(write_output(file, "new"));
  EXPECT_EQ(content("a"), "new");
  EXPECT_EQ(fs::status(file).permissions(), static_cast<fs::perms>(0640));
  ASSERT_TRUE(write_output(path("b"), "x"));
  EXPECT_EQ(content("b"), "x");
  EXPECT_EQ(file_count(), 2U) << "nothing else is left behind";
}

TEST_F(OutputFile, LeavesFilesOfOthersAlone) {
  write("a.partial", "mine");
  ASSERT_TRUE(write_output(path("a"), "x"));
  EXPECT_EQ(content("a.partial"), "mine");
}

TEST_F(OutputFile, FollowsALinkInsteadOfReplacingIt) {
  write("target", "old");
  fs::create_symlink("target", folder_ / "link");
  ASSERT_TRUE(write_output(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(content("target"), "new");
}

TEST_F(OutputFile, WritesToADeviceAndAPipeInsteadOfReplacingThem) {
  fs::create_symlink("/dev/null", folder_ / "null");
  EXPECT_EQ(error_of({{"--json", path("null")}, {"--html", path("null")}}), "");
  ASSERT_TRUE(write_output(path("null"), "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));

  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::fstream reader(path("pipe"));  // both ends, so that nobody waits
  ASSERT_TRUE(write_output(path("pipe"), "line\n"));
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "line");
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
}

TEST_F(OutputFile, StandardOutputUnderAnotherNameIsAddedTo) {
  testing::internal::CaptureStdout();
  fmt::print("table\n");
  const Result<void> written = write_output("/dev/stdout", "json\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "table\njson\n");
  EXPECT_TRUE(written);
}

TEST_F(OutputFile, WhatIsNotCommittedLeavesEverythingAsItWas) {
  write("a", "old");
  {
    Result<weft::cli::OutputFile> output = weft::cli::OutputFile::open(path("a"));
    ASSERT_TRUE(output);
    ASSERT_TRUE(output->write("new"));
    EXPECT_EQ(file_count(), 2U);
    EXPECT_EQ(content("a"), "old") << "until it is whole";
  }
  EXPECT_EQ(content("a"), "old");
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(OutputFile, IsWrittenPieceByPiece) {
  Result<weft::cli::OutputFile> output = weft::cli::OutputFile::open(path("a"));
  ASSERT_TRUE(output);
  for (const char* piece : {"one ", "two ", "three"}) ASSERT_TRUE(output->write(piece));
  ASSERT_TRUE(output->commit());
  EXPECT_EQ(content("a"), "one two three");
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(OutputFile, AFullDiskIsAFailureThatSaysSo) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "not run: there is no /dev/full";
  fs::create_symlink("/dev/full", folder_ / "full");
  const Result<void> written = write_output(path("full"), "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(written.error().message, EndsWith("full: cannot be written: No space left on device"));
}

TEST_F(OutputFile, AnOutputIsNeverAnInput) {
  const std::string nodes = write("nodes.csv", "n");
  fs::create_hard_link(nodes, folder_ / "twin");
  fs::create_symlink("nodes.csv", folder_ / "link");
  for (const char* name : {"nodes.csv", "./nodes.csv", "link", "twin"}) {
    EXPECT_THAT(error_of({{"--json", path(name)}}, {{"--pods", path("other")}, {"--nodes", nodes}}),
                EndsWith("is what --nodes reads; it would be lost"))
        << name;
  }
  EXPECT_EQ(error_of({{"--json", path("nodes.json")}}, {{"--nodes", nodes}}), "");
}

TEST_F(OutputFile, TwoOutputsNeedTwoPlaces) {
  EXPECT_THAT(error_of({{"--json", path("a")}, {"--html", folder_.string() + "/./a"}}),
              EndsWith("is the place of --json already"));
  EXPECT_EQ(error_of({{"--json", "-"}, {"--csv", "-"}}), "--csv: - is the place of --json already");
  EXPECT_EQ(error_of({{"--json", "-"}, {"--csv", path("a")}}), "");
}

TEST_F(OutputFile, APlaceThatCannotBeWrittenIsSeenBeforehand) {
  EXPECT_THAT(error_of({{"--json", ""}}), HasSubstr("--json: the name is empty"));
  EXPECT_THAT(error_of({{"--json", folder_.string()}}), HasSubstr("is a directory; a file is expected"));
  EXPECT_THAT(error_of({{"--json", path("none/a")}}), HasSubstr("cannot be written: its folder is not there"));
  EXPECT_THAT(error_of({{"--json", path("none/")}}), HasSubstr("cannot be written: its folder is not there"));
  EXPECT_THAT(error_of({{"--json", write("file", "") + "/a"}}), HasSubstr("cannot be written: its folder"));
  EXPECT_THAT(error_of({{"--json", "x\ny/a"}}), HasSubstr("--json: x\\x0ay/a cannot be written"));
}

}  // namespace
}  // namespace weft::cli
