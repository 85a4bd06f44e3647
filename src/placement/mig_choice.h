#pragma once

#include "base/ids.h"
#include "model/catalogue.h"
#include "model/device.h"

#include <cstdint>
#include <vector>

namespace weft {

/// What of a device in MIG mode is in use.
struct MigUse {
  uint8_t occupied = 0;      ///< bit s: memory slice s
  uint8_t compute_used = 0;  ///< compute slices
};

/// True when an instance of `profile` may start at `start` beside what is in use.
bool fits_mig(const DeviceModel& model, MigProfileIndex profile, unsigned start, MigUse use);

/// What is in use once an instance of `profile` at `start` is.
MigUse with_mig(const DeviceModel& model, MigProfileIndex profile, unsigned start, MigUse use);

/// How many (profile, start) pairs are still possible beside what is in use.
unsigned mig_placements_left(const DeviceModel& model, MigUse use);

/// The start at which an instance of `profile` leaves the most placements of all profiles possible; the lowest of equal
/// ones. -1 when none fits.
int choose_mig_start(const DeviceModel& model, MigProfileIndex profile, MigUse use);

/// Remembers choose_mig_start() per model, computed when first asked for.
class MigTables {
 public:
  /// Makes room for the models of the catalogue. Allocates only when it has grown.
  void prepare(const DeviceCatalogue& catalogue);
  /// As choose_mig_start(). Requires: prepare() has seen the model.
  int start(const DeviceModel& model, DeviceModelId id, MigProfileIndex profile, MigUse use);

 private:
  static constexpr size_t kMasks = 256;

  std::vector<std::vector<int8_t>>
      tables_;  ///< by model: [profile][compute used][occupied]; kUnknown: not yet asked for
};

}  // namespace weft
