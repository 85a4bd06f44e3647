#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "model/shape.h"

#include <cstdint>
#include <string_view>

namespace weft {

/// What an order may read of a job.
struct JobKey {
  JobId job = kNone<JobId>;
  const Shape* shape = nullptr;
  UserId user = kNone<UserId>;
  Instant submitted;
  Duration estimate = kEndless;
};

/// The order of the waiting jobs of one queue. One small file per order under policy/order, one line in
/// policy/registry.cc.
class JobOrder {
 public:
  virtual ~JobOrder() = default;
  virtual std::string_view name() const = 0;
  /// Smaller goes first; equal ranks go by submission, then by JobId. Must be the same for all jobs of a shape but for
  /// `submitted` order, so that the head of a shape's list stands for the list.
  virtual int64_t rank(const JobKey& key) const = 0;
};

}  // namespace weft
