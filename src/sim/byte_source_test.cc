#include "sim/byte_source.h"

#include "base/test_folder.h"
#include "sim/gzip_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace weft::sim {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// All bytes, read in small steps, or the error.
std::string all_of(ByteSource& source) {
  std::string bytes;
  std::string block(7, '\0');
  for (;;) {
    const Result<size_t> count = source.read(block.data(), block.size());
    if (!count) return count.error().message;
    if (*count == 0) return bytes;
    bytes.append(block, 0, *count);
  }
}

std::string unpack(std::string_view packed, size_t piece) {
  auto source = unpacked(bytes_of(packed, "f", piece));
  return source ? all_of(**source) : source.error().message;
}

TEST(ByteSource, GivesPlainBytesAsTheyAreHoweverTheyCome) {
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{5}, size_t{1000}}) {
    for (const std::string_view text : {"", "a", "\x1f", "\x1f\x8b", "\x1f\x8b\x09 is no gzip", "some text\n"})
      EXPECT_EQ(unpack(text, piece), text);
  }
}

TEST(ByteSource, UnpacksGzipOfOneOrSeveralMembers) {
  const std::string text(100'000, 'x');
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{1} << 16}) {
    EXPECT_EQ(unpack(gzip(text), piece), text);
    EXPECT_EQ(unpack(gzip("one\n") + gzip("") + gzip("two\n"), piece), "one\ntwo\n");
  }
  EXPECT_EQ(unpack(gzip(""), 1), "");
}

TEST(ByteSource, AGzipFileThatIsCutOffIsAnErrorWhereverItIsCut) {
  const std::string packed = gzip("id,submit\n1,2\n");
  for (size_t size = 3; size < packed.size(); ++size)
    EXPECT_THAT(unpack(std::string_view(packed).substr(0, size), 4),
                EndsWith("f: the gzip file is cut off; expected more of it"))
        << size;
}

TEST(ByteSource, ADamagedGzipFileIsAnError) {
  std::string packed = gzip(std::string(1000, 'a') + "bcd");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);  // of the checksum
  EXPECT_THAT(unpack(packed, 100), HasSubstr("f: the gzip file is damaged"));
  EXPECT_THAT(unpack(gzip("a") + "rubbish", 100), HasSubstr("f: the gzip file is damaged"));
}

TEST(ByteSource, ErrorsStayAndWhatWasGoodBeforeThemIsGiven) {
  const std::string packed = gzip("good\n");
  auto source = unpacked(bytes_of(std::string_view(packed).substr(0, packed.size() - 1), "f"));
  std::string block(100, '\0');
  EXPECT_EQ((*source)->read(block.data(), block.size()).value_or(0), 5U);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE((*source)->read(block.data(), block.size()));
}

TEST(ByteSource, SaysWhyAFileCannotBeRead) {
  const TestFolder folder;
  EXPECT_THAT(open_bytes("").error().message, HasSubstr("the name of a file is empty"));
  EXPECT_THAT(open_bytes(folder.path()).error().message, HasSubstr("is a directory; expected a file"));
  EXPECT_THAT(open_bytes(folder.path() + "/absent").error().message, EndsWith("absent: there is no such file"));
  std::ofstream(folder.path() + "/f.gz", std::ios::binary) << gzip("text");
  EXPECT_EQ(all_of(**open_bytes(folder.path() + "/f.gz")), "text");
}

}  // namespace
}  // namespace weft::sim
