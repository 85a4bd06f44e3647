#include "model/event.h"

#include "model/decision.h"
#include "model/shape.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace weft {
namespace {

// Plain values: journals, tests and replays copy and compare them.
static_assert(std::regular<Event>);
static_assert(std::regular<JobSpec>);
static_assert(std::regular<NodeSpec>);
static_assert(std::regular<QueueSpec>);
static_assert(std::regular<TopologySpec>);
static_assert(std::regular<DeviceModel>);
static_assert(std::regular<Shape>);
static_assert(std::regular<Verdict>);
static_assert(std::is_trivially_copyable_v<Verdict>);
static_assert(std::is_trivially_copyable_v<Decision> && std::equality_comparable<Decision>);
static_assert(std::is_trivially_copyable_v<TaskPlacement> && std::equality_comparable<TaskPlacement>);

TEST(Event, IsEqualWhenItsTimeKindAndFieldsAre) {
  const Event down{.at = Instant{5}, .body = NodeDown{.node = make_id<NodeId>(1)}};
  EXPECT_EQ(down, (Event{.at = Instant{5}, .body = NodeDown{.node = make_id<NodeId>(1)}}));
  EXPECT_NE(down, (Event{.at = Instant{6}, .body = NodeDown{.node = make_id<NodeId>(1)}}));
  EXPECT_NE(down, (Event{.at = Instant{5}, .body = NodeDown{.node = make_id<NodeId>(2)}}));
  EXPECT_NE(down, (Event{.at = Instant{5}, .body = NodeUp{.node = make_id<NodeId>(1)}}));
}

TEST(Event, ComparesWhatAJobAsksFor) {
  JobSpec job;
  job.roles.emplace_back();
  const Event event{.at = {}, .body = JobSubmitted{job}};
  job.roles[0].labels.emplace_back("zone", "a");
  EXPECT_NE(event, (Event{.at = {}, .body = JobSubmitted{job}}));
}

TEST(Decisions, GiveThePlacementsOfEachHold) {
  Decisions decisions;
  for (size_t i = 0; i < 5; ++i) decisions.placements.push_back({.node = make_id<NodeId>(i)});
  Decision hold;
  hold.kind = DecisionKind::kHold;
  hold.first_placement = 2;
  hold.placement_count = 3;
  const auto own = decisions.placements_of(hold);
  ASSERT_EQ(own.size(), 3U);
  EXPECT_EQ(own[0].node, make_id<NodeId>(2));
  EXPECT_TRUE(decisions.placements_of(Decision{}).empty());
}

}  // namespace
}  // namespace weft
