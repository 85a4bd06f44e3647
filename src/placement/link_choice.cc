#include "placement/link_choice.h"

#include "base/bits.h"
#include "base/check.h"

#include <array>

namespace weft {

namespace {

constexpr uint64_t kLinksMax = uint64_t{1} << 20;  // more than 64 * 64 pairs of quality 255

/// What stands first is worth most; smaller is better. See choose_linked().
struct Rank {
  uint64_t spread_out = 0;  ///< 0: in one island
  uint64_t island_rest = 0;
  uint64_t missing_links = 0;
  uint64_t cut_links = 0;
  DeviceMask chosen = 0;
};

bool is_better(const Rank& a, const Rank& b) {
  if (b.chosen == 0) return true;
  if (a.spread_out != b.spread_out) return a.spread_out < b.spread_out;
  if (a.island_rest != b.island_rest) return a.island_rest < b.island_rest;
  if (a.missing_links != b.missing_links) return a.missing_links < b.missing_links;
  if (a.cut_links != b.cut_links) return a.cut_links < b.cut_links;
  return has_lower_devices(a.chosen, b.chosen);
}

Rank rank_of(const LinkLayout& layout, DeviceMask free, DeviceMask chosen, PackOrSpread mode) {
  uint64_t inside = 0;
  uint64_t cut = 0;
  const DeviceMask rest = free & ~chosen;
  for_each_bit(chosen, [&](unsigned a) {
    for_each_bit(chosen & ~low_bits(a + 1), [&](unsigned b) { inside += layout.quality_of(a, b); });
    for_each_bit(rest, [&](unsigned b) { cut += layout.quality_of(a, b); });
  });
  Rank rank{.spread_out = 1, .missing_links = kLinksMax - inside, .chosen = chosen};
  for (const DeviceMask island : layout.islands) {
    if ((chosen & ~island) != 0) continue;
    rank.spread_out = 0;
    rank.island_rest = popcount(rest & island);
  }
  const bool is_pack = mode == PackOrSpread::kPack;
  if (!is_pack) rank.island_rest = kMaxDevicesPerNode - rank.island_rest;
  rank.cut_links = is_pack ? cut : kLinksMax - cut;
  return rank;
}

/// Every subset of `among` with `count` devices.
DeviceMask choose_from_all(const LinkLayout& layout, const LinkWish& wish, PackOrSpread mode) {
  Rank best;
  for (DeviceMask chosen = wish.among; chosen != 0; chosen = (chosen - 1) & wish.among) {
    if (popcount(chosen) != wish.count) continue;
    const Rank rank = rank_of(layout, wish.free, chosen, mode);
    if (is_better(rank, best)) best = rank;
  }
  return best.chosen;
}

/// The set that grows from `seed` by the device with the best links to what is chosen.
DeviceMask grow(const LinkLayout& layout, DeviceMask among, unsigned seed, unsigned count) {
  std::array<uint32_t, kMaxDevicesPerNode> links{};
  DeviceMask chosen = 0;
  unsigned next = seed;
  for (unsigned n = 0; n < count; ++n) {
    chosen |= uint64_t{1} << next;
    for_each_bit(among, [&](unsigned d) { links[d] += layout.quality_of(next, d); });
    uint32_t most = 0;
    next = kMaxDevicesPerNode;
    for_each_bit(among & ~chosen, [&](unsigned d) {
      if (next != kMaxDevicesPerNode && links[d] <= most) return;
      most = links[d];
      next = d;
    });
  }
  return chosen;
}

DeviceMask choose_by_growing(const LinkLayout& layout, const LinkWish& wish, PackOrSpread mode) {
  Rank best;
  const auto consider = [&](DeviceMask among) {
    for_each_bit(among, [&](unsigned seed) {
      const Rank rank = rank_of(layout, wish.free, grow(layout, among, seed, wish.count), mode);
      if (is_better(rank, best)) best = rank;
    });
  };
  for (const DeviceMask island : layout.islands) {
    if (popcount(wish.among & island) >= wish.count) consider(wish.among & island);
  }
  if (best.chosen == 0) consider(wish.among);
  return best.chosen;
}

}  // namespace

DeviceMask choose_linked(const LinkLayout& layout, const LinkWish& wish, PackOrSpread mode) {
  const unsigned there = popcount(wish.among);
  if (wish.count == 0 || there < wish.count) return 0;
  if (there == wish.count) return wish.among;
  return layout.device_count <= 8 ? choose_from_all(layout, wish, mode) : choose_by_growing(layout, wish, mode);
}

void LinkTables::prepare(std::span<const LinkLayout> layouts) {
  for (; prepared_ < layouts.size(); ++prepared_) {
    const unsigned devices = layouts[prepared_].device_count;
    tables_.emplace_back(devices <= kDevicesMax ? devices * kMasks : 0, uint8_t{0});
  }
}

DeviceMask LinkTables::choose(std::span<const LinkLayout> layouts, uint32_t layout, const LinkWish& wish) {
  std::vector<uint8_t>& table = tables_[layout];
  if (table.empty() || wish.among != wish.free || wish.count == 0 || popcount(wish.free) < wish.count) {
    return choose_linked(layouts[layout], wish, mode_);
  }
  uint8_t& known = table[(wish.count - 1) * kMasks + wish.free];
  if (known == 0) known = static_cast<uint8_t>(choose_linked(layouts[layout], wish, mode_));
  return known;
}

}  // namespace weft
