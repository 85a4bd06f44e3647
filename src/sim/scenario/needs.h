#pragma once

#include "sim/scenario/scenario.h"
#include "sim/scenario/world.h"

#include <map>
#include <string>

namespace weft::scenario {

/// Why a feature is needed, for the writer of the file.
struct NeedNote {
  Place at;  ///< of what asks for it, or of the step in which it would have acted
  std::string text;
};

/// Watches a scenario for features that do not exist yet and could change its outcome. Such a scenario is not judged:
/// it is never counted as passed, and its expectations are not counted as failed. Whoever builds a feature deletes its
/// lines, here and in missing_features().
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
};

}  // namespace weft::scenario
