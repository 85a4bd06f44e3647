#include "policy/share/fair_tree.h"

#include "base/check.h"

#include <algorithm>

namespace weft {
namespace {

size_t family_of(const FairTreeNode& node) { return static_cast<size_t>(node.parent + 1); }

}  // namespace

void FairTree::compute(std::span<const FairTreeNode> nodes) {
  nodes_ = nodes;
  rank_.assign(nodes.size(), 0);
  find_families();
  levels_.clear();
  for (const FairTreeNode& node : nodes) levels_.push_back(level_of(node));
  user_count_ = static_cast<int32_t>(std::ranges::count(nodes, FairTreeNode::Kind::kUser, &FairTreeNode::kind));
  next_rank_ = last_rank_ = user_count_;
  list_.clear();
  list_.reserve(nodes.size());  // each is in it at most once
  append_children(0);
  visit(0, FirstIs::kOnItsOwn);
  nodes_ = {};
}

void FairTree::find_families() {
  families_.assign(nodes_.size() + 2, {});
  for (uint32_t n = 0; n < nodes_.size(); ++n) {
    const FairTreeNode& node = nodes_[n];
    WEFT_CHECK(node.parent >= -1 && node.parent < static_cast<int32_t>(n), "parents come before their children");
    WEFT_CHECK(node.parent < 0 || !is_user(static_cast<uint32_t>(node.parent)), "users have no children");
    WEFT_CHECK(node.shares >= 0 && node.shares <= kFairTreeSharesMax && node.usage >= 0, "products must not overflow");
    Family& family = families_[family_of(node)];
    family.shares += node.shares;
    if (node.parent < 0) family.usage += node.usage;
    families_[n + 1].usage = node.usage;
    ++families_[family_of(node) + 1].begin;
  }
  for (size_t f = 1; f < families_.size(); ++f) families_[f].begin += families_[f - 1].begin;
  // Each child is put where its family's next one goes; then that is where the next family begins.
  children_.resize(nodes_.size());
  for (uint32_t n = 0; n < nodes_.size(); ++n) children_[families_[family_of(nodes_[n])].begin++] = n;
  for (size_t f = families_.size(); f-- > 1;) families_[f].begin = families_[f - 1].begin;
  families_[0].begin = 0;
}

FairTree::Level FairTree::level_of(const FairTreeNode& node) const {
  const Family& family = families_[family_of(node)];
  if (node.shares == 0) return {.numerator = 0, .denominator = 1};
  if (family.usage == 0) return {.numerator = 1, .denominator = 0};
  return {.numerator = node.shares * family.usage, .denominator = family.shares * node.usage};
}

/// By the whole parts; where these are equal, by the remainders turned upside down. So no product can overflow.
std::strong_ordering FairTree::compare(Level a, Level b) {
  for (;;) {
    if (a.denominator == 0 || b.denominator == 0) return (b.denominator != 0) <=> (a.denominator != 0);
    const Wide whole_a = a.numerator / a.denominator, whole_b = b.numerator / b.denominator;
    if (whole_a != whole_b) return whole_a <=> whole_b;
    const Level turned_a{a.denominator, a.numerator % a.denominator};
    a = {b.denominator, b.numerator % b.denominator};
    b = turned_a;
  }
}

bool FairTree::goes_before(uint32_t a, uint32_t b) const {
  const std::strong_ordering order = compare(levels_[a], levels_[b]);
  if (order != 0) return order > 0;
  if (is_user(a) != is_user(b)) return is_user(a);
  return a < b;
}

void FairTree::append_children(size_t family) {
  const auto from = children_.begin();
  list_.insert(list_.end(), from + static_cast<ptrdiff_t>(families_[family].begin),
               from + static_cast<ptrdiff_t>(families_[family + 1].begin));
}

/// Ranks all users below the siblings that stand in list_ from `begin` on.
void FairTree::visit(size_t begin, FirstIs first) {
  const size_t end = list_.size();
  std::sort(list_.begin() + static_cast<ptrdiff_t>(begin), list_.end(),
            [&](uint32_t a, uint32_t b) { return goes_before(a, b); });
  for (size_t i = begin; i < end;) {
    const bool tied = i == begin ? first == FirstIs::kTiedWithTheLast : is_tied(list_[i], list_[i - 1]);
    if (is_user(list_[i])) {
      if (!tied) last_rank_ = next_rank_;
      --next_rank_;
      rank_[list_[i++]] = last_rank_;
      continue;
    }
    // Users come before accounts: who is equal to this one and comes later is an account.
    const uint32_t account = list_[i];
    for (; i < end && is_tied(list_[i], account); ++i) append_children(list_[i] + 1);
    visit(end, tied ? FirstIs::kTiedWithTheLast : FirstIs::kOnItsOwn);
    list_.resize(end);
  }
}

}  // namespace weft
