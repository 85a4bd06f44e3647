#include "state/node_arrival.h"

#include "state/mig_layout.h"
#include "state/spec_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace weft {

namespace {

constexpr size_t kZonesMax = 64;
constexpr size_t kFixedInstancesMax = 16;  // bits of DeviceTable::mig_fixed_busy
constexpr uint8_t kQualityInIsland = 100;
constexpr uint8_t kQualityInZone = 10;

class NodeChecker {
 public:
  NodeChecker(const NodeSpec& spec, const Vocabulary& names)
      : spec_(spec), names_(names), where_("node " + quoted(spec.name)) {}

  Result<NodeArrival> run() {
    using Step = Result<void> (NodeChecker::*)();
    for (const Step step : {&NodeChecker::name, &NodeChecker::quantities, &NodeChecker::labels, &NodeChecker::devices,
                            &NodeChecker::zones, &NodeChecker::islands, &NodeChecker::quality}) {
      if (auto ok = (this->*step)(); !ok) return std::unexpected(std::move(ok.error()));
    }
    return std::move(arrival_);
  }

 private:
  template <typename... Args>
  std::unexpected<Error> wrong(fmt::format_string<Args...> text, Args&&... args) const {
    return invalid(where_ + ": " + fmt::format(text, std::forward<Args>(args)...));
  }

  Result<void> name();
  Result<void> quantities();
  Result<void> labels();
  Result<void> devices();
  Result<void> mig(size_t d, const DeviceModel& model, NodeArrival::Device& out);
  Result<void> zones();
  Result<void> zones_from_devices();
  Result<void> islands();
  Result<void> quality();

  const NodeSpec& spec_;
  const Vocabulary& names_;
  std::string where_;
  NodeArrival arrival_;
};

Result<void> NodeChecker::name() {
  if (spec_.name.empty()) return invalid("a node has no name");
  if (is_set(names_.nodes.find(spec_.name)))
    return fail(ErrorCode::kConflict, where_ + ": there is a node of this name already");
  return {};
}

Result<void> NodeChecker::quantities() {
  struct Quantity {
    const char* name;
    int64_t value;
  };
  for (const Quantity& q : {Quantity{"cpus", spec_.cpu_milli}, Quantity{"memory", spec_.memory_bytes},
                            Quantity{"disk", spec_.disk_bytes}}) {
    if (q.value < 0) return wrong("{} is negative", q.name);
    if (q.value > kQuantityMax) return wrong("{} is too large a number", q.name);
  }
  return {};
}

Result<void> NodeChecker::labels() {
  std::set<std::string_view> keys;
  for (const auto& [key, value] : spec_.labels) {
    if (key.empty() || key.find('=') != std::string::npos) return wrong("{} is not a label's name", quoted(key));
    if (!keys.insert(key).second) return wrong("the label {} is given twice", quoted(key));
  }
  for (const TaintSpec& taint : spec_.taints) {
    if (taint.key.empty()) return wrong("a taint has no key");
  }
  return {};
}

Result<void> NodeChecker::devices() {
  if (spec_.devices.size() > kMaxDevicesPerNode) {
    return wrong("{} devices; a node has at most {}", spec_.devices.size(), kMaxDevicesPerNode);
  }
  for (size_t d = 0; d < spec_.devices.size(); ++d) {
    const DeviceSpec& device = spec_.devices[d];
    const DeviceModelId id = names_.devices.find(device.model);
    if (!is_set(id)) {
      return wrong("device {}: unknown model {}{}", d, quoted(device.model),
                   suggest_model(device.model, names_.devices));
    }
    if (device.memory_bytes < 0) return wrong("device {}: memory is negative", d);
    if (device.memory_bytes > kQuantityMax) return wrong("device {}: memory is too large a number", d);
    const DeviceModel& model = names_.devices.model(id);
    NodeArrival::Device out{.model = id, .memory_bytes = device.memory_bytes, .instances = {}};
    if (out.memory_bytes == 0) out.memory_bytes = model.memory_bytes;
    if (auto ok = mig(d, model, out); !ok) return ok;
    arrival_.devices.push_back(std::move(out));
  }
  return {};
}

Result<void> NodeChecker::mig(size_t d, const DeviceModel& model, NodeArrival::Device& out) {
  const DeviceSpec& device = spec_.devices[d];
  if (device.mig_mode == MigMode::kOff) {
    if (!device.mig_instances.empty()) return wrong("device {}: it lists MIG instances but is not in MIG mode", d);
    return {};
  }
  if (model.mig_profiles.empty()) return wrong("device {}: {} has no MIG", d, model.name);
  if (device.mig_instances.size() > kFixedInstancesMax) {
    return wrong("device {}: {} MIG instances; at most {} are possible", d, device.mig_instances.size(),
                 kFixedInstancesMax);
  }
  std::vector<InstanceWish> wishes;
  for (const MigInstanceSpec& instance : device.mig_instances) {
    const MigProfileIndex profile = find_mig_profile(model, instance.profile);
    if (profile == kNoProfile) {
      return wrong("device {}: {} has no MIG profile {}{}", d, model.name, quoted(instance.profile),
                   known_profiles(model));
    }
    if (instance.start >= 0 && !is_mig_start_allowed(model, profile, static_cast<unsigned>(instance.start))) {
      return wrong("device {}: an instance {} cannot start at slice {}", d, instance.profile, instance.start);
    }
    wishes.push_back({.profile = profile, .start = instance.start < 0 ? -1 : instance.start});
  }
  auto layout = lay_out_instances(model, wishes);
  if (!layout) return wrong("device {}: a {} cannot be cut into the MIG instances listed", d, model.name);
  if (device.mig_cut == MigCut::kFixed) out.instances = std::move(*layout);
  return {};
}

Result<void> NodeChecker::zones() {
  const DeviceMask existing = low_bits(static_cast<unsigned>(spec_.devices.size()));
  if (spec_.numa.empty()) {
    arrival_.zones.push_back({.cpu_milli = spec_.cpu_milli, .devices = existing});
    return {};
  }
  if (spec_.numa.size() > kZonesMax) return wrong("{} NUMA zones; a node has at most {}", spec_.numa.size(), kZonesMax);
  DeviceMask seen = 0;
  for (size_t z = 0; z < spec_.numa.size(); ++z) {
    const NumaZoneSpec& zone = spec_.numa[z];
    if (zone.cpu_milli < 0) return wrong("NUMA zone {}: cpus is negative", z);
    if (zone.cpu_milli > kQuantityMax) return wrong("NUMA zone {}: cpus is too large a number", z);
    if ((zone.devices & ~existing) != 0) {
      return wrong("NUMA zone {}: it names device {}, but the node has {}", z,
                   std::bit_width(zone.devices & ~existing) - 1, spec_.devices.size());
    }
    if ((zone.devices & seen) != 0) {
      return wrong("device {} is in two NUMA zones", std::countr_zero(zone.devices & seen));
    }
    seen |= zone.devices;
    arrival_.zones.push_back({.cpu_milli = zone.cpu_milli, .devices = zone.devices});
  }
  return seen == 0 ? zones_from_devices() : Result<void>{};
}

/// No zone lists its devices: each device says where it is.
Result<void> NodeChecker::zones_from_devices() {
  for (size_t d = 0; d < spec_.devices.size(); ++d) {
    const uint8_t zone = spec_.devices[d].numa_zone;
    if (zone >= arrival_.zones.size()) {
      return wrong("device {} is in NUMA zone {}, but the node has {}", d, zone, arrival_.zones.size());
    }
    arrival_.zones[zone].devices |= uint64_t{1} << d;
  }
  return {};
}

Result<void> NodeChecker::islands() {
  const DeviceMask existing = low_bits(static_cast<unsigned>(spec_.devices.size()));
  LinkLayout& layout = arrival_.layout;
  layout.device_count = static_cast<unsigned>(spec_.devices.size());
  for (const NodeArrival::Zone& zone : arrival_.zones) layout.zone_devices.push_back(zone.devices);
  if (spec_.islands.empty()) {
    if (existing != 0) layout.islands.push_back(existing);
    return {};
  }
  DeviceMask seen = 0;
  for (const DeviceMask island : spec_.islands) {
    if (island == 0) return wrong("an island has no devices");
    if ((island & ~existing) != 0) {
      return wrong("an island names device {}, but the node has {}", std::bit_width(island & ~existing) - 1,
                   spec_.devices.size());
    }
    if ((island & seen) != 0) return wrong("device {} is in two islands", std::countr_zero(island & seen));
    seen |= island;
    layout.islands.push_back(island);
  }
  for_each_bit(existing & ~seen, [&](unsigned d) { layout.islands.push_back(uint64_t{1} << d); });  // alone
  return {};
}

bool in_one(const std::vector<DeviceMask>& groups, DeviceMask devices) {
  return std::ranges::any_of(groups, [&](DeviceMask group) { return (group & devices) == devices; });
}

Result<void> NodeChecker::quality() {
  const size_t n = spec_.devices.size();
  LinkLayout& layout = arrival_.layout;
  if (!spec_.link_quality.empty()) {
    if (spec_.link_quality.size() != n * n) {
      return wrong("link_quality has {} numbers; {} devices need {}", spec_.link_quality.size(), n, n * n);
    }
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b < a; ++b) {
        if (spec_.link_quality[a * n + b] != spec_.link_quality[b * n + a]) {
          return wrong("link_quality of devices {} and {} is not the same both ways", b, a);
        }
      }
    }
    layout.quality = spec_.link_quality;
    return {};
  }
  layout.quality.resize(n * n, 0);
  for (size_t a = 0; a < n; ++a) {
    for (size_t b = 0; b < n; ++b) {
      const DeviceMask both = uint64_t{1} << a | uint64_t{1} << b;
      uint8_t& quality = layout.quality[a * n + b];
      if (in_one(layout.zone_devices, both)) quality = kQualityInZone;
      if (in_one(layout.islands, both)) quality = kQualityInIsland;
    }
  }
  return {};
}

}  // namespace

Result<NodeArrival> check_node(const NodeSpec& spec, const Vocabulary& names) { return NodeChecker(spec, names).run(); }

}  // namespace weft
