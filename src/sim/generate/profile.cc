#include "sim/generate/profile.h"

#include <algorithm>

namespace weft::sim {

namespace {

// The other sizes of each source, relative to each other. Philly's are measured [P]; of the others only mean, median
// and maximum are published, and the powers of two between them are ours.
constexpr std::array kDefaultSizes{SizeWeight{2000, 100}, SizeWeight{4000, 100}, SizeWeight{8000, 120},
                                   SizeWeight{16000, 20}, SizeWeight{32000, 8},  SizeWeight{64000, 2}};
constexpr std::array kPhillySizes{SizeWeight{2000, 1818}, SizeWeight{4000, 1870}, SizeWeight{8000, 1643},
                                  SizeWeight{12000, 7},   SizeWeight{16000, 199}, SizeWeight{24000, 7},
                                  SizeWeight{32000, 67},  SizeWeight{64000, 6},   SizeWeight{128000, 3}};
constexpr std::array kHeliosSizes{SizeWeight{2000, 90'000},  SizeWeight{4000, 100'000}, SizeWeight{8000, 150'000},
                                  SizeWeight{16000, 30'000}, SizeWeight{32000, 10'000}, SizeWeight{64000, 3'500},
                                  SizeWeight{128000, 600},   SizeWeight{256000, 200},   SizeWeight{512000, 30},
                                  SizeWeight{1024000, 5},    SizeWeight{2048000, 2}};
constexpr std::array kSerenSizes{SizeWeight{2000, 500},  SizeWeight{4000, 500},  SizeWeight{8000, 2500},
                                 SizeWeight{16000, 200}, SizeWeight{32000, 120}, SizeWeight{64000, 60},
                                 SizeWeight{128000, 30}, SizeWeight{256000, 15}, SizeWeight{512000, 5},
                                 SizeWeight{1024000, 1}};
constexpr std::array kKalosSizes{SizeWeight{2000, 300},   SizeWeight{4000, 200},   SizeWeight{8000, 1800},
                                 SizeWeight{16000, 400},  SizeWeight{32000, 350},  SizeWeight{64000, 550},
                                 SizeWeight{128000, 350}, SizeWeight{256000, 240}, SizeWeight{512000, 90},
                                 SizeWeight{1024000, 35}};
constexpr std::array kPaiSizes{SizeWeight{100, 40},  SizeWeight{200, 60}, SizeWeight{250, 170}, SizeWeight{1000, 420},
                               SizeWeight{2000, 10}, SizeWeight{4000, 4}, SizeWeight{8000, 2}};

/// Measured [P], of the first jobs of bursts (what comes within ten minutes of the one before, of the same team and
/// size, is one burst) from 2017-09-24 to 2017-12-09; hours as the file has them.
constexpr Week kPhillyWeek{.hours = {1.04, 1.00, 1.04, 1.07, 0.97, 1.12, 1.18, 1.25, 1.30, 1.05, 0.86, 0.77,
                                     0.80, 0.80, 0.84, 0.81, 0.95, 1.06, 1.08, 0.97, 0.95, 1.10, 1.02, 1.01},
                           .days = {0.99, 1.11, 1.16, 1.17, 1.12, 0.86, 0.58}};
/// After [H]: little by night, less at noon and in the early evening. The numbers are ours.
constexpr Week kOfficeWeek{.hours = {0.65, 0.50, 0.40, 0.35, 0.30, 0.30, 0.35, 0.50, 0.80, 1.25, 1.60, 1.50,
                                     1.05, 1.30, 1.60, 1.65, 1.60, 1.45, 1.00, 1.15, 1.40, 1.35, 1.15, 0.80},
                           .days = {1.12, 1.16, 1.16, 1.14, 1.10, 0.72, 0.60}};

constexpr std::array kProfiles{
    WorkloadProfile{.name = "default",
                    .title = "a GPU cluster of medium size; figures of our own",
                    .run_time_mean_s = 7200,
                    .run_time_median_s = 600,
                    .run_time_max_s = 14 * 86'400,
                    .gpus_mean = 3,
                    .gpu_time_mean_s = 40'000,
                    .ends_of_jobs = {.failed = 0.20, .cancelled = 0.15},
                    .ends_of_gpu_time = {.failed = 0.15, .cancelled = 0.30},
                    .jobs_per_hour = 100,
                    .is_made_up = 1,
                    .long_share = 0.12,
                    .short_sigma = 1.5,
                    .long_sigma = 1.4,
                    .other_sizes = kDefaultSizes,
                    .week = kOfficeWeek,
                    .users = 200,
                    .queues = 10},
    // 112,956 jobs from 2017-08-07 to 2017-12-22.
    WorkloadProfile{.name = "philly",
                    .title = "Microsoft's Philly, 2017",
                    .run_time_mean_s = 18'006.055,
                    .run_time_median_s = 874,
                    .run_time_max_s = 4'240'676,
                    .gpus_mean = 1.928,
                    .gpu_time_mean_s = (2'210'176'414.0 + 2'025'326'056.0 + 2'659'215'061.0) / 112'956,
                    .ends_of_jobs = {.failed = 0.305, .cancelled = 0.090},
                    .ends_of_gpu_time = {.failed = 0.386, .cancelled = 0.294},
                    .jobs_per_hour = 112'956 / (137.0 * 24),
                    .long_share = 0.12,
                    .short_sigma = 1.7,
                    .long_sigma = 1.5,
                    .other_sizes = kPhillySizes,
                    .week = kPhillyWeek,
                    .users = 300,
                    .queues = 15},
    // 1,580,464 jobs from April to September 2020 [H].
    WorkloadProfile{.name = "helios",
                    .title = "SenseTime's Helios, 2020",
                    .run_time_mean_s = 6651.681,
                    .run_time_median_s = 206,
                    .run_time_max_s = 4'320'009,
                    .gpus_mean = 3.716,
                    .gpu_time_mean_s = (39'994'296'320.0 + 30'715'109'125.0 + 7'288'334'702.0) / 1'580'464,
                    .ends_of_jobs = {.failed = 0.155, .cancelled = 0.221},
                    .ends_of_gpu_time = {.failed = 0.093, .cancelled = 0.394},
                    .jobs_per_hour = 1'580'464 / (183.0 * 24),
                    .long_share = 0.10,
                    .short_sigma = 1.7,
                    .long_sigma = 1.6,
                    .other_sizes = kHeliosSizes,
                    .week = kOfficeWeek,
                    .users = 800,
                    .queues = 100},
    // 1,037,085 jobs from July and August 2020. How they ended is not in [A]: the shares of helios stand in.
    WorkloadProfile{.name = "pai",
                    .title = "Alibaba's PAI, 2020: many shares of GPUs",
                    .run_time_mean_s = 4787.109,
                    .run_time_median_s = 480.667,
                    .run_time_max_s = 626'371,
                    .gpus_mean = 0.683,
                    .ends_of_jobs = {.failed = 0.155, .cancelled = 0.221},
                    .ends_of_gpu_time = {.failed = 0.093, .cancelled = 0.394},
                    .jobs_per_hour = 1'037'085 / (62.0 * 24),
                    .long_share = 0.15,
                    .short_sigma = 1.5,
                    .long_sigma = 1.3,
                    .common_gpu_milli = 500,
                    .other_sizes = kPaiSizes,
                    .week = kOfficeWeek,
                    .users = 1300,
                    .queues = 40},
    // March to August 2023.
    WorkloadProfile{.name = "seren",
                    .title = "Shanghai AI Lab's Seren, 2023: development of language models",
                    .run_time_mean_s = 1414.335,
                    .run_time_median_s = 122,
                    .run_time_max_s = 1'209'604,
                    .gpus_mean = 5.68,
                    .gpu_time_mean_s = (4'560'592'618.0 + 14'274'584'510.0 + 2'675'447'459.0) / 663'813,
                    .ends_of_jobs = {.failed = 0.429, .cancelled = 0.075},
                    .ends_of_gpu_time = {.failed = 0.124, .cancelled = 0.664},
                    .jobs_per_hour = 663'813 / (184.0 * 24),
                    .long_share = 0.05,
                    .short_sigma = 1.3,
                    .long_sigma = 1.6,
                    .other_sizes = kSerenSizes,
                    .week = kOfficeWeek,
                    .users = 250,
                    .queues = 12},
    WorkloadProfile{.name = "kalos",
                    .title = "Shanghai AI Lab's Kalos, 2023: few but very large jobs",
                    .run_time_mean_s = 1259.689,
                    .run_time_median_s = 124,
                    .run_time_max_s = 625'740,
                    .gpus_mean = 26.77,
                    .gpu_time_mean_s = (1'667'685'146.0 + 3'239'202'064.0 + 426'292'851.0) / 19'907,
                    .ends_of_jobs = {.failed = 0.397, .cancelled = 0.062},
                    .ends_of_gpu_time = {.failed = 0.080, .cancelled = 0.607},
                    .jobs_per_hour = 19'907 / (184.0 * 24),
                    .long_share = 0.04,
                    .short_sigma = 1.3,
                    .long_sigma = 1.5,
                    .other_sizes = kKalosSizes,
                    .week = kOfficeWeek,
                    .users = 80,
                    .queues = 6}};

}  // namespace

std::span<const WorkloadProfile> workload_profiles() { return kProfiles; }

const WorkloadProfile* find_profile(std::string_view name) {
  const auto* const found = std::ranges::find(kProfiles, name, &WorkloadProfile::name);
  return found == kProfiles.end() ? nullptr : found;
}

std::vector<std::string_view> profile_names() {
  std::vector<std::string_view> names;
  for (const WorkloadProfile& profile : kProfiles) names.push_back(profile.name);
  return names;
}

}  // namespace weft::sim
