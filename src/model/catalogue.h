#pragma once

#include "base/result.h"
#include "model/device.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// The device models that this process knows: the built-in records (vendors' data sheets, kept as data in
/// `devices.tsv`) and those that a driver adds (a trace's own model names). Ids are dense, in order of appearance;
/// `generic` is id 0. The built-in records are parsed once per process and shared: an empty catalogue costs nothing to
/// make, and copies are cheap.
class DeviceCatalogue {
 public:
  /// The built-in records only.
  DeviceCatalogue();

  /// kNone when no model has this name or one of its aliases. Case counts.
  DeviceModelId find(std::string_view name) const;
  /// What a person means by `name`, in the order of ids: the model that find() gives; else, whatever the case, those
  /// with this name or alias; else those whose own name begins with it up to a '-': "h100" is every H100-…. Empty when
  /// there is none. Cost: O(size()) unless find() knows it.
  std::vector<DeviceModelId> match(std::string_view name) const;
  const DeviceModel& model(DeviceModelId id) const;  ///< valid until the next add()
  size_t size() const { return built_in_count_ + models_.size(); }

  /// Adds a model or returns the id of the one that has its name as name or alias, which stays as it is. Cost:
  /// O(size()). Requires: check_device_model() passes it.
  DeviceModelId add(DeviceModel model);

  /// The models' own names by id, without aliases. For "did you mean …?".
  std::vector<std::string_view> names() const;

 private:
  struct BuiltIn;

  const BuiltIn* built_in_;
  size_t built_in_count_;
  std::vector<DeviceModel> models_;                           // the added ones
  std::vector<std::pair<std::string, DeviceModelId>> names_;  // sorted; of the added ones
};

/// The index of the profile called `name` in `model`, or kNoProfile.
MigProfileIndex find_mig_profile(const DeviceModel& model, std::string_view name);

/// Profiles of the wide sense for data checks: true when `start` .. fits the model's memory slices and is allowed by
/// the vendor.
bool is_mig_start_allowed(const DeviceModel& model, MigProfileIndex profile, unsigned start);

/// What is wrong with a model that comes from outside: no name, no memory, rates that are no numbers, MIG profiles that
/// do not fit.
Result<void> check_device_model(const DeviceModel& model);

}  // namespace weft
