#pragma once

#include "base/result.h"
#include "engine/local/machine.h"
#include "model/policy.h"

#include <optional>
#include <string>

namespace weft::cli {

// What `serve` and `demo` read alike.

/// --virtual-gpus and --gpu-model.
Result<local::VirtualGpus> read_virtual_gpus(const std::optional<std::string>& count, const std::string& model);
/// --policy: the node score of that name; whether it exists is for Scheduler::create() to say.
PolicyConfig policy_called(const std::string& name);

}  // namespace weft::cli
