#include "sim/scenario/mig_cut.h"

#include "base/text.h"

#include <fmt/format.h>

#include <string_view>

namespace weft::scenario {
namespace {

struct Cut {
  const DeviceModel& model;
  std::vector<const MigProfile*> profiles;
  std::vector<MigInstanceSpec>& instances;
  std::vector<uint8_t> was_named;

  /// Places instance `i` and all behind it beside the slices in `taken`. At most 8 memory slices: the search is tiny.
  bool place(size_t i, uint32_t taken) {
    if (i == instances.size()) return true;
    const MigProfile& profile = *profiles[i];
    for (unsigned start = 0; start < model.mig_memory_slices; ++start) {
      if (was_named[i] && static_cast<unsigned>(instances[i].start) != start) continue;
      if ((profile.start_mask >> start & 1U) == 0) continue;
      const uint32_t slices = ((1U << profile.memory_slices) - 1) << start;
      if ((taken & slices) != 0 || start + profile.memory_slices > model.mig_memory_slices) continue;
      instances[i].start = static_cast<int8_t>(start);
      if (place(i + 1, taken | slices)) return true;
    }
    if (!was_named[i]) instances[i].start = -1;
    return false;
  }
};

std::string profile_names(const DeviceModel& model) {
  std::string out;
  for (const MigProfile& profile : model.mig_profiles) out += (out.empty() ? "" : ", ") + profile.name;
  return out;
}

}  // namespace

Result<void> place_mig_instances(const DeviceModel& model, std::vector<MigInstanceSpec>& instances) {
  const auto invalid = [](std::string message) { return fail(ErrorCode::kInvalidInput, std::move(message)); };
  if (model.mig_compute_slices == 0) return invalid(fmt::format("{} has no MIG", model.name));
  Cut cut{model, {}, instances, {}};
  unsigned compute = 0;
  std::vector<uint8_t> counts(model.mig_profiles.size(), 0);
  for (const MigInstanceSpec& instance : instances) {
    const MigProfileIndex index = find_mig_profile(model, instance.profile);
    if (index == kNoProfile) {
      return invalid(
          fmt::format("{} has no MIG profile '{}'; it has {}", model.name, instance.profile, profile_names(model)));
    }
    const MigProfile& profile = model.mig_profiles[index];
    if (instance.start >= 0 && !is_mig_start_allowed(model, index, static_cast<unsigned>(instance.start))) {
      return invalid(fmt::format("{} of {} cannot start at memory slice {}", profile.name, model.name, instance.start));
    }
    if (++counts[index] > profile.count_max) {
      return invalid(fmt::format("{} holds at most {} instances of {}", model.name, profile.count_max, profile.name));
    }
    compute += profile.compute_slices;
    if (compute > model.mig_compute_slices) {
      return invalid(fmt::format("these instances take more than the {} compute slices of {}", model.mig_compute_slices,
                                 model.name));
    }
    cut.profiles.push_back(&profile);
    cut.was_named.push_back(instance.start >= 0);
  }
  if (!cut.place(0, 0)) return invalid(fmt::format("{} cannot be cut into these instances together", model.name));
  return {};
}

}  // namespace weft::scenario
