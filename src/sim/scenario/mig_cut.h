#pragma once

#include "base/result.h"
#include "model/catalogue.h"
#include "model/node.h"

#include <vector>

namespace weft::scenario {

/// Gives every instance whose start is not named (-1) a start, so that all of them lie on one device by the vendor's
/// placements. Error: a profile that the model lacks, a start that the vendor does not allow, or no such cut exists.
Result<void> place_mig_instances(const DeviceModel& model, std::vector<MigInstanceSpec>& instances);

}  // namespace weft::scenario
