#include "model/catalogue.h"

#include "base/bits.h"
#include "base/units.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace weft {
namespace {

const DeviceModel& model_of(std::string_view name) {
  static const DeviceCatalogue kCatalogue;
  const DeviceModelId id = kCatalogue.find(name);
  EXPECT_TRUE(is_set(id)) << name;
  return kCatalogue.model(is_set(id) ? id : make_id<DeviceModelId>(0));
}

/// By brute force over every start: whether instances of these profiles fit on one device together.
bool fits_together(const DeviceModel& model, const std::vector<std::string>& profiles, size_t next = 0,
                   unsigned memory_used = 0, unsigned compute_used = 0) {
  if (next == profiles.size()) return true;
  const MigProfileIndex index = find_mig_profile(model, profiles[next]);
  EXPECT_NE(index, kNoProfile) << model.name << " " << profiles[next];
  const MigProfile& profile = model.mig_profiles[index];
  if (compute_used + profile.compute_slices > model.mig_compute_slices) return false;
  for (unsigned start = 0; start < 16; ++start) {
    if (!is_mig_start_allowed(model, index, start)) continue;
    const auto slices = static_cast<unsigned>(low_bits(profile.memory_slices) << start);
    if ((memory_used & slices) != 0) continue;
    if (fits_together(model, profiles, next + 1, memory_used | slices, compute_used + profile.compute_slices))
      return true;
  }
  return false;
}

TEST(DeviceCatalogue, HasTheGenericModelAsIdZero) {
  const DeviceCatalogue catalogue;
  EXPECT_EQ(catalogue.find("generic"), make_id<DeviceModelId>(0));
  const DeviceModel& generic = catalogue.model(make_id<DeviceModelId>(0));
  EXPECT_EQ(generic.memory_bytes, 80 * kGiB);
  EXPECT_EQ(generic.mig_compute_slices, 0);
  EXPECT_TRUE(generic.mig_profiles.empty());
}

TEST(DeviceCatalogue, KnowsTheModelsByTheNamesOfScenarioFiles) {
  for (const char* name : {"A100-SXM4-40GB",
                           "A100-SXM4-80GB",
                           "A100-PCIE-80GB",
                           "H100-SXM5-80GB",
                           "H100-PCIE-80GB",
                           "H100-NVL",
                           "H200-SXM",
                           "B200",
                           "B300",
                           "GB200",
                           "GB300",
                           "GH200-96GB",
                           "GH200-144GB",
                           "L4",
                           "L40S",
                           "T4",
                           "A10",
                           "A30",
                           "A40",
                           "V100-SXM2-16GB",
                           "V100-SXM2-32GB",
                           "V100-PCIE-16GB",
                           "V100-PCIE-32GB",
                           "P100",
                           "P40",
                           "RTX-4090",
                           "MI250X",
                           "MI300X",
                           "MI325X",
                           "MI355X",
                           "Gaudi2",
                           "Gaudi3",
                           "Ascend-910B",
                           "TPU-v4",
                           "TPU-v5e",
                           "TPU-v5p",
                           "TPU-v6e"}) {
    EXPECT_EQ(model_of(name).name, name);
  }
}

TEST(DeviceCatalogue, MatchesNamesAsPeopleWriteThem) {
  DeviceCatalogue catalogue;
  const auto names = [&](std::string_view name) {
    std::vector<std::string> found;
    for (const DeviceModelId id : catalogue.match(name)) found.push_back(catalogue.model(id).name);
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("H100-SXM5-80GB"), Names{"H100-SXM5-80GB"});
  EXPECT_EQ(names("h100-sxm5-80gb"), Names{"H100-SXM5-80GB"});
  EXPECT_EQ(names("nvidia h100 pcie"), Names{"H100-PCIE-80GB"}) << "an alias";
  EXPECT_EQ(names("h200"), Names{"H200-SXM"}) << "an alias, not all that begin so";
  EXPECT_EQ(names("TPU-V4"), Names{"TPU-v4"}) << "name and alias, once";
  EXPECT_EQ(names("H100"), (Names{"H100-PCIE-80GB", "H100-SXM5-80GB", "H100-NVL"}));
  EXPECT_EQ(names("v100-pcie"), (Names{"V100-PCIE-16GB", "V100-PCIE-32GB"}));
  EXPECT_EQ(names("P100"), Names{"P100"});
  for (const char* none : {"", "H10", "H100-", "H100-SXM5-80GB-X", "100", "-"}) EXPECT_EQ(names(none), Names{}) << none;

  catalogue.add({.name = "h100-sxm5-80gb", .memory_bytes = kGiB});
  catalogue.add({.name = "H100-X", .memory_bytes = kGiB});
  EXPECT_EQ(names("h100-sxm5-80gb"), Names{"h100-sxm5-80gb"}) << "written just so";
  EXPECT_EQ(names("H100-sxm5-80gb"), (Names{"H100-SXM5-80GB", "h100-sxm5-80gb"}));
  EXPECT_EQ(names("H100"), (Names{"H100-PCIE-80GB", "H100-SXM5-80GB", "H100-NVL", "h100-sxm5-80gb", "H100-X"}));
}

TEST(DeviceCatalogue, ReadsTheFactsOfARecord) {
  const DeviceModel& a100 = model_of("A100-SXM4-80GB");
  EXPECT_EQ(a100.vendor, "NVIDIA");
  EXPECT_EQ(a100.kind, DeviceKind::kGpu);
  EXPECT_EQ(a100.memory_bytes, 80 * kGiB);
  EXPECT_EQ(a100.compute_capability, 80);
  EXPECT_EQ(a100.multiprocessors, 108);
  EXPECT_EQ(a100.memory_bandwidth_gb_per_s, 2039);
  EXPECT_EQ(a100.bf16_tflops, 312);
  EXPECT_EQ(a100.fp8_tflops, 0);
  EXPECT_EQ(a100.link_gb_per_s, 600);
  EXPECT_EQ(a100.pcie_generation, 4);
  EXPECT_EQ(a100.power_limit_watts, 400);
  EXPECT_EQ(a100.mig_compute_slices, 7);
  EXPECT_EQ(a100.mig_memory_slices, 8);
  EXPECT_EQ(model_of("B300").compute_capability, 103);
  EXPECT_EQ(model_of("TPU-v5e").kind, DeviceKind::kTpu);
  EXPECT_EQ(model_of("Gaudi3").kind, DeviceKind::kNpu);
}

TEST(DeviceCatalogue, FindsAModelByTheDriversProductStringAndAsANodeLabelWritesIt) {
  EXPECT_EQ(model_of("NVIDIA A100-SXM4-80GB").name, "A100-SXM4-80GB");
  EXPECT_EQ(model_of("NVIDIA-A100-SXM4-80GB").name, "A100-SXM4-80GB");
  EXPECT_EQ(model_of("NVIDIA H100 80GB HBM3").name, "H100-SXM5-80GB");
  EXPECT_EQ(model_of("NVIDIA-H100-80GB-HBM3").name, "H100-SXM5-80GB");
  EXPECT_EQ(model_of("Tesla T4").name, "T4");
  EXPECT_EQ(model_of("H200").name, "H200-SXM");
}

TEST(DeviceCatalogue, HasNoShortFormThatCouldMeanSeveralProducts) {
  const DeviceCatalogue catalogue;
  for (const char* name :
       {"A100", "A100-80GB", "H100", "V100", "GH200", "RTX", "TPU", "Gaudi", "", "a100-sxm4-80gb", "no such model"}) {
    EXPECT_FALSE(is_set(catalogue.find(name))) << name;
  }
}

TEST(DeviceCatalogue, AddsAModelOnceAndLeavesKnownOnesAsTheyAre) {
  DeviceCatalogue catalogue;
  const size_t built_in = catalogue.size();
  DeviceModel g3;
  g3.name = "G3";
  g3.memory_bytes = 32 * kGiB;
  const DeviceModelId id = catalogue.add(g3);
  EXPECT_EQ(index(id), built_in);
  EXPECT_EQ(catalogue.find("G3"), id);
  EXPECT_EQ(catalogue.model(id), g3);
  g3.memory_bytes = kGiB;
  EXPECT_EQ(catalogue.add(g3), id);
  EXPECT_EQ(catalogue.model(id).memory_bytes, 32 * kGiB);
  DeviceModel alias;
  alias.name = "H200";
  EXPECT_EQ(catalogue.add(alias), catalogue.find("H200-SXM"));
  EXPECT_EQ(catalogue.size(), built_in + 1);
}

TEST(DeviceCatalogue, FindsManyAddedModelsAndKeepsCatalogueCopiesApart) {
  DeviceCatalogue catalogue;
  const size_t built_in = catalogue.size();
  for (int i = 0; i < 200; ++i) {
    DeviceModel model;
    model.name = "model-" + std::to_string(i * 7919 % 200);
    catalogue.add(std::move(model));
  }
  const DeviceCatalogue copy = catalogue;
  catalogue.add(DeviceModel{.name = "later"});
  EXPECT_FALSE(is_set(copy.find("later")));
  for (int i = 0; i < 200; ++i) {
    const DeviceModelId id = copy.find("model-" + std::to_string(i * 7919 % 200));
    ASSERT_EQ(index(id), built_in + static_cast<size_t>(i));
    EXPECT_EQ(copy.names()[index(id)], copy.model(id).name);
  }
  EXPECT_FALSE(is_set(DeviceCatalogue().find("model-0")));
}

TEST(DeviceCatalogue, EveryBuiltInModelIsSoundAndIsFoundByItsName) {
  const DeviceCatalogue catalogue;
  for (size_t i = 0; i < catalogue.size(); ++i) {
    const auto id = make_id<DeviceModelId>(i);
    EXPECT_TRUE(check_device_model(catalogue.model(id))) << catalogue.model(id).name;
    EXPECT_EQ(catalogue.find(catalogue.names()[i]), id);
  }
}

TEST(DeviceCatalogueDeathTest, RefusesAnIdThatItNeverGave) {
  const DeviceCatalogue catalogue;
  EXPECT_DEATH(catalogue.model(kNone<DeviceModelId>), "comes from this catalogue");
}

TEST(MigProfiles, CountMaxIsTheMostThatFitByBruteForce) {
  const DeviceCatalogue catalogue;
  size_t profiles = 0;
  for (size_t i = 0; i < catalogue.size(); ++i) {
    const DeviceModel& model = catalogue.model(make_id<DeviceModelId>(i));
    for (const MigProfile& profile : model.mig_profiles) {
      ++profiles;
      EXPECT_TRUE(fits_together(model, std::vector<std::string>(profile.count_max, profile.name)))
          << model.name << " " << profile.name;
      EXPECT_FALSE(fits_together(model, std::vector<std::string>(profile.count_max + 1U, profile.name)))
          << model.name << " " << profile.name;
    }
  }
  EXPECT_GT(profiles, 80U);
}

TEST(MigProfiles, MixAsTheVendorAllows) {
  for (const char* name : {"A100-SXM4-80GB", "A100-PCIE-80GB", "H100-SXM5-80GB"}) {
    const DeviceModel& model = model_of(name);
    EXPECT_TRUE(fits_together(model, {"4g.40gb", "3g.40gb"}));
    EXPECT_FALSE(fits_together(model, {"4g.40gb", "4g.40gb"}));
    EXPECT_TRUE(fits_together(model, {"3g.40gb", "3g.40gb"}));
    EXPECT_FALSE(fits_together(model, {"3g.40gb", "3g.40gb", "1g.10gb"}));  // a seventh is left, but no memory
    EXPECT_TRUE(fits_together(model, std::vector<std::string>(7, "1g.10gb")));
    EXPECT_TRUE(fits_together(model, {"3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"}));
    EXPECT_TRUE(fits_together(model, {"2g.20gb", "2g.20gb", "2g.20gb", "1g.10gb"}));
    EXPECT_FALSE(fits_together(model, {"2g.20gb", "2g.20gb", "2g.20gb", "1g.10gb", "1g.10gb"}));
    EXPECT_TRUE(fits_together(model, {"4g.40gb", "1g.20gb", "1g.20gb"}));
    EXPECT_FALSE(fits_together(model, {"7g.80gb", "1g.10gb"}));
  }
  const DeviceModel& a30 = model_of("A30");
  EXPECT_TRUE(fits_together(a30, {"2g.12gb", "1g.6gb", "1g.6gb"}));
  EXPECT_FALSE(fits_together(a30, {"4g.24gb", "1g.6gb"}));
}

TEST(MigProfiles, MayStartOnlyWhereTheVendorAllows) {
  const DeviceModel& a100 = model_of("A100-SXM4-40GB");
  const MigProfileIndex three = find_mig_profile(a100, "3g.20gb");
  for (unsigned start = 0; start < 20; ++start)
    EXPECT_EQ(is_mig_start_allowed(a100, three, start), start == 0 || start == 4) << start;
  const MigProfileIndex one = find_mig_profile(a100, "1g.5gb");
  for (unsigned start = 0; start < 20; ++start) EXPECT_EQ(is_mig_start_allowed(a100, one, start), start < 7) << start;
  EXPECT_FALSE(is_mig_start_allowed(a100, kNoProfile, 0));
  EXPECT_EQ(find_mig_profile(a100, "1g.10gb"), 1);
  EXPECT_EQ(find_mig_profile(a100, "3g.40gb"), kNoProfile);
}

TEST(MigProfiles, NeverStartWhereTheyWouldReachBeyondTheDevice) {
  const DeviceModel model{
      .name = "odd",
      .mig_compute_slices = 4,
      .mig_memory_slices = 4,
      .mig_profiles = {{.name = "p", .compute_slices = 2, .memory_slices = 2, .start_mask = 0b1111, .count_max = 2}}};
  EXPECT_TRUE(is_mig_start_allowed(model, 0, 2));
  EXPECT_FALSE(is_mig_start_allowed(model, 0, 3));
}

TEST(MigProfiles, AreMissingWhereTheDeviceHasNone) {
  for (const char* name : {"V100-SXM2-32GB", "T4", "A10", "A40", "L4", "L40S", "RTX-4090", "RTX-6000-Ada", "MI300X"}) {
    EXPECT_TRUE(model_of(name).mig_profiles.empty()) << name;
  }
}

TEST(CheckDeviceModel, SaysWhatIsWrongWithAModelFromOutside) {
  const DeviceModel sound = model_of("A100-SXM4-80GB");
  const auto message = [&](auto&& spoil) {
    DeviceModel model = sound;
    spoil(model);
    const auto result = check_device_model(model);
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(message([](DeviceModel&) {}), "");
  EXPECT_EQ(message([](DeviceModel& m) { m.name.clear(); }), "device model '' needs a name in UTF-8");
  EXPECT_EQ(message([](DeviceModel& m) { m.memory_bytes = -1; }),
            "device model 'A100-SXM4-80GB' needs a memory of 1 byte to 256Ti");
  EXPECT_NE(message([](DeviceModel& m) { m.bf16_tflops = std::numeric_limits<double>::quiet_NaN(); }), "");
  EXPECT_NE(message([](DeviceModel& m) { m.link_gb_per_s = -1; }), "");
  EXPECT_NE(message([](DeviceModel& m) { m.mig_memory_slices = 17; }), "");
  EXPECT_NE(message([](DeviceModel& m) { m.mig_compute_slices = 0; }), "");
  EXPECT_NE(message([](DeviceModel& m) { m.mig_profiles.clear(); }), "");
  EXPECT_NE(message([](DeviceModel& m) { m.mig_profiles[0].name.clear(); }), "");
  EXPECT_NE(message([](DeviceModel& m) { m.mig_profiles[0].name = m.mig_profiles[1].name; }), "");
  EXPECT_NE(message([](DeviceModel& m) { m.mig_profiles[0].compute_slices = 8; }), "");
  EXPECT_NE(message([](DeviceModel& m) { m.mig_profiles[0].memory_slices = 0; }), "");
  EXPECT_NE(message([](DeviceModel& m) { m.mig_profiles[0].start_mask = 0; }), "");
  EXPECT_NE(message([](DeviceModel& m) { m.mig_profiles[0].count_max = 8; }), "");
  EXPECT_EQ(message([](DeviceModel& m) { m.mig_profiles[3].start_mask = 0b100001; }),
            "MIG profile '3g.40gb' of 'A100-SXM4-80GB' may start where it does not fit");
}

}  // namespace
}  // namespace weft
