#include "placement/link_choice.h"

#include "base/bits.h"
#include "base/rng.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

LinkLayout random_layout(Rng& rng, unsigned devices) {
  LinkLayout layout{.device_count = devices};
  DeviceMask left = low_bits(devices);
  while (left != 0) {
    const DeviceMask island = rng.next() & left;
    if (island == 0) continue;
    layout.islands.push_back(island);
    left &= ~island;
  }
  layout.quality.resize(size_t{devices} * devices, 0);
  for (unsigned a = 0; a < devices; ++a) {
    for (unsigned b = 0; b < a; ++b) {
      const auto quality = static_cast<uint8_t>(rng.below(4) * 30);
      layout.quality[a * devices + b] = layout.quality[b * devices + a] = quality;
    }
  }
  return layout;
}

unsigned links_inside(const LinkLayout& layout, DeviceMask mask) {
  unsigned sum = 0;
  for_each_bit(
      mask, [&](unsigned a) { for_each_bit(mask, [&](unsigned b) { sum += a < b ? layout.quality_of(a, b) : 0U; }); });
  return sum;
}

bool is_in_one_island(const LinkLayout& layout, DeviceMask mask) {
  for (const DeviceMask island : layout.islands) {
    if ((mask & ~island) == 0) return true;
  }
  return false;
}

TEST(LinkChoice, TheTableAnswersAsTheSearchDoes) {
  Rng rng(1);
  for (int round = 0; round < 20; ++round) {
    const std::vector<LinkLayout> layouts{random_layout(rng, 8),
                                          random_layout(rng, static_cast<unsigned>(rng.between(1, 7)))};
    for (const PackOrSpread mode : {PackOrSpread::kPack, PackOrSpread::kSpread}) {
      LinkTables tables(mode);
      tables.prepare(layouts);
      for (uint32_t l = 0; l < layouts.size(); ++l) {
        for (DeviceMask free = 0; free <= low_bits(layouts[l].device_count); ++free) {
          for (unsigned count = 1; count <= layouts[l].device_count; ++count) {
            const LinkWish wish{.free = free, .among = free, .count = count};
            const DeviceMask direct = choose_linked(layouts[l], wish, mode);
            ASSERT_EQ(tables.choose(layouts, l, wish), direct);
            ASSERT_EQ(tables.choose(layouts, l, wish), direct) << "the second time from memory";
            if (popcount(free) < count) {
              ASSERT_EQ(direct, 0U);
            } else {
              ASSERT_EQ(popcount(direct), count);
              ASSERT_EQ(direct & ~free, 0U);
            }
          }
        }
      }
    }
  }
}

TEST(LinkChoice, NoOtherSetIsBetterByTheWrittenOrder) {
  Rng rng(2);
  for (int round = 0; round < 200; ++round) {
    const LinkLayout layout = random_layout(rng, 6);
    const DeviceMask free = rng.next() & 0x3f;
    const auto count = static_cast<unsigned>(rng.between(1, 4));
    const DeviceMask chosen = choose_linked(layout, {.free = free, .among = free, .count = count}, PackOrSpread::kPack);
    if (chosen == 0) continue;
    const auto rest_of = [&](DeviceMask mask) {
      for (const DeviceMask island : layout.islands) {
        if ((mask & ~island) == 0) return popcount(free & ~mask & island);
      }
      return 0U;
    };
    for (DeviceMask other = 1; other <= free; ++other) {
      if ((other & ~free) != 0 || popcount(other) != count) continue;
      const bool is_one = is_in_one_island(layout, other);
      ASSERT_TRUE(!is_one || is_in_one_island(layout, chosen));
      if (is_one != is_in_one_island(layout, chosen)) continue;
      ASSERT_LE(rest_of(chosen), rest_of(other)) << "the island with the least left";
      if (rest_of(chosen) == rest_of(other)) {
        ASSERT_GE(links_inside(layout, chosen), links_inside(layout, other));
      }
    }
  }
}

TEST(LinkChoice, OnlyDevicesThatWillDoAreChosen) {
  Rng rng(3);
  for (int round = 0; round < 500; ++round) {
    const auto devices = static_cast<unsigned>(rng.between(1, 20));
    const LinkLayout layout = random_layout(rng, devices);
    const DeviceMask free = rng.next() & low_bits(devices);
    const DeviceMask among = rng.next() & free;
    const auto count = static_cast<unsigned>(rng.between(1, 5));
    const DeviceMask chosen =
        choose_linked(layout, {.free = free, .among = among, .count = count}, PackOrSpread::kSpread);
    ASSERT_EQ(popcount(chosen), popcount(among) < count ? 0 : count);
    ASSERT_EQ(chosen & ~among, 0U);
  }
}

TEST(LinkChoice, LargeNodesStayInOneIslandWhenOneHoldsAll) {
  Rng rng(4);
  for (int round = 0; round < 300; ++round) {
    const LinkLayout layout = random_layout(rng, 16);
    const DeviceMask free = rng.next() & 0xffff;
    const auto count = static_cast<unsigned>(rng.between(1, 6));
    if (popcount(free) < count) continue;
    const DeviceMask chosen = choose_linked(layout, {.free = free, .among = free, .count = count}, PackOrSpread::kPack);
    bool has_one = false;
    for (const DeviceMask island : layout.islands) has_one = has_one || popcount(free & island) >= count;
    ASSERT_EQ(is_in_one_island(layout, chosen), has_one);
  }
}

}  // namespace
}  // namespace weft
