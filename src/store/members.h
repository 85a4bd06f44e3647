#pragma once

#include "base/units.h"
#include "model/event.h"
#include "model/expected_task.h"
#include "model/policy.h"
#include "store/recorded_decision.h"

#include <cstddef>
#include <tuple>

// The members of the plain structs that journals hold, for those who do the same with each: the codec, and its tests.
// Members are taken in the order in which the struct declares them, so that none can be forgotten.

namespace weft::store {

inline constexpr size_t kNotListed = ~size_t{0};

/// How many members a struct has. The compiler compares: a member more or less does not compile. Whoever changes one of
/// these numbers, or the order of members, changes what journals hold: see kCodecVersion in store/codec.h.
template <typename T>
inline constexpr size_t kMemberCount = kNotListed;

template <>
inline constexpr size_t kMemberCount<Duration> = 1;
template <>
inline constexpr size_t kMemberCount<Instant> = 1;
// Nodes
template <>
inline constexpr size_t kMemberCount<TopologySpec> = 1;
template <>
inline constexpr size_t kMemberCount<MigInstanceSpec> = 3;
template <>
inline constexpr size_t kMemberCount<DeviceSpec> = 9;
template <>
inline constexpr size_t kMemberCount<NumaZoneSpec> = 2;
template <>
inline constexpr size_t kMemberCount<NicSpec> = 4;
template <>
inline constexpr size_t kMemberCount<TaintSpec> = 2;
template <>
inline constexpr size_t kMemberCount<PowerModel> = 2;
template <>
inline constexpr size_t kMemberCount<NodeSpec> = 13;
template <>
inline constexpr size_t kMemberCount<MigProfile> = 5;
template <>
inline constexpr size_t kMemberCount<DeviceModel> = 15;
// Queues
template <>
inline constexpr size_t kMemberCount<ResourceVector> = 3;
template <>
inline constexpr size_t kMemberCount<QueueSpec> = 11;
// Jobs
template <>
inline constexpr size_t kMemberCount<DeviceNeed> = 5;
template <>
inline constexpr size_t kMemberCount<DeviceConstraint> = 3;
template <>
inline constexpr size_t kMemberCount<TopologyNeed> = 2;
template <>
inline constexpr size_t kMemberCount<RoleSpec> = 14;
template <>
inline constexpr size_t kMemberCount<GroupSpec> = 5;
template <>
inline constexpr size_t kMemberCount<Elasticity> = 2;
template <>
inline constexpr size_t kMemberCount<CheckpointSpec> = 5;
template <>
inline constexpr size_t kMemberCount<ShardSpec> = 2;
template <>
inline constexpr size_t kMemberCount<LaunchSpec> = 7;
template <>
inline constexpr size_t kMemberCount<JobSpec> = 26;
// Events
template <>
inline constexpr size_t kMemberCount<Tick> = 0;
template <>
inline constexpr size_t kMemberCount<TopologyDefined> = 1;
template <>
inline constexpr size_t kMemberCount<QueueDefined> = 1;
template <>
inline constexpr size_t kMemberCount<DeviceModelDefined> = 1;
template <>
inline constexpr size_t kMemberCount<NodeAdded> = 1;
template <>
inline constexpr size_t kMemberCount<NodeDown> = 1;
template <>
inline constexpr size_t kMemberCount<NodeUp> = 1;
template <>
inline constexpr size_t kMemberCount<NodeCordoned> = 1;
template <>
inline constexpr size_t kMemberCount<NodeUncordoned> = 1;
template <>
inline constexpr size_t kMemberCount<DeviceFailed> = 2;
template <>
inline constexpr size_t kMemberCount<DeviceRecovered> = 2;
template <>
inline constexpr size_t kMemberCount<NodeLoadReported> = 2;
template <>
inline constexpr size_t kMemberCount<JobSubmitted> = 1;
template <>
inline constexpr size_t kMemberCount<AdoptedTask> = 5;
template <>
inline constexpr size_t kMemberCount<JobAdopted> = 4;
template <>
inline constexpr size_t kMemberCount<JobCancelled> = 1;
template <>
inline constexpr size_t kMemberCount<JobHeld> = 1;
template <>
inline constexpr size_t kMemberCount<JobReleased> = 1;
template <>
inline constexpr size_t kMemberCount<JobScaled> = 2;
template <>
inline constexpr size_t kMemberCount<HoldAccepted> = 2;
template <>
inline constexpr size_t kMemberCount<HoldRefused> = 3;
template <>
inline constexpr size_t kMemberCount<GangStarted> = 2;
template <>
inline constexpr size_t kMemberCount<StartFailed> = 3;
template <>
inline constexpr size_t kMemberCount<TaskEnded> = 5;
template <>
inline constexpr size_t kMemberCount<GangEnded> = 4;
template <>
inline constexpr size_t kMemberCount<ProgressReported> = 2;
template <>
inline constexpr size_t kMemberCount<Event> = 2;
// What is told besides events, and decisions
template <>
inline constexpr size_t kMemberCount<ExpectedTask> = 4;
template <>
inline constexpr size_t kMemberCount<ServiceOptions> = 4;
template <>
inline constexpr size_t kMemberCount<WeightedScore> = 2;
template <>
inline constexpr size_t kMemberCount<PolicyConfig> = 18;
template <>
inline constexpr size_t kMemberCount<BackfillOptions> = 2;
template <>
inline constexpr size_t kMemberCount<MultifactorWeights> = 6;
template <>
inline constexpr size_t kMemberCount<LadderRungs> = 4;
template <>
inline constexpr size_t kMemberCount<RecordedPlace> = 2;
template <>
inline constexpr size_t kMemberCount<RecordedDecision> = 9;

/// References to the members of `s`, a struct of kMemberCount or a const one, in order.
template <typename Struct>
constexpr auto members_of(Struct& s) {
  constexpr size_t kCount = kMemberCount<std::remove_const_t<Struct>>;
  static_assert(kCount != kNotListed, "journals know this type: give its number of members above");
  // Names of one letter: they mean nothing. A number of them that is wrong does not compile.
  if constexpr (kCount == 0) {
    static_assert(std::is_empty_v<Struct>, "no members");
    return std::tuple<>();
  } else if constexpr (kCount == 1) {
    auto& [a] = s;
    return std::tie(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = s;
    return std::tie(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = s;
    return std::tie(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = s;
    return std::tie(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = s;
    return std::tie(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = s;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = s;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = s;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kCount == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (kCount == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (kCount == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (kCount == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (kCount == 18) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
  } else if constexpr (kCount == 26) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t, u, v, w, x, y, z, aa] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t, u, v, w, x, y, z, aa);
  } else {
    static_assert(kCount == 0, "give this number of members a branch of its own");
  }
}

}  // namespace weft::store
