#pragma once

#include "model/policy.h"
#include "policy/job_order.h"

#include <vector>

namespace weft {

/// What the two orders by attained service share: discretised queues, as in Tiresias (Gu et al., NSDI 2019). A job
/// begins on level 0 and sinks by one when its service reaches the level's limit; nobody rises. Lower levels go first;
/// on one level whoever runs goes before who waits, else by arrival.
class LevelOrder : public JobOrder {
 public:
  explicit LevelOrder(const ServiceOptions& options) : limits_(options.limits), looks_(options.looks) {}

  int64_t rank(const JobKey& key) const override { return key.level; }
  RankOf rank_of() const override { return RankOf::kService; }
  Ties ties() const override { return Ties::kRunningFirst; }
  bool has_levels() const override { return true; }
  bool sinks(const JobKey& key) const override;
  Instant next_look(const JobKey& key, Instant now) const override;
  bool renews_looks() const override { return looks_ == LevelLooks::kFloorOfEach; }
  bool is_steady_until_look(const JobKey& key) const override;

 private:
  /// What counts against the limits, in nanoseconds.
  virtual int64_t service(const JobKey& key) const = 0;
  /// Thousandths by which service grows in a nanosecond.
  virtual int64_t pace_milli(const JobKey& key) const = 0;

  std::vector<Duration> limits_;
  LevelLooks looks_;
};

}  // namespace weft
