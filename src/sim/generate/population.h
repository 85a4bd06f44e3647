#pragma once

#include "base/rng.h"
#include "base/units.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

/// What the runs of one program have in common.
struct Program {
  uint64_t number = 0;        ///< tells it from others
  std::string_view model;     ///< of the network that it trains
  Duration limit = kEndless;  ///< as its user writes it, which is also the estimate; kEndless: nothing
  int32_t priority = 0;
};

/// Who submits jobs, and with which programs.
///
/// Users are active by Zipf's law: the k-th as k^-1.2, so that of 1,300 users the first 5 % submit 78 % ([M], see
/// WorkloadProfile: 77 %). Queues, too, as k^-1.3 (measured [P]: 50, 20, 12, 9 % …); each user belongs to one, chosen
/// so that the queues come near to that.
///
/// A program is known by its user, its size and its run time to a factor of 4, each user having bounds of his own. So
/// whoever learns from (user, name) learns the run time about as well as published predictors did.
///
/// Limits. One user in seven never writes any, one in four always the longest there is, the others what they expect
/// (the most that the program may take, times 1 to 10) rounded up to a number that people write: 10 minutes, 1 hour, 1
/// day, …. These habits are ours, after what studies of batch systems say of estimates.
class Population {
 public:
  struct Options {
    uint32_t users = 1;
    uint32_t queues = 1;
    double run_time_max_s = 1;
    uint64_t seed = 0;
  };
  explicit Population(const Options& options);

  uint32_t draw_user(Rng& random) const;
  const std::string& user_name(uint32_t user) const { return users_[user].name; }
  const std::string& queue_name(uint32_t user) const { return queue_names_[users_[user].queue]; }

  /// The program with which a user runs a job of this size that is to take `intended_s` seconds.
  Program program(uint32_t user, int32_t gpu_milli, double intended_s) const;

 private:
  enum class Habit : uint8_t { kNothing, kLongest, kExpected };
  struct User {
    std::string name;
    double until = 0;  ///< the share of the activity of all users up to this one
    uint32_t queue = 0;
    uint64_t key = 0;
    Habit habit = Habit::kExpected;
    double bound = 0;  ///< where his programs' bounds lie, 0 to 1
  };

  std::vector<User> users_;
  std::vector<std::string> queue_names_;
  Duration longest_limit_;
};

/// The time that a person writes who needs `seconds`: the next of 10 min, 20 min, 30 min, 1 h, 2 h, …; from 30 days on
/// multiples of 30 days.
Duration written_limit(double needed_s);

}  // namespace weft::sim
