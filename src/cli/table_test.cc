#include "cli/table.h"

#include "cli/command_line.h"
#include "cli/present.h"

#include <gtest/gtest.h>

namespace weft::cli {
namespace {

TEST(Table, AlignsByWhatATerminalShows) {
  Table table({{"JOB", Table::Align::kRight}, {"NAME"}, {"WHY"}});
  table.add({"7", "训练", "x"});
  table.add({"12345", "größer", "longer reason"});
  EXPECT_EQ(table.text(0),
            "  JOB  NAME    WHY\n"
            "    7  训练    x\n"
            "12345  größer  longer reason\n");
}

TEST(Table, TheLastColumnIsCutToTheWidth) {
  Table table({{"A"}, {"B"}});
  table.add({"x", "abcdefghij"});
  EXPECT_EQ(table.text(8), "A  B\nx  abcd…\n");
}

TEST(Table, WidthsCountCharacters) {
  EXPECT_EQ(display_width("größe"), 5U);
  EXPECT_EQ(display_width("训练"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("\xff"), 1U) << "a stray byte";
  EXPECT_EQ(shortened("训练模型", 5), "训练…");
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abc", 0), "");
}

TEST(Present, GpuIndicesBecomeRanges) {
  EXPECT_EQ(index_ranges({}), "-");
  EXPECT_EQ(index_ranges({3}), "3");
  EXPECT_EQ(index_ranges({2, 1}), "1,2");
  EXPECT_EQ(index_ranges({7, 0, 1, 2, 5, 6, 0}), "0-2,5-7");
}

TEST(Present, GpusOfSeveralNodesNameThem) {
  service::JobInfo job;
  EXPECT_EQ(gpus_text(job), "-");
  job.tasks = {{.node = "a", .gpus = {1}}, {.node = "a", .gpus = {0}}};
  EXPECT_EQ(gpus_text(job), "0,1");
  job.tasks.push_back({.node = "b", .gpus = {4}});
  EXPECT_EQ(gpus_text(job), "a:0,1 b:4");
}

TEST(Present, CommandsAreQuotedAsAShellWouldNeedIt) {
  EXPECT_EQ(command_text({"python", "train.py", "--lr=1e-3"}), "python train.py --lr=1e-3");
  EXPECT_EQ(command_text({"sh", "-c", "echo 'a b'", "", "x\ny"}), "sh -c 'echo '\\''a b'\\''' '' 'x\\x0ay'");
}

TEST(Present, OutcomesSayWhatHappened) {
  EXPECT_EQ(outcome_text({.state = "done", .exit_status = 0}), "done");
  EXPECT_EQ(outcome_text({.state = "failed", .exit_status = 3}), "failed with exit status 3");
  EXPECT_EQ(outcome_text({.state = "failed", .exit_status = 137}), "failed: killed by signal 9 (Killed)");
  EXPECT_EQ(outcome_text({.state = "failed", .exit_status = 255}), "failed with exit status 255");
  EXPECT_EQ(outcome_text({.state = "failed", .message = "it reached its time limit of 1h"}),
            "failed: it reached its time limit of 1h");
}

TEST(CommandLine, ATailIsCutOffForRunAndSubmitOnly) {
  const char* run[] = {"weft", "run", "-G", "1", "--", "cat", "--", "-x"};
  const CommandLine line = split_command_line(8, run);
  EXPECT_EQ(line.arguments, (std::vector<std::string>{"run", "-G", "1"}));
  EXPECT_EQ(line.tail.words, (std::vector<std::string>{"cat", "--", "-x"}));
  const char* show[] = {"weft", "show", "--", "1"};
  EXPECT_FALSE(split_command_line(4, show).tail.words);
  const char* none[] = {"weft"};
  EXPECT_TRUE(split_command_line(1, none).arguments.empty());
}

}  // namespace
}  // namespace weft::cli
