#include "engine/local/process_tree.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::local {
namespace {

TEST(ProcessTree, AStatLineIsReadBehindANameWithBlanksAndBrackets) {
  const auto process = parse_process_stat(
      "4242 (a) b (c)) S 17 4242 4242 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 2469888 200 18446744073709551615\n");
  ASSERT_TRUE(process);
  EXPECT_EQ(process->pid, 4242);
  EXPECT_EQ(process->parent, 17);
  EXPECT_EQ(process->state, 'S');
  EXPECT_EQ(process->start_ticks, 987654U);
}

TEST(ProcessTree, AnythingElseIsNoProcess) {
  for (const char* text : {"", "12", "12 (x)", "12 (x) ", "12 (x) SS 1", "x (y) S 1 2 3", "12 (x) S 1 2 3 4 5"}) {
    EXPECT_FALSE(parse_process_stat(text)) << text;
  }
}

TEST(ProcessTree, AChildIsListedSignalledAndGoneAfterItWasWaitedFor) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto below = descendants_of(::getpid());
  ASSERT_EQ(below.size(), 1U);
  EXPECT_EQ(below[0].pid, child);
  EXPECT_EQ(signal_process(below[0], SIGKILL), Signalled::kYes);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(signal_process(below[0], SIGKILL), Signalled::kGone);
  EXPECT_TRUE(descendants_of(::getpid()).empty());
}

TEST(ProcessTree, AProcessWithAnotherStartTimeIsNotTheOneThatWasListed) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  auto below = descendants_of(::getpid());
  ASSERT_EQ(below.size(), 1U);
  Process stale = below[0];
  stale.start_ticks -= 1;
  EXPECT_EQ(signal_process(stale, SIGKILL), Signalled::kGone);
  EXPECT_EQ(signal_process(below[0], SIGKILL), Signalled::kYes);
  ::waitpid(child, nullptr, 0);
}

TEST(ProcessTree, ConcludesNothingFromAListThatItCannotRead) {
  EXPECT_TRUE(all_descendants_of(::getpid()));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool is_known = all_descendants_of(::getpid()).has_value();
  const Strays below = kill_below(::getpid());
  const Strays strays = kill_strays({});
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_FALSE(is_known);
  EXPECT_EQ(below, Strays::kSome);
  EXPECT_EQ(strays, Strays::kSome);
}

}  // namespace
}  // namespace weft::local
