#include "state/timeline.h"

#include "base/check.h"
#include "base/hash.h"

namespace weft {

// The heap order is that of mix64(job), a bijection, and the key order is total. So the tree's form depends only on
// what is in it, never on the order of the calls: undoing a write restores the very same tree.

namespace {
constexpr uint32_t kNil = 0xffffffffU;
}  // namespace

void Timeline::resize(size_t jobs) {
  if (jobs <= links_.size()) return;
  links_.resize(jobs, Link{.left = kNil, .right = kNil, .parent = kNil, .is_in = 0});
  ends_.resize(jobs, kNever);
}

bool Timeline::contains(JobId job) const { return index(job) < links_.size() && links_[index(job)].is_in != 0; }

Instant Timeline::end_of(JobId job) const {
  WEFT_CHECK(contains(job), "only a job on the timeline has an end there");
  return ends_[index(job)];
}

bool Timeline::is_before(uint32_t a, uint32_t b) const {
  if (ends_[a] != ends_[b]) return ends_[a] < ends_[b];
  return a < b;
}

void Timeline::replace_child(uint32_t parent, uint32_t child, uint32_t by) {
  if (parent == kNil) {
    root_ = by;
  } else if (links_[parent].left == child) {
    links_[parent].left = by;
  } else {
    links_[parent].right = by;
  }
  if (by != kNil) links_[by].parent = parent;
}

void Timeline::rotate_up(uint32_t child) {
  const uint32_t parent = links_[child].parent;
  const uint32_t grandparent = links_[parent].parent;
  uint32_t moved = kNil;
  if (links_[parent].left == child) {
    moved = links_[child].right;
    links_[parent].left = moved;
    links_[child].right = parent;
  } else {
    moved = links_[child].left;
    links_[parent].right = moved;
    links_[child].left = parent;
  }
  if (moved != kNil) links_[moved].parent = parent;
  replace_child(grandparent, parent, child);
  links_[parent].parent = child;
}

void Timeline::insert(JobId job, Instant end) {
  WEFT_CHECK(index(job) < links_.size(), "resize() made room for the job");
  WEFT_CHECK(!contains(job), "a job stands on the timeline once");
  const auto row = static_cast<uint32_t>(job);
  ends_[row] = end;
  links_[row] = Link{.left = kNil, .right = kNil, .parent = kNil, .is_in = 1};
  ++size_;
  if (root_ == kNil) {
    root_ = row;
    return;
  }
  uint32_t at = root_;
  for (;;) {
    uint32_t& next = is_before(row, at) ? links_[at].left : links_[at].right;
    if (next == kNil) {
      next = row;
      links_[row].parent = at;
      break;
    }
    at = next;
  }
  const uint64_t priority = mix64(row);
  while (links_[row].parent != kNil && mix64(links_[row].parent) < priority) rotate_up(row);
}

void Timeline::erase(JobId job) {
  WEFT_CHECK(contains(job), "only a job on the timeline can leave it");
  const auto row = static_cast<uint32_t>(job);
  while (links_[row].left != kNil && links_[row].right != kNil) {
    const uint32_t left = links_[row].left;
    const uint32_t right = links_[row].right;
    rotate_up(mix64(left) > mix64(right) ? left : right);
  }
  const uint32_t child = links_[row].left != kNil ? links_[row].left : links_[row].right;
  replace_child(links_[row].parent, row, child);
  links_[row] = Link{.left = kNil, .right = kNil, .parent = kNil, .is_in = 0};
  ends_[row] = kNever;
  --size_;
}

uint32_t Timeline::leftmost(uint32_t row) const {
  while (row != kNil && links_[row].left != kNil) row = links_[row].left;
  return row;
}

JobId Timeline::first() const { return static_cast<JobId>(leftmost(root_)); }

JobId Timeline::next(JobId job) const {
  WEFT_CHECK(contains(job), "only a job on the timeline has a next one");
  auto row = static_cast<uint32_t>(job);
  if (links_[row].right != kNil) return static_cast<JobId>(leftmost(links_[row].right));
  uint32_t parent = links_[row].parent;
  while (parent != kNil && links_[parent].right == row) {
    row = parent;
    parent = links_[row].parent;
  }
  return static_cast<JobId>(parent);
}

JobId Timeline::lower_bound(Instant t) const {
  uint32_t best = kNil;
  uint32_t at = root_;
  while (at != kNil) {
    if (ends_[at] < t) {
      at = links_[at].right;
    } else {
      best = at;
      at = links_[at].left;
    }
  }
  return static_cast<JobId>(best);
}

}  // namespace weft
