#pragma once

#include "base/result.h"
#include "model/device.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// A device model and the other names by which it goes.
struct DeviceRecord {
  DeviceModel model;
  std::vector<std::string> aliases;
};

/// Reads the two built-in tables; their columns are explained at their heads. An error names file, line and column:
/// "devices.tsv:12: memory_gib: 'x' is not …". Every name and alias is distinct, and every model passes
/// check_device_model().
Result<std::vector<DeviceRecord>> parse_device_tables(std::string_view devices, std::string_view mig_profiles);

}  // namespace weft
