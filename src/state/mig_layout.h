#pragma once

#include "model/node.h"
#include "state/tables.h"

#include <optional>
#include <span>
#include <vector>

namespace weft {

/// A MIG instance asked for: a profile of the device's model, and where it starts (-1: anywhere).
struct InstanceWish {
  MigProfileIndex profile = kNoProfile;
  int start = -1;
};

/// The memory slices of an instance as bits.
uint8_t mig_slices(const MigProfile& profile, unsigned start);

/// Starts for all wishes on one device by the vendor's geometry, in the order of the wishes: each at its first allowed
/// start for which the rest still finds a place. Empty when there is no such layout. Cost: a search over at most 8
/// slices.
std::optional<std::vector<FixedInstance>> lay_out_instances(const DeviceModel& model,
                                                            std::span<const InstanceWish> wishes);

}  // namespace weft
