#pragma once

#include "sim/scenario/probe.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/situation.h"
#include "sim/scenario/world.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::scenario {

/// Why a feature is needed, for the writer of the file.
struct NeedNote {
  Place at;  ///< of what asks for it, or of the step in which it would have acted
  std::string text;
};

/// Watches a scenario for features that do not exist yet and could change its outcome. Such a scenario is not judged:
/// it is never counted as passed, and its expectations are not counted as failed.
///
/// Two lists, a line per feature: what a policy asks for in so many words (missing_features()), and in needs.cc what a
/// rung of the preset would have had to do after a cycle. Whoever builds a feature deletes its lines. A rung that
/// provably has nothing to do is not needed; where that is not proven, it is.
class NeedsWatch {
 public:
  /// Notes what the file asks for.
  explicit NeedsWatch(const Scenario& scenario);

  /// To be called after every cycle of the step at `step`.
  void observe(World& world, Place step);

  /// By feature.
  const std::map<std::string, NeedNote>& found() const { return found_; }

 private:
  std::map<std::string, NeedNote> found_;
  Probe probe_;
  int64_t seen_changes_ = -1;
  Instant seen_at_;
};

}  // namespace weft::scenario
