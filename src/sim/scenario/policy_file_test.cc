#include "sim/scenario/policy_file.h"

#include "base/test_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace weft::scenario {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class PolicyFile : public ::testing::Test {
 protected:
  Result<PolicyWish> read(std::string_view text) {
    std::ofstream(path_, std::ios::binary) << text;
    return read_policy_file(path_);
  }
  /// What is wrong, without the folder.
  std::string problem(std::string_view text) {
    const auto wish = read(text);
    EXPECT_FALSE(wish) << text;
    if (wish) return {};
    EXPECT_EQ(wish.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(wish.error().message, StartsWith(path_ + ":"));
    return wish.error().message.substr(path_.size() + 1);
  }

  const TestFolder folder_;
  const std::string path_ = folder_.path() + "/my.yaml";
};

TEST_F(PolicyFile, HasTheKeysOfAScenariosPolicy) {
  const auto wish = read("# long jobs last\norder: 2d-las\nservice: {limits: [1h, 10h]}\nscore: fgd\nstrict: false\n");
  ASSERT_TRUE(wish) << wish.error().message;
  const PolicyConfig policy = make_policy(*wish);
  EXPECT_EQ(policy.order, "2d-las");
  EXPECT_EQ(policy.mode, CycleMode::kElect);
  EXPECT_EQ(policy.service.limits, (std::vector<Duration>{hours(1), hours(10)}));
  EXPECT_EQ(policy.node_scores, (std::vector<WeightedScore>{{"fgd", 1}}));
  EXPECT_EQ(make_policy(*read("fifo")).strict, StrictOrder::kYes) << "a preset's name alone";
  EXPECT_TRUE(read("backfill: {reservation_depth: 0}\nrebalance: off\n"));
}

TEST_F(PolicyFile, WhatDoesNotExistYetIsRefusedWhereItStands) {
  EXPECT_EQ(problem("preset: slurm"), "1:9: preset slurm is not supported yet");
  EXPECT_EQ(problem("order: priority\nusage: {half_life: 7d}"), "2:8: usage history is not supported yet");
  EXPECT_EQ(problem("rebalance: on"), "1:12: rebalance is not supported yet");
  EXPECT_EQ(problem("mig: recut"), "1:6: mig recut is not supported yet");
  EXPECT_EQ(problem("multifactor: {age: 1}"), "1:14: multifactor order is not supported yet");
  EXPECT_EQ(problem("backfill: {reservation_depth: 1}"), "1:11: a reservation_depth above 0 is not supported yet");
  EXPECT_EQ(problem("drain_after: 12h"), "1:14: drain_after is not supported yet");
}

TEST_F(PolicyFile, WhatIsWrongIsOneLineWithItsPlace) {
  EXPECT_THAT(problem("order: srtff"), StartsWith("1:8: there is no job order 'srtff' (did you mean 'srtf'?)"));
  EXPECT_EQ(problem("odrer: srtf"), "1:1: policy has no key 'odrer'; did you mean 'order'?");
  EXPECT_EQ(problem("order: srtf\nstrict: 2\nplaces: [kept]"),
            "2:9: strict is '2'; true or false is expected (and 1 more)");
  EXPECT_EQ(problem("# nothing\n"), "1:1: nothing but comments; a policy is expected");
  EXPECT_EQ(problem("order: srtf\n---\norder: srsf\n"), "3:1: a second document; a policy is expected alone");
  EXPECT_EQ(problem("- order"), "1:1: policy is a list; a map of keys and values is expected");
  EXPECT_THAT(problem("order: [srtf"), HasSubstr("this is not YAML"));
}

TEST_F(PolicyFile, AFileThatIsNotThereIsSaidSo) {
  EXPECT_THAT(read_policy_file(folder_.path() + "/none.yaml").error().message, HasSubstr("there is no such file"));
}

}  // namespace
}  // namespace weft::scenario
