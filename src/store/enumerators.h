#pragma once

#include "model/decision.h"
#include "model/event.h"
#include "model/policy.h"

namespace weft::store {

// Which values of an enumeration there are: a byte that was read may be none of them. An enumerator that is new does
// not compile until it stands here. Journals hold their numbers: new ones go to the end.

constexpr bool is_known(PackOrSpread value) {
  switch (value) {
    case PackOrSpread::kPack:
    case PackOrSpread::kSpread: return true;
  }
  return false;
}

constexpr bool is_known(StrictOrder value) {
  switch (value) {
    case StrictOrder::kNo:
    case StrictOrder::kYes: return true;
  }
  return false;
}

constexpr bool is_known(ShareBasis value) {
  switch (value) {
    case ShareBasis::kCluster:
    case ShareBasis::kEntitlement:
    case ShareBasis::kWeight: return true;
  }
  return false;
}

constexpr bool is_known(CycleMode value) {
  switch (value) {
    case CycleMode::kLadder:
    case CycleMode::kElect: return true;
  }
  return false;
}

constexpr bool is_known(ElectPlaces value) {
  switch (value) {
    case ElectPlaces::kKept:
    case ElectPlaces::kAfresh: return true;
  }
  return false;
}

constexpr bool is_known(LevelLooks value) {
  switch (value) {
    case LevelLooks::kExact:
    case LevelLooks::kFloorOfEach:
    case LevelLooks::kCeilAtStart: return true;
  }
  return false;
}

constexpr bool is_known(DeviceKind value) {
  switch (value) {
    case DeviceKind::kGpu:
    case DeviceKind::kTpu:
    case DeviceKind::kNpu:
    case DeviceKind::kOther: return true;
  }
  return false;
}

constexpr bool is_known(ShareMode value) {
  switch (value) {
    case ShareMode::kExclusive:
    case ShareMode::kMps:
    case ShareMode::kTimeSlice: return true;
  }
  return false;
}

constexpr bool is_known(MigMode value) {
  switch (value) {
    case MigMode::kOff:
    case MigMode::kOn: return true;
  }
  return false;
}

constexpr bool is_known(MigCut value) {
  switch (value) {
    case MigCut::kByScheduler:
    case MigCut::kFixed: return true;
  }
  return false;
}

constexpr bool is_known(DeviceNeedKind value) {
  switch (value) {
    case DeviceNeedKind::kNone:
    case DeviceNeedKind::kWhole:
    case DeviceNeedKind::kMilli:
    case DeviceNeedKind::kMemory:
    case DeviceNeedKind::kMig: return true;
  }
  return false;
}

constexpr bool is_known(NumaNeed value) {
  switch (value) {
    case NumaNeed::kAny:
    case NumaNeed::kOneZone: return true;
  }
  return false;
}

constexpr bool is_known(NetworkNeed value) {
  switch (value) {
    case NetworkNeed::kAny:
    case NetworkNeed::kRdma:
    case NetworkNeed::kSameRail: return true;
  }
  return false;
}

constexpr bool is_known(GangRule value) {
  switch (value) {
    case GangRule::kAll:
    case GangRule::kNone: return true;
  }
  return false;
}

constexpr bool is_known(QosClass value) {
  switch (value) {
    case QosClass::kLatency:
    case QosClass::kGuaranteed:
    case QosClass::kBestEffort: return true;
  }
  return false;
}

constexpr bool is_known(DeviceView value) {
  switch (value) {
    case DeviceView::kJob:
    case DeviceView::kTask: return true;
  }
  return false;
}

constexpr bool is_known(TaskOutcome value) {
  switch (value) {
    case TaskOutcome::kDone:
    case TaskOutcome::kFailed:
    case TaskOutcome::kStopped:
    case TaskOutcome::kLost: return true;
  }
  return false;
}

constexpr bool is_known(DecisionKind value) {
  switch (value) {
    case DecisionKind::kAdmit:
    case DecisionKind::kReject:
    case DecisionKind::kHold:
    case DecisionKind::kStart:
    case DecisionKind::kRelease:
    case DecisionKind::kStop:
    case DecisionKind::kEnd: return true;
  }
  return false;
}

constexpr bool is_known(StopCause value) {
  switch (value) {
    case StopCause::kNone:
    case StopCause::kCancelled:
    case StopCause::kPreempted:
    case StopCause::kReclaimed:
    case StopCause::kMoved:
    case StopCause::kShrunk:
    case StopCause::kNodeFault:
    case StopCause::kGangBroken:
    case StopCause::kTimeLimit: return true;
  }
  return false;
}

constexpr bool is_known(JobState value) {
  switch (value) {
    case JobState::kPending:
    case JobState::kHolding:
    case JobState::kStarting:
    case JobState::kRunning:
    case JobState::kReleasing:
    case JobState::kDone:
    case JobState::kFailed:
    case JobState::kCancelled:
    case JobState::kRejected: return true;
  }
  return false;
}

}  // namespace weft::store
