#include "sim/text_file.h"

#include "base/test_folder.h"
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weft::sim {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// A folder of its own for each test, gone at the end.
class TextFile : public ::testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::string error_of(const std::string& name, std::string_view text) {
    const auto content = read_text_file(write(name, text));
    return content ? "" : content.error().message;
  }

  const TestFolder made_;
  const fs::path folder_ = made_.path();
};

TEST_F(TextFile, IsReadWholeWhenItIsText) {
  EXPECT_EQ(read_text_file(write("good", "a,ä\t\r\n")).value(), "a,ä\t\r\n");
}

TEST_F(TextFile, SaysWhyItCannotBeRead) {
  EXPECT_THAT(read_text_file((folder_ / "absent").string()).error().message, EndsWith("absent: there is no such file"));
  EXPECT_THAT(read_text_file(folder_.string()).error().message, HasSubstr("is a directory"));
  EXPECT_THAT(read_text_file("").error().message, HasSubstr("the name of a file is empty"));
  EXPECT_THAT(error_of("empty", ""), HasSubstr("the file is empty"));
  EXPECT_THAT(read_text_file(write("large", "12345"), 4).error().message, HasSubstr("is larger than 4 bytes"));
}

TEST_F(TextFile, SaysWhereItIsNoText) {
  EXPECT_THAT(error_of("latin",
                       "good\nb\xE4"
                       "d\n"),
              HasSubstr("latin:2:2: the byte 0xe4 is not valid UTF-8 here"));
  EXPECT_THAT(error_of("cut", "ä\xC3"), HasSubstr("cut:1:3: the byte 0xc3"));
  EXPECT_THAT(error_of("nul", std::string_view("a\nbc\0d", 6)), HasSubstr("nul:2:3: the control character 0x00"));
  EXPECT_THAT(error_of("escape", "a\x1b[31m\xFF"), HasSubstr("escape:1:2: the control character 0x1b"));
}

TEST(TextFault, IsFoundInALongLineWithoutTryingEveryPrefix) {
  const std::string line(8 << 20, 'a');  // with one pass over the line for each of its bytes this would take a day
  const auto fault = find_text_fault(line + "\xFF");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->column, line.size() + 1);
}

}  // namespace
}  // namespace weft::sim
