#pragma once

#include "base/ids.h"
#include "base/units.h"

#include <cstdint>
#include <vector>

namespace weft {

/// Running jobs by expected end, as a treap linked through arrays by JobId: insert and erase O(log n) expected, no
/// allocation once the arrays have grown. Equal ends are ordered by JobId. Jobs of endless estimate are not in it.
class Timeline {
 public:
  void resize(size_t jobs);             ///< room for ids below `jobs`
  void insert(JobId job, Instant end);  ///< Requires: not in it
  void erase(JobId job);                ///< Requires: in it
  bool contains(JobId job) const;
  Instant end_of(JobId job) const;
  size_t size() const { return size_; }
  JobId first() const;          ///< kNone when empty
  JobId next(JobId job) const;  ///< in order of end; kNone after the last
  /// The first job that ends at or after `t`.
  JobId lower_bound(Instant t) const;

  bool operator==(const Timeline&) const = default;

 private:
  struct Link {
    uint32_t left, right, parent;
    uint8_t is_in;
    bool operator==(const Link&) const = default;
  };

  bool is_before(uint32_t a, uint32_t b) const;
  void replace_child(uint32_t parent, uint32_t child, uint32_t by);
  void rotate_up(uint32_t child);
  uint32_t leftmost(uint32_t row) const;

  std::vector<Link> links_;
  std::vector<Instant> ends_;
  uint32_t root_ = 0xffffffffU;
  size_t size_ = 0;
};

}  // namespace weft
