#pragma once

#include "base/result.h"
#include "cli/query_commands.h"
#include "service/info.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft::cli {

/// Which jobs a list is to have.
struct JobFilter {
  std::set<std::string> states;  ///< empty: any
  std::set<std::string> users;   ///< empty: any
  std::optional<size_t> last;    ///< the most, counted from the end

  /// Asks for a state that only jobs have which have ended.
  bool wants_ended() const;
  void apply(std::vector<service::JobInfo>& jobs) const;
};

/// Error: a state that is none, or a number that is none, by its option.
Result<JobFilter> read_filter(const QueueOptions& options);

}  // namespace weft::cli
