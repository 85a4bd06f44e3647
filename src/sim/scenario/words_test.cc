#include "sim/scenario/expect.h"
#include "sim/scenario/scenario_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace weft::scenario {
namespace {

TEST(CountMatch, IncludesItsBoundOnlyWhereTheSignSaysSo) {
  using Kind = CountMatch::Kind;
  const auto holds = [](Kind kind) {
    const CountMatch match{.kind = kind, .value = 2};
    return std::array{match.holds(1), match.holds(2), match.holds(3)};
  };
  EXPECT_THAT(holds(Kind::kEqual), ::testing::ElementsAre(false, true, false));
  EXPECT_THAT(holds(Kind::kAtLeast), ::testing::ElementsAre(false, true, true));
  EXPECT_THAT(holds(Kind::kAtMost), ::testing::ElementsAre(true, true, false));
  EXPECT_THAT(holds(Kind::kMore), ::testing::ElementsAre(false, false, true));
  EXPECT_THAT(holds(Kind::kLess), ::testing::ElementsAre(true, false, false));
}

TEST(StateWord, AJobThatIsHeldOrStartsIsHeldAndDoesNotRun) {
  const auto word = [](JobState state) {
    JobView view;
    view.state = state;
    return state_word(view);
  };
  EXPECT_EQ(word(JobState::kHolding), StateWord::kHeld);
  EXPECT_EQ(word(JobState::kStarting), StateWord::kHeld);
  EXPECT_EQ(word(JobState::kRunning), StateWord::kRunning);
  EXPECT_EQ(word(JobState::kReleasing), StateWord::kReleasing);
}

TEST(Why, EveryWordMustBeInTheVerdict) {
  const RunResult result = run_text(R"(
scenario: two words
cluster: {nodes: [{name: a, gpus: 1}]}
steps:
  - submit: {name: wait, gpus: 2}
  - run: until stable
  - expect: {why: {wait: [gpus]}}
  - expect: {why: {wait: [gpus, nonsense]}}
)");
  ASSERT_EQ(result.failures.size(), 1U) << failure_text(result);
  EXPECT_THAT(result.failures[0].text, ::testing::HasSubstr("nonsense"));
}

}  // namespace
}  // namespace weft::scenario
