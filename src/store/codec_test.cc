#include "store/codec.h"

#include "base/hash.h"
#include "store/filled_testing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace weft::store {
namespace {

using ::testing::HasSubstr;

constexpr size_t kKinds = std::variant_size_v<EventBody>;
constexpr Instant kBase{1'234'567'890'123};

Event filled_event(uint64_t seed, size_t kind) {
  Filler filler(seed);
  Event event;
  filler.fill(event.at);
  filler.fill_as(event.body, kind);
  return event;
}

/// One event of each kind.
std::vector<Event> one_of_each(uint64_t seed) {
  std::vector<Event> events;
  for (size_t kind = 0; kind < kKinds; ++kind) events.push_back(filled_event(seed + kind, kind));
  return events;
}

std::string bytes_of(std::span<const Event> events) {
  std::string bytes;
  encode_events(events, kBase, bytes);
  return bytes;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return text;
}

RC_GTEST_PROP(Codec, GivesEveryEventBackWithAllItsMembers, (uint64_t seed)) {
  const std::vector<Event> events = one_of_each(seed);
  std::vector<Event> back = one_of_each(seed + 1000);  // what it held before must leave no trace
  RC_ASSERT(decode_events(bytes_of(events), kBase, back).has_value());
  RC_ASSERT(back == events);
}

RC_GTEST_PROP(Codec, GivesPoliciesTasksAndDecisionsBack, (uint64_t seed)) {
  Filler filler(seed);
  PolicyConfig policy;
  filler.fill(policy);
  std::string bytes;
  encode_policy(policy, bytes);
  const Result<PolicyConfig> policy_back = decode_policy(bytes);
  RC_ASSERT(policy_back.has_value());
  RC_ASSERT(*policy_back == policy);

  std::vector<ExpectedTask> tasks, tasks_back;
  filler.fill(tasks);
  bytes.clear();
  encode_tasks(tasks, bytes);
  RC_ASSERT(decode_tasks(bytes, tasks_back).has_value());
  RC_ASSERT(tasks_back == tasks);

  std::vector<RecordedDecision> decisions, decisions_back;
  filler.fill(decisions);
  bytes.clear();
  encode_decisions(decisions, kBase, bytes);
  RC_ASSERT(decode_decisions(bytes, kBase, decisions_back).has_value());
  RC_ASSERT(decisions_back == decisions);
}

TEST(Codec, WritesEveryLeafOfEveryEvent) {
  for (size_t kind = 0; kind < kKinds; ++kind) {
    const Event event = filled_event(7, kind);
    const std::string bytes = bytes_of({&event, 1});
    for (size_t leaf = 0;; ++leaf) {
      LeafChanger changer(leaf);
      Event other = event;
      changer.visit(other);
      if (!changer.has_changed()) break;
      ASSERT_NE(other, event) << "kind " << kind << ", leaf " << leaf;
      ASSERT_NE(bytes_of({&other, 1}), bytes) << "kind " << kind << ", leaf " << leaf;
    }
  }
}

// What is written stays readable for ever: these change only with kCodecVersion, and with a reader of the older
// version.
TEST(Codec, WritesTheSameBytesOnEveryMachine) {
  const std::vector<Event> events{
      {.at = kBase, .body = NodeDown{make_id<NodeId>(300)}},
      {.at = kBase + Duration{-1}, .body = GangEnded{make_id<JobId>(1), 2, TaskOutcome::kLost, -9}},
      {.at = Instant{}, .body = HoldRefused{make_id<JobId>(0), 1, "no"}},
  };
  EXPECT_EQ(hex(bytes_of(events)),
            "0103"      // version, three events
            "0004ac02"  // now, kind 4: node 300
            "0116010203"
            "11"  // 1 ns before, kind 22: job 1, attempt 2, lost, -9
            "9393d89fee47"
            "11000102"  // at 0, kind 17: job 0, attempt 1, a text of 2
            "6e6f");
  RunningHash hash;
  for (uint64_t seed = 0; seed < 100; ++seed) hash.add(bytes_of(one_of_each(seed * 1000)));
  EXPECT_EQ(hash.value(), 6299913487004580749U) << "the form of events has changed";
  RunningHash others;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Filler filler(seed);
    PolicyConfig policy;
    filler.fill(policy);
    std::vector<ExpectedTask> tasks;
    filler.fill(tasks);
    std::vector<RecordedDecision> decisions;
    filler.fill(decisions);
    std::string bytes;
    encode_policy(policy, bytes);
    encode_tasks(tasks, bytes);
    encode_decisions(decisions, kBase, bytes);
    others.add(bytes);
  }
  EXPECT_EQ(others.value(), 88254070913352983U) << "the form of policies, tasks or decisions has changed";
}

TEST(Codec, ReadsThePoliciesOfItsFirstVersion) {
  PolicyConfig policy;
  policy.preset = "fifo";
  policy.order = "fifo";
  policy.attempts_max = 7;
  std::string bytes;
  encode_policy(policy, bytes);
  // The members that came later are the last ones, and here they are as they begin: two times, and zeros.
  std::string longer;
  PolicyConfig other = policy;
  other.rungs.elastic = 1;
  encode_policy(other, longer);
  const size_t first_of_version_2 = static_cast<size_t>(std::ranges::mismatch(bytes, longer).in1 - bytes.begin());
  std::string old = bytes.substr(0, first_of_version_2);
  old[0] = 1;
  const Result<PolicyConfig> back = decode_policy(old);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, policy);
}

TEST(Codec, RefusesEveryTextThatIsCutOffOrGoesOn) {
  const std::string bytes = bytes_of(one_of_each(3));
  std::vector<Event> back;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto read = decode_events(std::string_view(bytes).substr(0, size), kBase, back);
    ASSERT_FALSE(read) << size;
    ASSERT_THAT(read.error().message, HasSubstr("byte ")) << size;
    ASSERT_EQ(read.error().code, ErrorCode::kInvalidInput);
  }
  const auto longer = decode_events(bytes + '\0', kBase, back);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().message, fmt::format("byte {}: there are more than there should be", bytes.size()));
}

TEST(Codec, EitherRefusesADamagedTextOrReadsWhatItSays) {
  const std::string bytes = bytes_of(one_of_each(5));
  std::vector<Event> back;
  size_t refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x40, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      if (!decode_events(damaged, kBase, back)) {
        ++refused;
        continue;
      }
      ASSERT_EQ(bytes_of(back), damaged) << "byte " << at << " flipped by " << flip;
    }
  }
  EXPECT_GT(refused, bytes.size() / 4);
}

TEST(Codec, SaysWhatIsWrongAndWhere) {
  std::vector<Event> back;
  const auto fault = [&](std::string_view bytes) {
    const auto read = decode_events(bytes, kBase, back);
    return read ? std::string("nothing") : read.error().message;
  };
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(fault("\x02\x00"sv), "byte 1: a version that this weft does not know");
  EXPECT_EQ(fault("\x01\x05\x00"sv), "byte 2: more elements than bytes");
  EXPECT_EQ(fault("\x01\x01\x00\x40"sv), "byte 4: a kind that is not known");
  EXPECT_EQ(fault("\x01\x01\x00\x14\x00\x00\x00\x09\x00"sv), "byte 8: a word that is not known");  // a task's outcome
  EXPECT_EQ(fault("\x01\x01\x00\x08\x00\xff\x7f"sv), "byte 7: a number is too large");             // a device's
  EXPECT_EQ(fault("\x01\x01\x80\x00\x00"sv), "byte 4: a number is not as it is written");
  EXPECT_EQ(fault("\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"sv), "byte 12: a number does not end");
  EXPECT_EQ(fault("\x01\x01\x00\x11\x00\x00\x05no"sv), "byte 7: a length is beyond their end");
  EXPECT_EQ(fault(""sv), "byte 0: they end too early");
}

TEST(Codec, KeepsInstantsThatAreNoGood) {
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();
  std::vector<Event> events, back;
  for (const int64_t ns : {kLow, kHigh, int64_t{0}, kHigh, kLow, int64_t{-1}})
    events.push_back({.at = Instant{ns}, .body = Tick{}});
  ASSERT_TRUE(decode_events(bytes_of(events), kBase, back));
  EXPECT_EQ(back, events);
}

TEST(RecordedDecision, PutsNeighboursOnOneNodeInOnePlace) {
  Decisions decisions;
  const auto place = [&](uint32_t node, DeviceMask devices) {
    decisions.placements.push_back({.node = make_id<NodeId>(node), .devices = devices});
  };
  place(4, 0b0001);
  place(4, 0b1000);
  place(2, 0b0110);
  place(4, 0b0010);
  decisions.list.push_back({.kind = DecisionKind::kHold, .job = make_id<JobId>(9), .placement_count = 4});
  decisions.list.push_back({.kind = DecisionKind::kAdmit, .job = make_id<JobId>(10)});
  std::vector<RecordedDecision> recorded;
  record_decisions(decisions, recorded);
  ASSERT_EQ(recorded.size(), 2U);
  const std::vector<RecordedPlace> expected{
      {make_id<NodeId>(4), 0b1001}, {make_id<NodeId>(2), 0b0110}, {make_id<NodeId>(4), 0b0010}};
  EXPECT_EQ(recorded[0].places, expected);
  EXPECT_TRUE(recorded[1].places.empty());
}

}  // namespace
}  // namespace weft::store
