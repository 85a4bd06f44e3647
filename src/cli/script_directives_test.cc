#include "cli/script_directives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::vector<std::string>> words(std::string_view script) {
  const auto lines = read_directives(script, "s.sh");
  EXPECT_TRUE(lines) << lines.error().message;
  std::vector<std::vector<std::string>> all;
  if (lines) {
    for (const DirectiveLine& line : *lines) all.push_back(line.words);
  }
  return all;
}

std::string problem(std::string_view script) {
  const auto lines = read_directives(script, "s.sh");
  return lines ? "none" : lines.error().message;
}

TEST(ScriptDirectives, AreReadUntilTheFirstCommand) {
  EXPECT_THAT(words("#!/bin/sh\n\n# a comment\n#WEFT --gpus 2\n  # another\n#WEFT -t 1h -J x\necho\n#WEFT --gpus 9\n"),
              ElementsAre(ElementsAre("--gpus", "2"), ElementsAre("-t", "1h", "-J", "x")));
}

TEST(ScriptDirectives, LookAlikesAreComments) {
  EXPECT_THAT(
      words("##WEFT --gpus 1\n# WEFT --gpus 1\n#WEFTY --gpus 1\n #WEFT --gpus 1\n#weft --gpus 1\n#WEFT\n#WEFT   \n"),
      IsEmpty());
}

TEST(ScriptDirectives, QuotesAndBackslashesKeepBlanksTogether) {
  EXPECT_THAT(words("#WEFT --name \"a b\" 'c \"d' e\\ f \"g\\\"h\" \"i\\j\" k\"l\"m ''"),
              ElementsAre(ElementsAre("--name", "a b", "c \"d", "e f", "g\"h", "i\\j", "klm", "")));
}

TEST(ScriptDirectives, ACommentEndsTheLineButOnlyAtAWord) {
  EXPECT_THAT(words("#WEFT -o x#y # the rest\n"), ElementsAre(ElementsAre("-o", "x#y")));
}

TEST(ScriptDirectives, CarriageReturnsAreBlanks) {
  EXPECT_THAT(words("#!/bin/sh\r\n#WEFT -G 1\r\n"), ElementsAre(ElementsAre("-G", "1")));
}

TEST(ScriptDirectives, LinesForSlurmAreSeenWhereOursWouldBe) {
  EXPECT_EQ(find_slurm_line("#!/bin/sh\n\n#SBATCH -n 1\n#SBATCH -t 5\necho\n"), 3U);
  EXPECT_EQ(find_slurm_line("#SBATCHX\n##SBATCH -n 1\n # SBATCH\necho\n#SBATCH -n 1\n"), 0U);
}

TEST(ScriptDirectives, LinesBehindTheFirstCommandAreSeenToBeLate) {
  EXPECT_EQ(find_late_line("#WEFT -G 1\necho\n\n#WEFT -t 5\n#WEFT -c 1\n"), 4U);
  EXPECT_EQ(find_late_line("echo\n#WEFT -G 1"), 2U);
  EXPECT_EQ(find_late_line("#WEFT -G 1\n#WEFT -c 1\necho\n##WEFT -t 5\necho x #WEFT -t 5\n"), 0U);
}

TEST(ScriptDirectives, ErrorsNameLineAndColumn) {
  EXPECT_EQ(problem("\n#WEFT -J \"half"), "s.sh:2:10: the quote \" is not closed");
  EXPECT_EQ(problem("#WEFT -J half\\"), "s.sh:1:14: a backslash ends the line");
}

}  // namespace
}  // namespace weft::cli
