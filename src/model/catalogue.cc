#include "model/catalogue.h"

#include "base/bits.h"
#include "base/check.h"
#include "base/text.h"
#include "embedded/model/devices.tsv.h"
#include "embedded/model/mig_profiles.tsv.h"
#include "model/device_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

using NameTable = std::vector<std::pair<std::string, DeviceModelId>>;

DeviceModelId find_in(const NameTable& names, std::string_view name) {
  const auto found =
      std::ranges::lower_bound(names, name, {}, [](const auto& entry) -> std::string_view { return entry.first; });
  return found != names.end() && found->first == name ? found->second : kNone<DeviceModelId>;
}

void insert_in(NameTable& names, std::string name, DeviceModelId id) {
  const auto place =
      std::ranges::lower_bound(names, name, {}, [](const auto& entry) -> const std::string& { return entry.first; });
  names.emplace(place, std::move(name), id);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_same_word(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, lower, lower); }

bool is_beginning(std::string_view name, std::string_view of) {
  return !name.empty() && of.size() > name.size() && of[name.size()] == '-' &&
         is_same_word(name, of.substr(0, name.size()));
}

}  // namespace

/// The built-in records: the same for every catalogue, and never changed.
struct DeviceCatalogue::BuiltIn {
  std::vector<DeviceModel> models;
  NameTable names;

  static const BuiltIn& get() {
    static const BuiltIn kBuiltIn;
    return kBuiltIn;
  }

 private:
  BuiltIn() {
    auto records = parse_device_tables(embedded::kDevicesTsv, embedded::kMigProfilesTsv);
    WEFT_CHECK(records.has_value(), records.error().message);
    WEFT_CHECK(!records->empty() && records->front().model.name == "generic", "generic is the model with id 0");
    for (DeviceRecord& record : *records) {
      const auto id = make_id<DeviceModelId>(models.size());
      names.emplace_back(record.model.name, id);
      for (std::string& alias : record.aliases) names.emplace_back(std::move(alias), id);
      models.push_back(std::move(record.model));
    }
    std::ranges::sort(names);
  }
};

DeviceCatalogue::DeviceCatalogue() : built_in_(&BuiltIn::get()), built_in_count_(built_in_->models.size()) {}

DeviceModelId DeviceCatalogue::find(std::string_view name) const {
  const DeviceModelId id = find_in(built_in_->names, name);
  return is_set(id) ? id : find_in(names_, name);
}

std::vector<DeviceModelId> DeviceCatalogue::match(std::string_view name) const {
  if (const DeviceModelId id = find(name); is_set(id)) return {id};
  std::vector<DeviceModelId> found;
  for (const NameTable* table : {&built_in_->names, &names_}) {
    for (const auto& [known, id] : *table) {
      if (is_same_word(name, known)) found.push_back(id);
    }
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  if (!found.empty()) return found;
  for (size_t i = 0; i < size(); ++i) {
    const auto id = make_id<DeviceModelId>(i);
    if (is_beginning(name, model(id).name)) found.push_back(id);
  }
  return found;
}

const DeviceModel& DeviceCatalogue::model(DeviceModelId id) const {
  const size_t i = index(id);
  WEFT_CHECK(i < size(), "an id comes from this catalogue");
  return i < built_in_count_ ? built_in_->models[i] : models_[i - built_in_count_];
}

DeviceModelId DeviceCatalogue::add(DeviceModel model) {
  if (const DeviceModelId known = find(model.name); is_set(known)) return known;
  const auto id = make_id<DeviceModelId>(size());
  insert_in(names_, model.name, id);
  models_.push_back(std::move(model));
  return id;
}

std::vector<std::string_view> DeviceCatalogue::names() const {
  std::vector<std::string_view> all;
  for (const DeviceModel& model : built_in_->models) all.push_back(model.name);
  for (const DeviceModel& model : models_) all.push_back(model.name);
  return all;
}

MigProfileIndex find_mig_profile(const DeviceModel& model, std::string_view name) {
  for (size_t i = 0; i < model.mig_profiles.size(); ++i) {
    if (model.mig_profiles[i].name == name) return static_cast<MigProfileIndex>(i);
  }
  return kNoProfile;
}

bool is_mig_start_allowed(const DeviceModel& model, MigProfileIndex profile, unsigned start) {
  if (profile >= model.mig_profiles.size()) return false;
  const MigProfile& p = model.mig_profiles[profile];
  return start < 16 && ((p.start_mask >> start) & 1U) != 0 && start + p.memory_slices <= model.mig_memory_slices;
}

namespace {

Result<void> check_profile(const DeviceModel& model, const MigProfile& profile) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("MIG profile {} of {} {}", quote(profile.name), quote(model.name), what));
  };
  if (profile.name.empty()) return wrong("has no name");
  if (profile.compute_slices == 0 || profile.compute_slices > model.mig_compute_slices) {
    return wrong(fmt::format("must take 1 to {} compute slices", model.mig_compute_slices));
  }
  if (profile.memory_slices == 0 || profile.memory_slices > model.mig_memory_slices) {
    return wrong(fmt::format("must take 1 to {} memory slices", model.mig_memory_slices));
  }
  if (profile.start_mask == 0) return wrong("may start nowhere");
  const unsigned last_start = 15U - static_cast<unsigned>(std::countl_zero(profile.start_mask));
  if (last_start + profile.memory_slices > model.mig_memory_slices) return wrong("may start where it does not fit");
  if (profile.count_max == 0 || profile.count_max * profile.compute_slices > model.mig_compute_slices) {
    return wrong("has a count_max that the compute slices do not allow");
  }
  return {};
}

}  // namespace

Result<void> check_device_model(const DeviceModel& model) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInvalidInput, fmt::format("device model {} {}", quote(model.name), what));
  };
  if (model.name.empty() || !is_utf8(model.name)) return wrong("needs a name in UTF-8");
  if (model.memory_bytes <= 0 || model.memory_bytes > 256 * kTiB) return wrong("needs a memory of 1 byte to 256Ti");
  for (const double rate :
       {model.memory_bandwidth_gb_per_s, model.bf16_tflops, model.fp8_tflops, model.link_gb_per_s}) {
    if (!std::isfinite(rate) || rate < 0) return wrong("has a rate that is no number of 0 or more");
  }
  if (model.mig_memory_slices > 16) return wrong("has more than 16 MIG memory slices");
  if ((model.mig_compute_slices == 0) != model.mig_profiles.empty())
    return wrong("needs both MIG slices and profiles, or neither");
  if (model.mig_profiles.size() >= kNoProfile) return wrong("has more than 254 MIG profiles");
  for (size_t i = 0; i < model.mig_profiles.size(); ++i) {
    if (const auto sound = check_profile(model, model.mig_profiles[i]); !sound) return sound;
    if (find_mig_profile(model, model.mig_profiles[i].name) != i) return wrong("has two MIG profiles of one name");
  }
  return {};
}

}  // namespace weft
