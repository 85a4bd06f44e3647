#include "model/names.h"

#include "model/vocabulary.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <type_traits>

namespace weft {
namespace {

/// The words of the first `count` enumerators: all distinct, lower case, without blanks.
template <typename Enum>
void expect_words(size_t count) {
  std::set<std::string_view> words;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view word = to_text(static_cast<Enum>(i));
    EXPECT_TRUE(words.insert(word).second) << word;
    EXPECT_FALSE(word.empty());
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos) << word;
  }
}

TEST(Names, GiveEveryEnumeratorAWordOfItsOwn) {
  expect_words<JobState>(static_cast<size_t>(JobState::kRejected) + 1);
  expect_words<TaskState>(static_cast<size_t>(TaskState::kCancelled) + 1);
  expect_words<StopCause>(static_cast<size_t>(StopCause::kTimeLimit) + 1);
  expect_words<DecisionKind>(static_cast<size_t>(DecisionKind::kEnd) + 1);
  expect_words<Reason>(kReasonCount);
  expect_words<DeviceKind>(static_cast<size_t>(DeviceKind::kOther) + 1);
  expect_words<ShareMode>(static_cast<size_t>(ShareMode::kTimeSlice) + 1);
  expect_words<DeviceNeedKind>(static_cast<size_t>(DeviceNeedKind::kMig) + 1);
  expect_words<QosClass>(static_cast<size_t>(QosClass::kBestEffort) + 1);
}

TEST(Names, AreTheWordsOfScenarioFiles) {
  EXPECT_EQ(to_text(JobState::kPending), "pending");
  EXPECT_EQ(to_text(JobState::kHolding), "held");
  EXPECT_EQ(to_text(JobState::kRunning), "running");
  EXPECT_EQ(to_text(JobState::kReleasing), "releasing");
  EXPECT_EQ(to_text(JobState::kDone), "done");
  EXPECT_EQ(to_text(JobState::kFailed), "failed");
  EXPECT_EQ(to_text(JobState::kCancelled), "cancelled");
  EXPECT_EQ(to_text(JobState::kRejected), "rejected");
  EXPECT_EQ(to_text(TaskState::kHeld), to_text(JobState::kHolding));
  EXPECT_EQ(to_text(ShareMode::kTimeSlice), "timeslice");
}

TEST(NamesDeathTest, RefuseAValueThatIsNoEnumerator) {
  EXPECT_DEATH(to_text(static_cast<JobState>(200)), "one of its enumerators");
}

TEST(Describe, SaysADecisionInOneLine) {
  Decision decision;
  decision.job = make_id<JobId>(17);
  decision.attempt = 2;
  EXPECT_EQ(describe(decision), "admit job 17");
  decision.kind = DecisionKind::kHold;
  decision.placement_count = 4;
  EXPECT_EQ(describe(decision), "hold job 17 attempt 2: 4 tasks");
  decision.placement_count = 1;
  EXPECT_EQ(describe(decision), "hold job 17 attempt 2: 1 task");
  decision.kind = DecisionKind::kStart;
  EXPECT_EQ(describe(decision), "start job 17 attempt 2");
  decision.kind = DecisionKind::kStop;
  decision.cause = StopCause::kPreempted;
  EXPECT_EQ(describe(decision), "stop job 17 attempt 2 all tasks: preempted");
  decision.task = 3;
  decision.grace = seconds(30);
  EXPECT_EQ(describe(decision), "stop job 17 attempt 2 task 3: preempted, grace 30s");
  decision.kind = DecisionKind::kEnd;
  decision.end_state = JobState::kDone;
  EXPECT_EQ(describe(decision), "end job 17: done");
}

TEST(Vocabulary, FindsLevelsAndWritesLabels) {
  Vocabulary names;
  names.levels = {"rack", "block"};
  EXPECT_EQ(names.find_level("rack"), make_id<LevelId>(0));
  EXPECT_EQ(names.find_level("block"), make_id<LevelId>(1));
  EXPECT_EQ(names.find_level("node"), kNone<LevelId>);
  EXPECT_EQ(label_text("zone", "a"), "zone=a");
  EXPECT_EQ(label_text("zone", ""), "zone=");
}

}  // namespace
}  // namespace weft
