#include "state/mig_layout.h"

#include "base/bits.h"
#include "model/catalogue.h"

#include <array>

namespace weft {

namespace {

struct Search {
  const DeviceModel& model;
  std::span<const InstanceWish> wishes;
  std::vector<FixedInstance> placed;
  std::vector<uint8_t> count_by_profile;

  bool place(size_t i, unsigned occupied, unsigned compute) {
    if (i == wishes.size()) return true;
    const InstanceWish& wish = wishes[i];
    const MigProfile& profile = model.mig_profiles[wish.profile];
    uint8_t& count = count_by_profile[wish.profile];
    if (compute + profile.compute_slices > model.mig_compute_slices || count >= profile.count_max) return false;
    const unsigned first = wish.start < 0 ? 0 : static_cast<unsigned>(wish.start);
    const unsigned last = wish.start < 0 ? model.mig_memory_slices : first + 1;
    for (unsigned start = first; start < last; ++start) {
      if (!is_mig_start_allowed(model, wish.profile, start)) continue;
      const unsigned slices = mig_slices(profile, start);
      if ((slices & occupied) != 0) continue;
      placed.push_back({.profile = wish.profile, .start = static_cast<uint8_t>(start)});
      ++count;
      if (place(i + 1, occupied | slices, compute + profile.compute_slices)) return true;
      --count;
      placed.pop_back();
    }
    return false;
  }
};

}  // namespace

uint8_t mig_slices(const MigProfile& profile, unsigned start) {
  return static_cast<uint8_t>(low_bits(profile.memory_slices) << start);
}

std::optional<std::vector<FixedInstance>> lay_out_instances(const DeviceModel& model,
                                                            std::span<const InstanceWish> wishes) {
  Search search{.model = model, .wishes = wishes, .placed = {}, .count_by_profile = {}};
  search.count_by_profile.resize(model.mig_profiles.size(), 0);
  if (!search.place(0, 0, 0)) return std::nullopt;
  return std::move(search.placed);
}

}  // namespace weft
