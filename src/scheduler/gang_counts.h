#pragma once

#include "model/shape.h"
#include "scheduler/job_book.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

// How many tasks of each role make a gang whole. Cost: O(roles + groups).

/// Tasks of a role that must run, at least for the role: its `min`, but one task where a job asks for no minimum at all
/// (something must start).
int32_t role_minimum(const Shape& shape, size_t role);

/// Tasks above their role's minimum exist.
bool is_elastic(const Shape& shape);

/// How many tasks of each role a job wants whose user wishes for `wish` in all: every role's minimum, and then more,
/// role by role.
void fill_wanted(const Shape& shape, int32_t wish, std::vector<int32_t>& counts);

/// The job, a group or a role asks for (or prefers) one domain.
bool has_scope(const Shape& shape);

/// True when `have(role)` tasks of each role make every group hold: at least `min` of its members do, and a role does
/// with its minimum. Where tasks start one by one every role must hold.
class GangCheck {
 public:
  enum class Count : uint8_t {
    kRunning,  ///< runs, or has ended well
    kCounted,  ///< the same, and what is held for a start
  };
  bool is_whole(const Shape& shape, std::span<const RoleCounts> counts, Count what);
  /// Every member that must run has ended well.
  bool is_done(const Shape& shape, std::span<const RoleCounts> counts);

  /// What a gang that runs in part lacks, per role: of each group the members that lack least are completed (a member
  /// that holds, then one that has begun, then the first). Empty when nothing is lacking or when a lacking task is not
  /// pending yet.
  std::span<const int32_t> missing(const Shape& shape, std::span<const RoleCounts> counts);

 private:
  template <typename Have>
  bool holds(const Shape& shape, const Have& have);
  void choose(const Shape& shape, std::span<const RoleCounts> counts, size_t group);

  std::vector<uint8_t> group_holds_;
  std::vector<int32_t> missing_;
};

}  // namespace weft
