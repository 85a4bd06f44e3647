#include "placement/mig_choice.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

struct MigChoice : ::testing::Test {
  const DeviceModel& a100() const { return catalogue.model(catalogue.find("A100-SXM4-80GB")); }
  DeviceCatalogue catalogue;
};

TEST_F(MigChoice, TheLastSliceLeavesTheMostPlacements) {
  const MigProfileIndex small = find_mig_profile(a100(), "1g.10gb");
  EXPECT_EQ(mig_placements_left(a100(), {}), 18U);
  EXPECT_EQ(choose_mig_start(a100(), small, {}), 6);
}

TEST_F(MigChoice, TheChosenStartIsNeverWorseThanAnother) {
  for (size_t p = 0; p < a100().mig_profiles.size(); ++p) {
    const auto profile = static_cast<MigProfileIndex>(p);
    for (unsigned occupied = 0; occupied < 256; ++occupied) {
      for (uint8_t compute = 0; compute <= 7; ++compute) {
        const MigUse use{.occupied = static_cast<uint8_t>(occupied), .compute_used = compute};
        const int start = choose_mig_start(a100(), profile, use);
        for (unsigned other = 0; other < 8; ++other) {
          if (!fits_mig(a100(), profile, other, use)) continue;
          ASSERT_GE(start, 0);
          const auto chosen = static_cast<unsigned>(start);
          ASSERT_TRUE(fits_mig(a100(), profile, chosen, use));
          ASSERT_GE(mig_placements_left(a100(), with_mig(a100(), profile, chosen, use)),
                    mig_placements_left(a100(), with_mig(a100(), profile, other, use)));
        }
      }
    }
  }
}

TEST_F(MigChoice, TheTableAnswersAsTheSearchDoes) {
  MigTables tables;
  tables.prepare(catalogue);
  for (size_t m = 0; m < catalogue.size(); ++m) {
    const auto id = make_id<DeviceModelId>(m);
    const DeviceModel& model = catalogue.model(id);
    for (size_t p = 0; p < model.mig_profiles.size(); ++p) {
      for (unsigned occupied = 0; occupied < 256; occupied += 3) {
        const MigUse use{.occupied = static_cast<uint8_t>(occupied),
                         .compute_used = static_cast<uint8_t>(model.mig_compute_slices / 2)};
        const auto profile = static_cast<MigProfileIndex>(p);
        ASSERT_EQ(tables.start(model, id, profile, use), choose_mig_start(model, profile, use));
        ASSERT_EQ(tables.start(model, id, profile, use), choose_mig_start(model, profile, use));
      }
    }
  }
}

TEST_F(MigChoice, OfEquallyGoodStartsTheLowestIsTaken) {
  for (size_t p = 0; p < a100().mig_profiles.size(); ++p) {
    const auto profile = static_cast<MigProfileIndex>(p);
    for (unsigned occupied = 0; occupied < 256; ++occupied) {
      const MigUse use{.occupied = static_cast<uint8_t>(occupied)};
      const int start = choose_mig_start(a100(), profile, use);
      if (start < 0) continue;
      const auto left_after = [&](int at) {
        return mig_placements_left(a100(), with_mig(a100(), profile, static_cast<unsigned>(at), use));
      };
      for (int lower = 0; lower < start; ++lower) {
        if (!fits_mig(a100(), profile, static_cast<unsigned>(lower), use)) continue;
        ASSERT_LT(left_after(lower), left_after(start)) << "profile " << p << " occupied " << occupied;
      }
    }
  }
}

TEST_F(MigChoice, AnInstanceTakesMemorySlicesAndComputeSlices) {
  const MigProfileIndex half = find_mig_profile(a100(), "3g.40gb");
  const MigUse use = with_mig(a100(), half, 4, {.occupied = 0b0000'0001, .compute_used = 1});
  EXPECT_EQ(use.occupied, 0b1111'0001);
  EXPECT_EQ(use.compute_used, 4);
}

TEST_F(MigChoice, ComputeSlicesBindAlsoWhereMemorySlicesAreFree) {
  const MigProfileIndex pair = find_mig_profile(a100(), "2g.20gb");
  EXPECT_TRUE(fits_mig(a100(), pair, 0, {.compute_used = 5}));
  EXPECT_FALSE(fits_mig(a100(), pair, 0, {.compute_used = 6}));
}

}  // namespace
}  // namespace weft
