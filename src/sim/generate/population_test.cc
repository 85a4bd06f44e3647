#include "sim/generate/population.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace weft::sim {
namespace {

TEST(Population, AFewUsersSubmitMostOfTheJobs) {
  const Population population({.users = 1300, .queues = 40, .run_time_max_s = 1e6, .seed = 3});
  Rng random(1);
  std::map<uint32_t, int> jobs;
  std::map<std::string, int> queues;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const uint32_t user = population.draw_user(random);
    ++jobs[user];
    ++queues[population.queue_name(user)];
  }
  int of_first = 0;
  for (uint32_t user = 0; user < 65; ++user) of_first += jobs[user];
  EXPECT_NEAR(of_first, 0.77 * kDraws, 0.03 * kDraws) << "published: 5 % of the users submit 77 %";
  EXPECT_GT(jobs.size(), 1100U);
  EXPECT_EQ(queues.size(), 40U);
  EXPECT_GT(queues["team1"], queues["team5"] * 3);
}

TEST(Population, AUserAlwaysBelongsToOneQueue) {
  const Population population({.users = 3, .queues = 2, .run_time_max_s = 1e6});
  EXPECT_EQ(population.user_name(2), "u3");
  EXPECT_EQ(population.queue_name(0), "team1");
  EXPECT_EQ(population.queue_name(1), "team2");
}

TEST(Population, AProgramIsKnownByUserSizeAndRunTime) {
  const Population population({.users = 50, .queues = 2, .run_time_max_s = 1e6, .seed = 9});
  for (uint32_t user = 0; user < 50; ++user) {
    std::set<uint64_t> programs;
    for (double seconds = 16; seconds < 16 * 1024; seconds *= 1.01)
      programs.insert(population.program(user, 8000, seconds).number);
    EXPECT_GE(programs.size(), 5U) << "factors of 4 in a factor of 1,024";
    EXPECT_LE(programs.size(), 6U);
    EXPECT_NE(population.program(user, 8000, 100).number, population.program(user, 4000, 100).number);
    EXPECT_NE(population.program(user, 8000, 100).number, population.program((user + 1) % 50, 8000, 100).number);
  }
}

TEST(Population, LimitsAreLongEnoughAndOftenFarTooLong) {
  constexpr double kMax = 1e6;
  const Population population({.users = 400, .queues = 2, .run_time_max_s = kMax, .seed = 4});
  int without = 0, longest = 0, generous = 0, programs = 0;
  for (uint32_t user = 0; user < 400; ++user) {
    for (const double seconds : {30.0, 3000.0, 90'000.0, 999'999.0}) {
      const Program program = population.program(user, 1000, seconds);
      ++programs;
      if (program.limit == kEndless) {
        ++without;
        continue;
      }
      EXPECT_GE(program.limit.seconds(), seconds);
      EXPECT_LE(program.limit, written_limit(kMax));
      EXPECT_EQ(program.limit, written_limit(static_cast<double>(program.limit.ns / 1'000'000'000)))
          << "a number that people write";
      if (program.limit == written_limit(kMax)) ++longest;
      if (program.limit.seconds() > 4 * seconds) ++generous;
    }
  }
  EXPECT_NEAR(without, programs / 7.0, programs * 0.05);
  EXPECT_GT(longest, programs / 5);
  EXPECT_GT(generous, programs / 2);
}

TEST(Population, PeopleWriteRoundNumbers) {
  EXPECT_EQ(written_limit(1), minutes(10));
  EXPECT_EQ(written_limit(600), minutes(10));
  EXPECT_EQ(written_limit(601), minutes(20));
  EXPECT_EQ(written_limit(7201), hours(3));
  EXPECT_EQ(written_limit(86'401), hours(48));
  EXPECT_EQ(written_limit(30 * 86'400.0), hours(30 * 24));
  EXPECT_EQ(written_limit(31 * 86'400.0), hours(60 * 24));
}

}  // namespace
}  // namespace weft::sim
