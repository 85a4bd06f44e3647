#pragma once

#include "base/result.h"
#include "sim/scenario/policy_wish.h"

#include <string>

namespace weft::scenario {

/// Reads a policy from a YAML file of one document, with the keys of a scenario's `policy`. Errors: one line,
/// "file:line:column: …"; also for a key whose feature does not exist yet.
Result<PolicyWish> read_policy_file(const std::string& path);

}  // namespace weft::scenario
