#include "sim/generate/population.h"

#include "base/check.h"
#include "base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::sim {

namespace {

constexpr double kUserExponent = 1.2;
constexpr double kQueueExponent = 1.3;
constexpr int64_t kDay = 86'400;

constexpr std::array<std::string_view, 16> kModels{"resnet50", "vgg16",  "vgg19", "bert",   "gpt2", "t5",
                                                   "vit",      "swin",   "unet",  "yolo",   "ssd",  "lstm",
                                                   "dlrm",     "deepfm", "gcn",   "whisper"};

/// k^-exponent for k from 1, as shares of their sum.
std::vector<double> zipf_shares(uint32_t count, double exponent) {
  std::vector<double> shares(count);
  double sum = 0;
  for (uint32_t k = 0; k < count; ++k) sum += shares[k] = std::pow(k + 1.0, -exponent);
  for (double& share : shares) share /= sum;
  return shares;
}

/// A share in [0, 1) from a hash.
double unit_of(uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1.0p-53; }

}  // namespace

Duration written_limit(double needed_s) {
  constexpr std::array<int64_t, 19> kWritten{600,      1200,      1800,      3600,      7200,     10'800,   14'400,
                                             21'600,   28'800,    43'200,    kDay,      2 * kDay, 3 * kDay, 5 * kDay,
                                             7 * kDay, 10 * kDay, 14 * kDay, 21 * kDay, 30 * kDay};
  for (const int64_t written : kWritten) {
    if (needed_s <= static_cast<double>(written)) return seconds(written);
  }
  constexpr int64_t kMonth = 30 * kDay;
  return seconds(kMonth * static_cast<int64_t>(std::ceil(needed_s / static_cast<double>(kMonth))));
}

Population::Population(const Options& options) : longest_limit_(written_limit(options.run_time_max_s)) {
  WEFT_CHECK(options.users > 0 && options.queues > 0, "somebody submits jobs somewhere");
  std::vector<double> room = zipf_shares(options.queues, kQueueExponent);
  for (uint32_t q = 0; q < options.queues; ++q) queue_names_.push_back(fmt::format("team{}", q + 1));
  const std::vector<double> shares = zipf_shares(options.users, kUserExponent);
  double until = 0;
  for (uint32_t u = 0; u < options.users; ++u) {
    const auto queue = std::ranges::max_element(room);
    *queue -= shares[u];
    until += shares[u];
    User user{.name = fmt::format("u{}", u + 1),
              .until = until,
              .queue = static_cast<uint32_t>(queue - room.begin()),
              .key = mix64(options.seed ^ mix64(u))};
    const double habit = unit_of(mix64(user.key + 1));
    if (habit < 1.0 / 7) {
      user.habit = Habit::kNothing;
    } else if (habit < 1.0 / 7 + 1.0 / 4) {
      user.habit = Habit::kLongest;
    }
    user.bound = unit_of(mix64(user.key + 2));
    users_.push_back(std::move(user));
  }
}

uint32_t Population::draw_user(Rng& random) const {
  const double at = random.unit();
  const auto found = std::ranges::upper_bound(users_, at, {}, &User::until);
  return found == users_.end() ? 0 : static_cast<uint32_t>(found - users_.begin());
}

Program Population::program(uint32_t user, int32_t gpu_milli, double intended_s) const {
  const User& who = users_[user];
  const double step = std::floor(std::log2(intended_s) / 2 + who.bound);
  const double most_s = std::max(std::exp2(2 * (step + 1 - who.bound)), intended_s);
  const uint64_t hash = mix64(mix64(who.key ^ static_cast<uint64_t>(gpu_milli)) + static_cast<uint64_t>(step));
  Program program{.number = hash, .model = kModels[hash % kModels.size()]};
  constexpr std::array<double, 6> kCaution{1, 1.5, 2, 3, 5, 10};
  if (who.habit == Habit::kExpected) {
    program.limit = std::min(written_limit(most_s * kCaution[(hash >> 8) % kCaution.size()]),
                             std::max(longest_limit_, written_limit(intended_s)));
  } else if (who.habit == Habit::kLongest) {
    program.limit = std::max(longest_limit_, written_limit(intended_s));
  }
  // Of twenty programs sixteen are ordinary, three pressing, one is urgent.
  constexpr std::array<int32_t, 20> kPriorities{20, 10, 10, 10};
  program.priority = kPriorities[(hash >> 16) % kPriorities.size()];
  return program;
}

}  // namespace weft::sim
