#include "policy/registry.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/suite.h"
#include "sim/text_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace weft {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

/// The tree that the test was built from, from wherever it is started inside of it.
fs::path tree() {
  for (fs::path above = fs::current_path(); above != above.root_path(); above = above.parent_path()) {
    if (fs::exists(above / "docs/policies/README.md")) return above;
  }
  return {};
}

std::string text_of(const fs::path& file) {
  const Result<std::string> text = sim::read_text_file(file.string());
  EXPECT_TRUE(text) << (text ? std::string() : text.error().message);
  return text.value_or("");
}

std::set<std::string> stems_in(const fs::path& folder, std::string_view extension) {
  std::set<std::string> stems;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) stems.insert(entry.path().stem().string());
  }
  return stems;
}

std::set<std::string> policies() {
  std::set<std::string> names;
  for (const std::string_view name : node_score_names()) names.emplace(name);
  for (const std::string_view name : job_order_names()) names.emplace(name);
  return names;
}

class PolicyPages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (tree().empty()) GTEST_SKIP() << "not run: no tree is above " << fs::current_path();
  }
  const fs::path pages_ = tree() / "docs/policies";
  const fs::path scenarios_ = tree() / "tests/scenarios/policies";
};

TEST_F(PolicyPages, EveryPolicyHasAPageAndAScenarioAndNothingElseHas) {
  std::set<std::string> pages = stems_in(pages_, ".md");
  EXPECT_EQ(pages.erase("README"), 1U);
  EXPECT_EQ(pages, policies());
  EXPECT_EQ(stems_in(scenarios_, ".yaml"), policies());
}

TEST_F(PolicyPages, EveryPageLinksToItsScenarioAndIsListed) {
  const std::string list = text_of(pages_ / "README.md");
  for (const std::string& name : policies()) {
    const std::string page = text_of(pages_ / (name + ".md"));
    EXPECT_THAT(page, HasSubstr(fmt::format("**Worked example** ([`tests/scenarios/policies/{0}.yaml`](../../tests/"
                                            "scenarios/policies/{0}.yaml))",
                                            name)));
    EXPECT_THAT(list, HasSubstr(fmt::format("[{0}]({0}.md)", name)));
  }
}

/// The scenario must be about the policy, and hold.
TEST_F(PolicyPages, EveryScenarioUsesItsPolicyAndPasses) {
  for (const std::string& name : policies()) {
    const std::string file = (scenarios_ / (name + ".yaml")).string();
    const scenario::SuiteResult suite = scenario::run_suite({file}, scenario::Transcript::kOff);
    EXPECT_GT(suite.passed, 0) << file;
    EXPECT_EQ(suite.failed + suite.not_supported, 0) << scenario::suite_text(suite, scenario::Transcript::kOff);
    for (const scenario::ScenarioDocument& document : scenario::read_scenarios(text_of(file))) {
      ASSERT_TRUE(document.scenario) << file;
      const PolicyConfig policy = scenario::make_policy(document.scenario->policy);
      std::vector<std::string> used{policy.order};
      for (const WeightedScore& score : policy.node_scores) used.push_back(score.name);
      EXPECT_THAT(used, Contains(name)) << file;
      EXPECT_THAT(document.scenario->tags, Contains(name)) << file;
    }
  }
}

}  // namespace
}  // namespace weft
