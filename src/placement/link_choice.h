#pragma once

#include "base/ids.h"
#include "model/device.h"
#include "model/policy.h"
#include "state/tables.h"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Which whole devices to take.
struct LinkWish {
  DeviceMask free = 0;   ///< free on the node: what is not taken stays free
  DeviceMask among = 0;  ///< of these, a part of `free`
  unsigned count = 0;    ///< at least 1
};

/// The `count` best devices of `among`, or 0 when there are fewer. In this order:
/// 1. devices of one island before devices of several;
/// 2. of the islands that hold them the one where the least (pack) or the most (spread) stays free;
/// 3. the best links among the chosen ones (sum over pairs);
/// 4. the fewest (pack) or the most (spread) links to the devices that stay free, so that linked groups stay whole;
/// 5. the lowest device numbers.
/// Exact for nodes of up to 8 devices; beyond that each device in turn is grown into a set, best link first.
DeviceMask choose_linked(const LinkLayout& layout, const LinkWish& wish, PackOrSpread mode);

/// The lowest device numbers of `among`, for tests and ties: true when a stands before b.
constexpr bool has_lower_devices(DeviceMask a, DeviceMask b) {
  const DeviceMask differ = a ^ b;
  return (a & differ & (~differ + 1)) != 0;
}

/// Remembers choose_linked() for layouts of up to 8 devices: one byte per free mask and count, computed when first
/// asked for.
class LinkTables {
 public:
  explicit LinkTables(PackOrSpread mode) : mode_(mode) {}

  /// Makes room for new layouts. Allocates only then.
  void prepare(std::span<const LinkLayout> layouts);
  /// As choose_linked(). Requires: prepare() has seen the layout. A look-up when `among` is all that is free.
  DeviceMask choose(std::span<const LinkLayout> layouts, uint32_t layout, const LinkWish& wish);

 private:
  static constexpr unsigned kDevicesMax = 8;
  static constexpr size_t kMasks = size_t{1} << kDevicesMax;

  PackOrSpread mode_;
  size_t prepared_ = 0;
  std::vector<std::vector<uint8_t>>
      tables_;  ///< by layout: [count - 1][free mask]; 0: not yet asked for; empty: too many devices
};

}  // namespace weft
