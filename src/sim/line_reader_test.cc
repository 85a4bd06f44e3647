#include "sim/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace weft::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Lines as "number:text"; an error as its message, after which reading goes on.
std::vector<std::string> lines_of(std::string_view text, size_t piece) {
  LineReader reader(TextWindow(bytes_of(text, "f", piece)));
  std::vector<std::string> lines;
  Line line;
  for (;;) {
    const Result<bool> is_line = reader.next(line);
    if (!is_line) {
      lines.push_back(is_line.error().message);
      if (!reader.goes_on()) return lines;
    } else if (!*is_line) {
      return lines;
    } else {
      lines.push_back(std::to_string(line.number) + ":" + std::string(line.text));
    }
  }
}

TEST(LineReader, SplitsAtLineEndsHoweverTheTextComes) {
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{100}}) {
    EXPECT_THAT(lines_of("a\nbb\r\n\n\r\nc", piece), ElementsAre("1:a", "2:bb", "3:", "4:", "5:c"));
    EXPECT_THAT(lines_of("\xEF\xBB\xBF"
                         "a\n",
                         piece),
                ElementsAre("1:a"));
    EXPECT_THAT(lines_of("", piece), ElementsAre());
    EXPECT_THAT(lines_of("\xEF\xBB\xBF", piece), ElementsAre());
    EXPECT_THAT(lines_of("\xEF\xBB", piece), ElementsAre(HasSubstr("f:1:1: the byte 0xef")));
  }
}

TEST(LineReader, SaysWhereALineIsNoTextAndGoesOnBehindIt) {
  for (const size_t piece : {size_t{1}, size_t{4}, size_t{100}}) {
    EXPECT_THAT(lines_of("a\nb\xFF\nä\nd\x01\ne\n", piece),
                ElementsAre("1:a", HasSubstr("f:2:2: the byte 0xff"), "3:ä",
                            HasSubstr("f:4:2: the control character 0x01"), "5:e"));
  }
}

TEST(LineReader, RefusesALineThatIsTooLongAndGoesOnBehindIt) {
  const std::string longest(kLineBytesMax, 'x');
  EXPECT_THAT(lines_of(longest + "\nb\n", 1 << 16), ElementsAre("1:" + longest, "2:b"));
  for (const size_t piece : {size_t{1} << 10, size_t{1} << 22}) {
    EXPECT_THAT(
        lines_of("a\n" + longest + "x\nc\nd\ne\n", piece),
        ElementsAre("1:a", HasSubstr("f:2:1048577: the row goes on here; expected its end within 1,048,576 bytes"),
                    "3:c", "4:d", "5:e"));
    EXPECT_THAT(lines_of(longest + longest + longest, piece), ElementsAre(HasSubstr("f:1:1048577:")));
    EXPECT_THAT(lines_of(longest + longest + longest + "\nb\nc\nd\n", piece),
                ElementsAre(HasSubstr("f:1:1048577:"), "2:b", "3:c", "4:d"));
  }
}

/// Zeros without an end.
class Endless final : public ByteSource {
 public:
  Result<size_t> read(char* into, size_t size) override {
    std::fill_n(into, size, '0');
    bytes_ += size;
    return size;
  }
  const std::string& name() const override { return name_; }
  size_t bytes() const { return bytes_; }

 private:
  std::string name_ = "endless";
  size_t bytes_ = 0;
};

TEST(LineReader, ReadsNoMoreOfAnEndlessLineThanItTakesToRefuseIt) {
  auto source = std::make_unique<Endless>();
  const Endless& bytes = *source;
  LineReader reader{TextWindow(std::move(source))};
  Line line;
  EXPECT_THAT(reader.next(line).error().message, HasSubstr("endless:1:1048577"));
  EXPECT_LT(bytes.bytes(), 4 * kLineBytesMax);
}

TEST(LineReader, LinesThatBelongTogetherAreGivenAsOne) {
  for (const size_t piece : {size_t{1}, size_t{100}}) {
    LineReader reader(TextWindow(bytes_of("a\r\nb\nc\n", "f", piece)));
    Line line;
    ASSERT_TRUE(*reader.next(line));
    ASSERT_TRUE(*reader.extend(line));
    EXPECT_EQ(line.text, "a\r\nb");
    ASSERT_TRUE(*reader.extend(line));
    EXPECT_EQ(line.text, "a\r\nb\nc");
    EXPECT_FALSE(*reader.extend(line));
    EXPECT_EQ(line.text, "a\r\nb\nc");
    reader.take_back_extension();
    ASSERT_TRUE(*reader.next(line));
    EXPECT_EQ(line.text, "b");
    EXPECT_EQ(line.number, 2U);
    ASSERT_TRUE(*reader.extend(line));
    EXPECT_FALSE(*reader.next(line));
  }
}

TEST(TextWindow, LooksAtTheHeadWithoutPassingOverIt) {
  TextWindow window(
      bytes_of("\xEF\xBB\xBF"
               "abcdef",
               "f", 2));
  EXPECT_EQ(*window.head(3), "abc");
  EXPECT_EQ(*window.head(100), "abcdef");
  window.pass(2);
  EXPECT_EQ(*window.head(100), "cdef");
}

TEST(TextWindow, KnowsPlainTextFromOther) {
  for (const size_t before : {0, 1, 255, 256, 300, 600}) {
    const std::string plain = std::string(before, 'x') + "\t\r\n ~";
    EXPECT_TRUE(is_plain_text(plain));
    for (const char odd : {'\0', '\x08', '\x0b', '\x0c', '\x0e', '\x1f', '\x7f', '\x80', '\xff'}) {
      EXPECT_FALSE(is_plain_text(plain + odd)) << before;
      EXPECT_FALSE(is_plain_text(odd + plain)) << before;
    }
  }
}

}  // namespace
}  // namespace weft::sim
