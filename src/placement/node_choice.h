#pragma once

#include "base/ids.h"
#include "model/placement.h"
#include "model/policy.h"
#include "model/shape.h"
#include "model/verdict.h"
#include "placement/device_choice.h"
#include "placement/link_choice.h"
#include "placement/mig_choice.h"

#include <cstdint>

namespace weft {

class ClusterState;

/// What a choice works with. Without tables the same answers are computed directly.
struct ChoiceParts {
  const ClusterState& state;
  PackOrSpread mode = PackOrSpread::kPack;
  LinkTables* links = nullptr;
  MigTables* migs = nullptr;
};

/// One MIG instance that a task could have.
struct MigPlace {
  unsigned device = 0;
  MigProfileIndex profile = kNoProfile;
  uint8_t start = 0;
  uint8_t is_fixed = 0;
  int32_t free_compute = 0;  ///< of the device, before
};

/// The choice of devices, zone and instance for one task on one node: the work behind DeviceChooser and
/// choose_devices().
class NodeChoice {
 public:
  /// Requires: `parts`, `demand` and `rules` live longer.
  NodeChoice(const ChoiceParts& parts, NodeId node, const TaskDemand& demand, const ChoiceRules& rules);

  /// See DeviceChooser::choose().
  Reason run(TaskPlacement& out);
  /// See DeviceChooser::fit().
  Reason fit(DeviceMask& room);

  // The pieces, for those who look for other choices than the preferred one (see device_options.h).

  /// CPUs, memory and disk of the whole node.
  Reason totals() const;
  /// Whole devices that are free and allowed.
  DeviceMask whole_candidates() const;
  /// Devices with room for the fraction. `reason` is set when there are none.
  SuitableDevices fraction_candidates() const;
  /// Usable devices in MIG mode.
  DeviceMask mig_candidates() const;
  /// The preferred place on a device in MIG mode: a fixed instance, or a cut by mig_choice.h; kNoProfile when there is
  /// no room.
  MigPlace mig_place(unsigned device) const;
  bool has_zone_cpus(unsigned zone) const;
  DeviceMask zone_devices(unsigned zone) const;
  unsigned zone_count() const;
  /// kNoZone for a device in no zone.
  uint8_t zone_of(unsigned device) const;
  bool needs_zone() const { return demand_.numa == NumaNeed::kOneZone; }

  void fill_whole(DeviceMask devices, uint8_t zone, TaskPlacement& out) const;
  void fill_fraction(unsigned device, TaskPlacement& out) const;
  void fill_mig(const MigPlace& place, TaskPlacement& out) const;
  void fill_plain(uint8_t zone, TaskPlacement& out) const;

 private:
  /// The filters of whole devices up to the zone; `among` are the devices to choose from.
  Reason filter_whole(DeviceMask& among) const;
  /// All filters of a fraction; `among` are the devices to choose from.
  Reason filter_fraction(DeviceMask& among) const;
  Reason choose_plain(TaskPlacement& out) const;
  Reason choose_whole(TaskPlacement& out);
  Reason choose_whole_in_zone(DeviceMask free, DeviceMask among, TaskPlacement& out);
  Reason choose_fraction(TaskPlacement& out);
  Reason choose_mig(TaskPlacement& out) const;
  bool has_island(DeviceMask among) const;
  DeviceMask links(const LinkWish& wish);
  /// Devices in zones that have the CPUs for the task.
  DeviceMask in_open_zones() const;
  void start_filling(TaskPlacement& out) const;
  bool is_pack() const { return parts_.mode == PackOrSpread::kPack; }

  const ChoiceParts& parts_;
  const ClusterState& state_;
  NodeId node_;
  size_t n_;
  const TaskDemand& demand_;
  const ChoiceRules& rules_;
};

}  // namespace weft
