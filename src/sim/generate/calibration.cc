#include "sim/generate/calibration.h"

#include "base/check.h"

#include <algorithm>
#include <cmath>

namespace weft::sim {

namespace {

struct Size {
  int32_t gpu_milli = 0;
  double share = 0;
  double long_share = 0;  ///< of the jobs of this size
  double gpus() const { return gpu_milli / 1000.0; }
};

std::vector<Size> sizes_of(const WorkloadProfile& profile) {
  const double common = profile.common_gpu_milli / 1000.0;
  double moved = 0;
  for (const SizeWeight& other : profile.other_sizes) moved += other.weight * (other.gpu_milli / 1000.0 - common);
  const double scale = (profile.gpus_mean - common) / moved;
  std::vector<Size> sizes;
  double left = 1;
  for (const SizeWeight& other : profile.other_sizes) {
    sizes.push_back({.gpu_milli = other.gpu_milli, .share = scale * other.weight});
    left -= sizes.back().share;
  }
  WEFT_CHECK(scale > 0 && left > 0, "the sizes of a profile can have its mean");
  sizes.push_back({.gpu_milli = profile.common_gpu_milli, .share = left});
  std::ranges::sort(sizes, {}, &Size::gpu_milli);
  return sizes;
}

/// The laws of the two kinds.
struct Laws {
  LogNormal of_short;
  LogNormal of_long;
};

Laws laws_of(const WorkloadProfile& profile) {
  const double is_long = profile.long_share;
  const double is_short = 1 - is_long;
  const double max = profile.run_time_max_s;
  const auto laws = [&](double mu) {
    const LogNormal of_short({.mu = mu, .sigma = profile.short_sigma, .max = max});
    const double long_mean = (profile.run_time_mean_s - is_short * of_short.mean()) / is_long;
    return Laws{of_short, LogNormal::of_mean(std::max(long_mean, 2.0), profile.long_sigma, max)};
  };
  const double mu = find_root(0, std::log(profile.run_time_median_s), [&](double at) {
    const Laws tried = laws(at);
    return is_short * tried.of_short.share_below(profile.run_time_median_s) +
           is_long * tried.of_long.share_below(profile.run_time_median_s) - 0.5;
  });
  return laws(mu);
}

/// w(g) for the slope b, with a so that all of them together are `long_share`.
void set_long_shares(std::vector<Size>& sizes, double long_share, double slope) {
  const auto set = [&](double a) {
    double sum = 0;
    for (Size& size : sizes) {
      size.long_share = 1 / (1 + std::exp(-a - slope * std::log(size.gpus())));
      sum += size.share * size.long_share;
    }
    return sum;
  };
  set(find_root(-60, 60, [&](double a) { return long_share - set(a); }));
}

double gpu_time_of(const std::vector<Size>& sizes, const Laws& laws) {
  double sum = 0;
  for (const Size& size : sizes) {
    const double run_time = size.long_share * laws.of_long.mean() + (1 - size.long_share) * laws.of_short.mean();
    sum += size.share * size.gpus() * run_time;
  }
  return sum;
}

/// The chances of short and long jobs to end in a way that has `of_jobs` of the jobs and `of_gpu_time` of their
/// GPU-time.
struct Chances {
  double of_short = 0;
  double of_long = 0;
};
Chances chances(double of_jobs, double of_gpu_time, double long_share, double long_gpu_time_share) {
  const double ratio = (1 - long_gpu_time_share) / (1 - long_share);
  const double of_long = (of_gpu_time - of_jobs * ratio) / (long_gpu_time_share - long_share * ratio);
  const Chances found{.of_short = (of_jobs - long_share * of_long) / (1 - long_share), .of_long = of_long};
  WEFT_CHECK(found.of_short >= 0 && found.of_short <= 1 && found.of_long >= 0 && found.of_long <= 1,
             "the ends of a profile's jobs are possible");
  return found;
}

}  // namespace

CalibratedWorkload calibrate(const WorkloadProfile& profile, const std::function<bool(int32_t)>& fits) {
  std::vector<Size> sizes = sizes_of(profile);
  const Laws laws = laws_of(profile);
  set_long_shares(sizes, profile.long_share, 0);
  double gpu_time = gpu_time_of(sizes, laws);
  if (profile.gpu_time_mean_s > 0) {
    set_long_shares(sizes, profile.long_share, find_root(-4, 8, [&](double slope) {
                      set_long_shares(sizes, profile.long_share, slope);
                      return profile.gpu_time_mean_s - gpu_time_of(sizes, laws);
                    }));
    gpu_time = gpu_time_of(sizes, laws);
    WEFT_CHECK(std::abs(gpu_time / profile.gpu_time_mean_s - 1) < 1e-6, "the GPU-time of a profile can be reached");
  }

  double long_gpu_time = 0;
  for (const Size& size : sizes) long_gpu_time += size.share * size.gpus() * size.long_share * laws.of_long.mean();
  const auto solve = [&](double of_jobs, double of_gpu_time) {
    return chances(of_jobs, of_gpu_time, profile.long_share, long_gpu_time / gpu_time);
  };
  const Chances failed = solve(profile.ends_of_jobs.failed, profile.ends_of_gpu_time.failed);
  const Chances cancelled = solve(profile.ends_of_jobs.cancelled, profile.ends_of_gpu_time.cancelled);

  double left_out = 0;
  for (const Size& size : sizes) left_out += fits(size.gpu_milli) ? 0 : size.share;
  WEFT_CHECK(fits(profile.common_gpu_milli), "every cluster with a GPU holds the commonest jobs");
  CalibratedWorkload workload{.left_out = left_out};
  for (const Size& size : sizes) {
    if (!fits(size.gpu_milli)) continue;
    for (const uint8_t is_long : {uint8_t{0}, uint8_t{1}}) {
      const double part = is_long != 0 ? size.long_share : 1 - size.long_share;
      const LogNormal& law = is_long != 0 ? laws.of_long : laws.of_short;
      const double share = size.share * part / (1 - left_out);
      workload.classes.push_back({.gpu_milli = size.gpu_milli,
                                  .is_long = is_long,
                                  .share = share,
                                  .run_time_s = law,
                                  .ends = {.failed = is_long != 0 ? failed.of_long : failed.of_short,
                                           .cancelled = is_long != 0 ? cancelled.of_long : cancelled.of_short}});
      workload.run_time_mean_s += share * law.mean();
      workload.gpus_mean += share * size.gpus();
      workload.gpu_time_mean_s += share * size.gpus() * law.mean();
    }
  }
  return workload;
}

std::vector<JobClass> under_way(const CalibratedWorkload& workload) {
  std::vector<JobClass> classes = workload.classes;
  for (JobClass& each : classes) {
    each.is_under_way = 1;
    each.share *= each.run_time_s.mean() / workload.run_time_mean_s;
    each.run_time_s = each.run_time_s.under_way();
  }
  return classes;
}

}  // namespace weft::sim
