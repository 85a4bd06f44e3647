#include "model/device_tables.h"

#include "base/text.h"
#include "base/units.h"
#include "model/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace weft {
namespace {

constexpr std::array<std::string_view, 17> kDeviceColumns{"name",
                                                          "aliases",
                                                          "vendor",
                                                          "kind",
                                                          "memory_gib",
                                                          "compute_capability",
                                                          "multiprocessors",
                                                          "memory_bandwidth_gb_per_s",
                                                          "bf16_tflops",
                                                          "fp8_tflops",
                                                          "link_gb_per_s",
                                                          "pcie_generation",
                                                          "power_limit_watts",
                                                          "mig",
                                                          "confidence",
                                                          "source",
                                                          "note"};
constexpr std::array<std::string_view, 8> kMigColumns{
    "family",        "profile",          "compute_slices", "of_compute_slices",
    "memory_slices", "of_memory_slices", "starts",         "count_max"};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// One line of a table, with cells read by column name. The first error sticks; after it every read gives zero.
class Row {
 public:
  Row(std::string where, std::span<const std::string_view> columns, std::vector<std::string_view> cells)
      : where_(std::move(where)), columns_(columns), cells_(std::move(cells)) {
    if (cells_.size() != columns_.size()) {
      error_ = fmt::format("{}: has {} columns, not {}", where_, cells_.size(), columns_.size());
      cells_.resize(columns_.size());
    }
  }

  std::string_view cell(std::string_view column) const {
    const auto found = std::ranges::find(columns_, column);
    return cells_[static_cast<size_t>(found - columns_.begin())];
  }
  bool is_empty(std::string_view column) const { return cell(column) == "-"; }

  template <typename Integer>
  Integer integer(std::string_view column) {
    return is_empty(column) ? Integer{0} : whole<Integer>(column, cell(column));
  }
  template <typename Integer>
  Integer whole(std::string_view column, std::string_view text) {
    return static_cast<Integer>(keep(column, parse_integer(text, 0, std::numeric_limits<Integer>::max())));
  }
  double number(std::string_view column) { return is_empty(column) ? 0 : keep(column, parse_number(cell(column))); }

  void complain(std::string_view column, std::string_view what) {
    if (error_.empty()) error_ = fmt::format("{}: {}: {} {}", where_, column, quote(cell(column)), what);
  }
  const std::string& error() const { return error_; }

 private:
  template <typename T>
  T keep(std::string_view column, const Result<T>& result) {
    if (result) return *result;
    if (error_.empty()) error_ = fmt::format("{}: {}: {}", where_, column, result.error().message);
    return T{0};
  }

  std::string where_;
  std::span<const std::string_view> columns_;
  std::vector<std::string_view> cells_;
  std::string error_;
};

/// Calls `read(row)` for every line that is no comment, after the line with the columns' names; stops at the first
/// error.
template <typename Read>
Result<void> for_each_row(std::string_view file, std::string_view text, std::span<const std::string_view> columns,
                          Read&& read) {
  bool is_first = true;
  size_t line_number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++line_number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::string where = fmt::format("{}:{}", file, line_number);
    std::vector<std::string_view> cells = split(line, '\t');
    if (std::exchange(is_first, false)) {
      if (!std::ranges::equal(cells, columns)) {
        return fail(ErrorCode::kInvalidInput, fmt::format("{}: the columns are {}", where, fmt::join(columns, " ")));
      }
      continue;
    }
    Row row(where, columns, std::move(cells));
    if (row.error().empty()) read(row);
    if (!row.error().empty()) return fail(ErrorCode::kInvalidInput, row.error());
  }
  return {};
}

struct MigFamily {
  uint8_t compute_slices = 0;
  uint8_t memory_slices = 0;
  std::vector<MigProfile> profiles;
};
using MigFamilies = std::map<std::string, MigFamily, std::less<>>;

void read_profile(Row& row, MigFamilies& families) {
  MigFamily& family = families[std::string(row.cell("family"))];
  family.compute_slices = row.integer<uint8_t>("of_compute_slices");
  family.memory_slices = row.integer<uint8_t>("of_memory_slices");
  MigProfile profile;
  profile.name = row.cell("profile");
  profile.compute_slices = row.integer<uint8_t>("compute_slices");
  profile.memory_slices = row.integer<uint8_t>("memory_slices");
  profile.count_max = row.integer<uint8_t>("count_max");
  for (const std::string_view start : split(row.cell("starts"), ',')) {
    const auto slice = row.whole<uint8_t>("starts", start);
    if (slice >= 16) return row.complain("starts", "has a start beyond 15");
    profile.start_mask = static_cast<uint16_t>(profile.start_mask | (1U << slice));
  }
  family.profiles.push_back(std::move(profile));
}

/// "8.0" -> 80, "10.3" -> 103.
uint16_t read_compute_capability(Row& row) {
  if (row.is_empty("compute_capability")) return 0;
  const auto parts = split(row.cell("compute_capability"), '.');
  if (parts.size() != 2 || parts[1].size() != 1) {
    row.complain("compute_capability", "is not of the form 8.0");
    return 0;
  }
  const auto major = row.whole<uint8_t>("compute_capability", parts[0]);
  const auto minor = row.whole<uint8_t>("compute_capability", parts[1]);
  return static_cast<uint16_t>(major * 10 + minor);
}

DeviceKind read_kind(Row& row) {
  const std::string_view kind = row.cell("kind");
  if (kind == "gpu") return DeviceKind::kGpu;
  if (kind == "tpu") return DeviceKind::kTpu;
  if (kind == "npu") return DeviceKind::kNpu;
  row.complain("kind", "is none of gpu, tpu, npu");
  return DeviceKind::kOther;
}

std::vector<std::string> read_aliases(const Row& row) {
  std::vector<std::string> aliases;
  if (row.is_empty("aliases")) return aliases;
  for (const std::string_view alias : split(row.cell("aliases"), '|')) {
    aliases.emplace_back(alias);
    if (alias.find(' ') == std::string_view::npos) continue;
    std::string as_label(alias);
    std::ranges::replace(as_label, ' ', '-');
    aliases.push_back(std::move(as_label));
  }
  // A product string may become a name that stands there already.
  std::ranges::sort(aliases);
  const auto repeated = std::ranges::unique(aliases);
  aliases.erase(repeated.begin(), repeated.end());
  std::erase(aliases, row.cell("name"));
  return aliases;
}

DeviceRecord read_device(Row& row, const MigFamilies& families) {
  DeviceRecord record;
  record.aliases = read_aliases(row);
  DeviceModel& model = record.model;
  model.name = row.cell("name");
  if (!row.is_empty("vendor")) model.vendor = row.cell("vendor");
  model.kind = read_kind(row);
  model.memory_bytes = row.integer<uint16_t>("memory_gib") * kGiB;
  model.compute_capability = read_compute_capability(row);
  model.multiprocessors = row.integer<uint16_t>("multiprocessors");
  model.memory_bandwidth_gb_per_s = row.number("memory_bandwidth_gb_per_s");
  model.bf16_tflops = row.number("bf16_tflops");
  model.fp8_tflops = row.number("fp8_tflops");
  model.link_gb_per_s = row.number("link_gb_per_s");
  model.pcie_generation = row.integer<uint8_t>("pcie_generation");
  model.power_limit_watts = row.integer<uint16_t>("power_limit_watts");
  if (!row.is_empty("mig")) {
    const auto family = families.find(row.cell("mig"));
    if (family == families.end()) {
      row.complain("mig", "is no family of mig_profiles.tsv");
      return record;
    }
    model.mig_compute_slices = family->second.compute_slices;
    model.mig_memory_slices = family->second.memory_slices;
    model.mig_profiles = family->second.profiles;
  }
  const std::string_view confidence = row.cell("confidence");
  if (confidence != "checked" && confidence != "recalled" && confidence != "low") {
    row.complain("confidence", "is none of checked, recalled, low");
  }
  if (row.is_empty("source") || row.cell("source").empty()) row.complain("source", "is missing");
  return record;
}

}  // namespace

Result<std::vector<DeviceRecord>> parse_device_tables(std::string_view devices, std::string_view mig_profiles) {
  MigFamilies families;
  const auto profiles_read =
      for_each_row("mig_profiles.tsv", mig_profiles, kMigColumns, [&](Row& row) { read_profile(row, families); });
  if (!profiles_read) return std::unexpected(profiles_read.error());

  std::vector<DeviceRecord> records;
  std::set<std::string> names;
  const auto devices_read = for_each_row("devices.tsv", devices, kDeviceColumns, [&](Row& row) {
    DeviceRecord record = read_device(row, families);
    if (!names.insert(record.model.name).second) row.complain("name", "stands there twice");
    for (const std::string& alias : record.aliases) {
      if (!names.insert(alias).second) row.complain("aliases", fmt::format("holds {}, which is taken", quote(alias)));
    }
    if (const auto sound = check_device_model(record.model); !sound) row.complain("name", sound.error().message);
    records.push_back(std::move(record));
  });
  if (!devices_read) return std::unexpected(devices_read.error());
  return records;
}

}  // namespace weft
