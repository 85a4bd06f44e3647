#include "placement/mig_choice.h"

#include "base/bits.h"
#include "base/check.h"

namespace weft {

namespace {
constexpr int8_t kUnknown = -2;
}

bool fits_mig(const DeviceModel& model, MigProfileIndex profile, unsigned start, MigUse use) {
  const MigProfile& p = model.mig_profiles[profile];
  if (((p.start_mask >> start) & 1U) == 0) return false;
  if (start + p.memory_slices > model.mig_memory_slices) return false;
  if (use.compute_used + p.compute_slices > model.mig_compute_slices) return false;
  return (use.occupied & (low_bits(p.memory_slices) << start)) == 0;
}

MigUse with_mig(const DeviceModel& model, MigProfileIndex profile, unsigned start, MigUse use) {
  const MigProfile& p = model.mig_profiles[profile];
  return {.occupied = static_cast<uint8_t>(use.occupied | (low_bits(p.memory_slices) << start)),
          .compute_used = static_cast<uint8_t>(use.compute_used + p.compute_slices)};
}

unsigned mig_placements_left(const DeviceModel& model, MigUse use) {
  unsigned left = 0;
  for (size_t p = 0; p < model.mig_profiles.size(); ++p) {
    for (unsigned start = 0; start < model.mig_memory_slices; ++start) {
      left += fits_mig(model, static_cast<MigProfileIndex>(p), start, use) ? 1 : 0;
    }
  }
  return left;
}

int choose_mig_start(const DeviceModel& model, MigProfileIndex profile, MigUse use) {
  int best = -1;
  unsigned most = 0;
  for (unsigned start = 0; start < model.mig_memory_slices; ++start) {
    if (!fits_mig(model, profile, start, use)) continue;
    const unsigned left = mig_placements_left(model, with_mig(model, profile, start, use));
    if (best >= 0 && left <= most) continue;
    best = static_cast<int>(start);
    most = left;
  }
  return best;
}

void MigTables::prepare(const DeviceCatalogue& catalogue) {
  for (size_t id = tables_.size(); id < catalogue.size(); ++id) {
    const DeviceModel& model = catalogue.model(make_id<DeviceModelId>(id));
    tables_.emplace_back(model.mig_profiles.size() * (model.mig_compute_slices + size_t{1}) * kMasks, kUnknown);
  }
}

int MigTables::start(const DeviceModel& model, DeviceModelId id, MigProfileIndex profile, MigUse use) {
  WEFT_CHECK(use.compute_used <= model.mig_compute_slices, "a device has so many compute slices");
  const size_t row = profile * (model.mig_compute_slices + size_t{1}) + use.compute_used;
  int8_t& known = tables_[index(id)][row * kMasks + use.occupied];
  if (known == kUnknown) known = static_cast<int8_t>(choose_mig_start(model, profile, use));
  return known;
}

}  // namespace weft
