#include "sim/simulation/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr JobId kFirst{0}, kSecond{1}, kThird{2};

std::vector<JobId> neighbours(const Places& places, JobId job) {
  std::vector<JobId> found;
  places.for_neighbours(job, [&](JobId other) { found.push_back(other); });
  return found;
}

TEST(Places, TasksOfOneNodeAreOnePart) {
  Places places;
  places.hold(kFirst, std::vector<TaskPlacement>{{.node = NodeId{3}, .devices = 0b1},
                                                 {.node = NodeId{3}, .devices = 0b110},
                                                 {.node = NodeId{5}, .devices = 0b1}});
  ASSERT_EQ(places.of(kFirst).size(), 2U);
  EXPECT_EQ(places.of(kFirst)[0].node, 3U);
  EXPECT_EQ(places.of(kFirst)[0].gpus, 3);
  EXPECT_EQ(places.of(kFirst)[0].devices, 0b111U);
  EXPECT_EQ(places.of(kFirst)[1].gpus, 1);
}

TEST(Places, OnlyThoseWhoRunShareADevice) {
  Places places;
  const std::vector<TaskPlacement> both{{.node = NodeId{0}, .devices = 0b10}};
  const std::vector<TaskPlacement> wide{{.node = NodeId{0}, .devices = 0b11}};
  places.hold(kFirst, both);
  places.hold(kSecond, both);
  places.hold(kThird, wide);
  EXPECT_EQ(places.sharers(kFirst), 1);
  places.start(kFirst);
  places.start(kSecond);
  EXPECT_EQ(places.sharers(kFirst), 2);
  EXPECT_THAT(neighbours(places, kFirst), ElementsAre(kSecond));
  places.start(kThird);
  EXPECT_EQ(places.sharers(kThird), 3) << "of its two devices the fuller counts";
  places.leave(kSecond);
  EXPECT_EQ(places.sharers(kFirst), 2);
  EXPECT_THAT(neighbours(places, kThird), ElementsAre(kFirst));
  EXPECT_THAT(places.of(kSecond), IsEmpty());
  EXPECT_EQ(places.sharers(kSecond), 1);
}

}  // namespace
}  // namespace weft::sim
