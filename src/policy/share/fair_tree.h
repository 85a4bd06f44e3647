#pragma once

#include "policy/share/multifactor.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// An account (a queue), or a user of one. All below the root.
struct FairTreeNode {
  enum class Kind : uint8_t { kAccount, kUser };
  int32_t parent = -1;  ///< the index of an account, smaller than the node's own; -1: the root
  Kind kind = Kind::kAccount;
  int64_t shares = 1;  ///< among its siblings; at most kFairTreeSharesMax
  int64_t usage = 0;   ///< decayed, in any unit; of an account, all that is below it included
};

inline constexpr int64_t kFairTreeSharesMax = int64_t{1} << 40;

/// Slurm's Fair Tree: every user gets a rank, so that all users below an account that has used less than its part go
/// before all below a sibling that has used more, down the tree.
///
/// Of a node, S is its part of the shares and U its part of the usage of its siblings (itself included; U of the usage
/// of its parent). Siblings go by level fairshare S / U, the largest first: 0 where it has no shares, else infinite
/// where it has used nothing. Equal ones:
/// 1. users get the same rank, and the next user's is as if they had not been equal;
/// 2. accounts are merged: their children become siblings, each keeping its own S / U;
/// 3. of a user and an account, the first of the account gets the user's rank.
/// The factor of a user is its rank / the number of users: 1 for whoever goes first.
/// Fractions are compared exactly, so that equal ones are found equal. Source: Slurm's fair_tree page.
class FairTree {
 public:
  /// Requires: parents are accounts and come before their children; nothing negative.
  /// Cost: O(nodes x log(siblings)). No allocation when the nodes are no more than ever before.
  void compute(std::span<const FairTreeNode> nodes);
  size_t size() const { return rank_.size(); }
  /// From the number of users down to 1; 0 of an account.
  int32_t rank(size_t node) const { return rank_[node]; }
  /// Requires: the node is a user.
  Factor factor(size_t user) const { return {.part = rank_[user], .whole = user_count_}; }

 private:
  __extension__ using Wide = __int128;

  /// S / U as a fraction; with a denominator of 0 it is infinite.
  struct Level {
    Wide numerator = 0;
    Wide denominator = 1;
  };
  /// What is summed up over the children of an account, or of the root.
  struct Family {
    Wide shares = 0;
    Wide usage = 0;
    size_t begin = 0;  ///< of its children in children_
  };
  enum class FirstIs : uint8_t { kOnItsOwn, kTiedWithTheLast };

  static std::strong_ordering compare(Level a, Level b);
  void find_families();
  Level level_of(const FairTreeNode& node) const;
  void append_children(size_t family);
  void visit(size_t begin, FirstIs first);
  bool goes_before(uint32_t a, uint32_t b) const;
  bool is_tied(uint32_t a, uint32_t b) const { return compare(levels_[a], levels_[b]) == 0; }
  bool is_user(uint32_t node) const { return nodes_[node].kind == FairTreeNode::Kind::kUser; }

  std::span<const FairTreeNode> nodes_;  ///< while compute() runs
  std::vector<int32_t> rank_;
  std::vector<Level> levels_;
  std::vector<Family> families_;    ///< of node n at n + 1, the root's at 0, and one that ends the last
  std::vector<uint32_t> children_;  ///< side by side
  std::vector<uint32_t> list_;      ///< a stack: the siblings that are being visited, on each level of the way down
  int32_t user_count_ = 0;
  int32_t next_rank_ = 0;  ///< as if nobody had been equal
  int32_t last_rank_ = 0;
};

}  // namespace weft
