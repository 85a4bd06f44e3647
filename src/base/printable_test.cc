#include "base/printable.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Printable, LeavesTextOfEveryLanguageAlone) {
  for (const char* text : {"", "plain", "große Ärbeit", "训练", "עברית", "🙂 ok"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_TRUE(is_printable(text));
  }
}

TEST(Printable, ShowsOrdersToTheTerminalAsTheirBytes) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("two\nlines\t\x7f"), "two\\x0alines\\x09\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "the escape of eight bits";
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "evil"),
            "\\xe2\\x80\\xaeevil")
      << "right to left";
  EXPECT_EQ(printable("\xE2\x80\xA8\xC2\x85"), "\\xe2\\x80\\xa8\\xc2\\x85");
  EXPECT_FALSE(is_printable("\xe2\x81\xa6"));
}

TEST(Printable, ShowsWhatIsNoTextAsItsBytes) {
  EXPECT_EQ(printable("\xFF\xC3"), "\\xff\\xc3");
  EXPECT_FALSE(is_printable("\xff broken"));
}

TEST(AsUtf8, ReplacesEachByteThatBelongsToNoCharacter) {
  EXPECT_EQ(as_utf8("ä\xFFz\xE2\x80"), "ä\uFFFDz\uFFFD\uFFFD");
  EXPECT_TRUE(is_utf8(as_utf8("\xC0\x80\xED\xA0\x80\xF8")));
}

}  // namespace
}  // namespace weft
