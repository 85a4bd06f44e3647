#include "cli/moment_text.h"

#include "base/rng.h"
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace weft::cli {
namespace {

using ::testing::HasSubstr;

Instant at(int64_t ns) { return Instant{ns}; }

store::JournalHead simulated() { return {.weft_version = "", .command = "simulate", .facts = {}, .policy = {}}; }
/// Started at 2025-03-01 14:05:00.250 UTC.
store::JournalHead served() {
  store::JournalHead head = simulated();
  head.wall_start_ms = 1'740'837'900'250;
  return head;
}
std::string fault(const std::string& written, const store::JournalHead& head) {
  const auto moment = parse_moment(written, head);
  return moment ? "none" : moment.error().message;
}

TEST(MomentText, TellsAllOfAnInstant) {
  constexpr int64_t kSecond = 1'000'000'000;
  EXPECT_EQ(instant_text(at(0)), "0s");
  EXPECT_EQ(instant_text(at(5'250'000'000)), "5.25s");
  EXPECT_EQ(instant_text(at(60 * kSecond)), "1m00s");
  EXPECT_EQ(instant_text(at((3 * 3600 + 20 * 60 + 5) * kSecond)), "3h20m05s");
  EXPECT_EQ(instant_text(at(2 * 86400 * kSecond)), "2d00h00m00s");
  EXPECT_EQ(instant_text(at(1)), "0.000000001s");
  EXPECT_EQ(instant_text(at(-90 * kSecond)), "-1m30s");
}

TEST(MomentText, IsReadAsItWasWritten) {
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const Instant moment = at(rng.between(0, int64_t{1} << rng.below(61)));
    const auto read = parse_moment(instant_text(moment), simulated());
    ASSERT_TRUE(read) << instant_text(moment) << ": " << read.error().message;
    ASSERT_EQ(*read, moment) << instant_text(moment);
  }
  static_cast<void>(instant_text(at(std::numeric_limits<int64_t>::min())));
}

TEST(MomentText, IsATimeSinceTheStart) {
  EXPECT_EQ(parse_moment("3h20m", simulated()).value(), at(0) + minutes(200));
  EXPECT_EQ(parse_moment("5400", served()).value(), at(0) + seconds(5400));
  EXPECT_THAT(fault("-1s", simulated()), HasSubstr("--at: '-1s' is before the start"));
  EXPECT_THAT(fault("soon", simulated()), HasSubstr("--at: expected a time since the start such as 3h20m or 5400"));
  EXPECT_THAT(fault("", simulated()), HasSubstr("found ''"));
  EXPECT_THAT(fault("endless", simulated()), HasSubstr("found 'endless'"));
}

TEST(MomentText, IsAMomentOnTheWallWhereTheRunHasSuch) {
  EXPECT_EQ(parse_moment("2025-03-01 14:05:01Z", served()).value(), at(750'000'000));
  EXPECT_EQ(parse_moment("2025-03-01T14:06Z", served()).value(), at(59'750'000'000));
  EXPECT_EQ(parse_moment("@1740837901", served()).value(), at(750'000'000));
  EXPECT_EQ(parse_moment("2025-03-01 14:05Z", served()).value(), at(0)) << "the second in which it started";
  EXPECT_THAT(fault("2025-03-01 14:04:59Z", served()), HasSubstr("is before the run: it started at 2025-03-01"));
  EXPECT_THAT(fault("2025-03-01 14:05:01Z", simulated()), HasSubstr("this run has no times on the wall"));
  for (const char* const none : {"2025-02-30 14:05Z", "2025-03-01 24:05Z", "2025-03-01 14:60Z", "2025-13-01 14:05Z",
                                 "2025-03-01", "2025-03-01 14:05:61", "2025/03/01 14:05", "@", "@-5", "@x"})
    EXPECT_THAT(fault(none, served()), HasSubstr("expected a time since the start")) << none;
}

}  // namespace
}  // namespace weft::cli
