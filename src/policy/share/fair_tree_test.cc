#include "policy/share/fair_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace weft {
namespace {

using ::testing::ElementsAre;
using enum FairTreeNode::Kind;

std::vector<int32_t> ranks(const std::vector<FairTreeNode>& nodes) {
  FairTree tree;
  tree.compute(nodes);
  std::vector<int32_t> each;
  for (size_t n = 0; n < tree.size(); ++n) each.push_back(tree.rank(n));
  return each;
}

double factor(const FairTree& tree, size_t user) {
  return static_cast<double>(tree.factor(user).part) / static_cast<double>(tree.factor(user).whole);
}

/// Accounts and usage as sshare listed them: the user root of the root account, laba and labb with two users each.
TEST(FairTree, RanksAsSlurmPrints) {
  const std::vector<FairTreeNode> nodes{{.kind = kUser, .shares = 1, .usage = 545},  // S/U = .2 / .034 = 5.88
                                        {.shares = 3, .usage = 13833},               // laba: .6 / .863 = .70
                                        {.shares = 1, .usage = 1649},                // labb: .2 / .103 = 1.94
                                        {.parent = 1, .kind = kUser, .shares = 1, .usage = 13833},  // daemon: .33 / 1
                                        {.parent = 1, .kind = kUser, .shares = 2, .usage = 0},      // nobody: infinite
                                        {.parent = 2, .kind = kUser, .shares = 1, .usage = 1649},   // games: .5 / 1
                                        {.parent = 2, .kind = kUser, .shares = 1, .usage = 0}};     // root: infinite
  FairTree tree;
  tree.compute(nodes);
  EXPECT_EQ(factor(tree, 0), 1.0);
  EXPECT_EQ(factor(tree, 6), 0.8);
  EXPECT_EQ(factor(tree, 5), 0.6);
  EXPECT_EQ(factor(tree, 4), 0.4);
  EXPECT_EQ(factor(tree, 3), 0.2);
  EXPECT_EQ(tree.rank(1), 0);
}

TEST(FairTree, WithoutAnyUsageAllGoFirst) {
  EXPECT_THAT(ranks({{.shares = 5},
                     {.shares = 1},
                     {.parent = 0, .kind = kUser},
                     {.parent = 0, .kind = kUser, .shares = 9},
                     {.parent = 1},
                     {.parent = 4, .kind = kUser},
                     {.kind = kUser}}),
              ElementsAre(0, 0, 4, 4, 0, 4, 4));
}

TEST(FairTree, UsersBelowAnAccountThatUsedLittleGoBeforeAllBelowOneThatUsedMuch) {
  EXPECT_THAT(ranks({{.usage = 10},
                     {.usage = 90},
                     {.parent = 0, .kind = kUser, .usage = 10},
                     {.parent = 0, .kind = kUser, .usage = 0},
                     {.parent = 1, .kind = kUser, .usage = 89},
                     {.parent = 1, .kind = kUser, .usage = 1}}),
              ElementsAre(0, 0, 3, 4, 1, 2));
}

TEST(FairTree, EqualUsersShareARankAndTheNextCountsThemBoth) {
  EXPECT_THAT(ranks({{.kind = kUser, .usage = 50},
                     {.kind = kUser, .shares = 2, .usage = 20},
                     {.kind = kUser, .usage = 10},
                     {.kind = kUser, .usage = 60}}),
              ElementsAre(2, 4, 4, 1));
}

TEST(FairTree, EqualAccountsAreMerged) {
  // Both have S/U = 1, so that their four users are siblings: .5/.25 and .5/.75 of one, .5/.2 and .5/.8 of the other.
  const std::vector<FairTreeNode> nodes{{.shares = 1, .usage = 40},
                                        {.shares = 2, .usage = 80},
                                        {.parent = 0, .kind = kUser, .usage = 10},
                                        {.parent = 0, .kind = kUser, .usage = 30},
                                        {.parent = 1, .kind = kUser, .usage = 16},
                                        {.parent = 1, .kind = kUser, .usage = 64}};
  EXPECT_THAT(ranks(nodes), ElementsAre(0, 0, 3, 2, 4, 1));
  // With a little more use of the second account, all below the first go first.
  std::vector<FairTreeNode> unequal = nodes;
  unequal[1].usage = 81;
  EXPECT_THAT(ranks(unequal), ElementsAre(0, 0, 4, 3, 2, 1));
}

TEST(FairTree, EqualIsFoundAcrossParentsWhereFractionsAreNot) {
  // The accounts tie; below them 1/3 of the shares for 1/7 of the use, and 5/15 for 3/21: 7/3 both.
  const std::vector<FairTreeNode> nodes{{.usage = 21},
                                        {.usage = 21},
                                        {.parent = 0, .kind = kUser, .shares = 1, .usage = 3},
                                        {.parent = 0, .kind = kUser, .shares = 2, .usage = 18},
                                        {.parent = 1, .kind = kUser, .shares = 5, .usage = 3},
                                        {.parent = 1, .kind = kUser, .shares = 10, .usage = 18}};
  EXPECT_THAT(ranks(nodes), ElementsAre(0, 0, 4, 2, 4, 2));
}

TEST(FairTree, TheFirstOfAnAccountTiesWithAnEqualUser) {
  EXPECT_THAT(ranks({{.usage = 30},
                     {.kind = kUser, .usage = 30},
                     {.kind = kUser, .usage = 20},
                     {.parent = 0, .kind = kUser, .usage = 10},
                     {.parent = 0, .usage = 20},
                     {.parent = 4, .kind = kUser, .usage = 20}}),
              ElementsAre(0, 3, 4, 3, 0, 1));
  // also through an account in an account
  EXPECT_THAT(ranks({{.usage = 30},
                     {.kind = kUser, .usage = 30},
                     {.parent = 0, .usage = 30},
                     {.parent = 2, .kind = kUser, .usage = 30}}),
              ElementsAre(0, 2, 0, 2));
}

TEST(FairTree, WithoutSharesAUserComesLast) {
  EXPECT_THAT(ranks({{.kind = kUser, .shares = 0}, {.kind = kUser, .usage = 1000}, {.kind = kUser, .shares = 0}}),
              ElementsAre(2, 3, 2));
}

TEST(FairTree, HugeSharesAndUsageAreComparedExactly) {
  const int64_t most = int64_t{1} << 62;
  EXPECT_THAT(ranks({{.kind = kUser, .shares = kFairTreeSharesMax, .usage = most},
                     {.kind = kUser, .shares = kFairTreeSharesMax, .usage = most - 1},
                     {.kind = kUser, .shares = kFairTreeSharesMax - 1, .usage = most}}),
              ElementsAre(2, 3, 1));
}

TEST(FairTree, ComputesAnewEachTime) {
  FairTree tree;
  tree.compute(std::vector<FairTreeNode>{{}, {.parent = 0, .kind = kUser}, {.parent = 0, .kind = kUser}});
  tree.compute(std::vector<FairTreeNode>{{.kind = kUser}});
  EXPECT_EQ(tree.size(), 1U);
  EXPECT_EQ(factor(tree, 0), 1.0);
  tree.compute({});
  EXPECT_EQ(tree.size(), 0U);
}

/// A tree of a few accounts and users, with few different numbers so that many are equal.
std::vector<FairTreeNode> some_tree() {
  std::vector<FairTreeNode> nodes;
  std::vector<int32_t> accounts{-1};
  for (int32_t n = *rc::gen::inRange(1, 20); n > 0; --n) {
    FairTreeNode node{.parent = *rc::gen::elementOf(accounts), .shares = *rc::gen::inRange<int64_t>(0, 4)};
    if (*rc::gen::inRange(0, 3) == 0) {
      accounts.push_back(static_cast<int32_t>(nodes.size()));
    } else {
      node.kind = kUser;
      node.usage = *rc::gen::inRange<int64_t>(0, 4);
    }
    nodes.push_back(node);
  }
  for (size_t n = nodes.size(); n-- > 0;) {
    if (nodes[n].parent >= 0) nodes[static_cast<size_t>(nodes[n].parent)].usage += nodes[n].usage;
  }
  return nodes;
}

RC_GTEST_PROP(FairTree, ARankIsTheNumberOfThoseWhoDoNotGoBefore, ()) {
  const std::vector<FairTreeNode> nodes = some_tree();
  const std::vector<int32_t> rank = ranks(nodes);
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].kind != kUser) continue;
    int32_t others = 0;
    for (size_t m = 0; m < nodes.size(); ++m) others += nodes[m].kind == kUser && rank[m] <= rank[n] ? 1 : 0;
    RC_ASSERT(rank[n] == others);
  }
}

RC_GTEST_PROP(FairTree, AllBelowOneSiblingGoBeforeAllBelowAnother, ()) {
  const std::vector<FairTreeNode> nodes = some_tree();
  const std::vector<int32_t> rank = ranks(nodes);
  const auto is_below = [&](size_t node, size_t account) {
    auto at = static_cast<int32_t>(node);
    while (at > static_cast<int32_t>(account)) at = nodes[static_cast<size_t>(at)].parent;
    return at == static_cast<int32_t>(account);
  };
  for (size_t a = 0; a < nodes.size(); ++a) {
    for (size_t b = 0; b < nodes.size(); ++b) {
      // Siblings divide both by the same sums.
      if (nodes[a].parent != nodes[b].parent || nodes[a].shares * nodes[b].usage <= nodes[b].shares * nodes[a].usage) {
        continue;
      }
      for (size_t u = 0; u < nodes.size(); ++u) {
        for (size_t v = 0; v < nodes.size(); ++v) {
          if (nodes[u].kind != kUser || nodes[v].kind != kUser || !is_below(u, a) || !is_below(v, b)) continue;
          RC_ASSERT(rank[u] > rank[v]);
        }
      }
    }
  }
}

TEST(FairTree, OnlyAccountsHaveChildren) {
  FairTree tree;
  EXPECT_DEATH(tree.compute(std::vector<FairTreeNode>{{.kind = kUser}, {.parent = 0}}), "users have no children");
}

}  // namespace
}  // namespace weft
