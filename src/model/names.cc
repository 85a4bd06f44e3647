#include "model/names.h"

#include "base/check.h"
#include "base/text.h"

#include <fmt/format.h>

namespace weft {
namespace {

/// After a switch that names every enumerator: -Wswitch reports a forgotten one, this a value that is none.
[[noreturn]] std::string_view no_such_enumerator() {
  check_failed("false", "an enumeration holds one of its enumerators");
}

}  // namespace

std::string_view to_text(JobState state) {
  switch (state) {
    case JobState::kPending: return "pending";
    case JobState::kHolding: return "held";
    case JobState::kStarting: return "starting";
    case JobState::kRunning: return "running";
    case JobState::kReleasing: return "releasing";
    case JobState::kDone: return "done";
    case JobState::kFailed: return "failed";
    case JobState::kCancelled: return "cancelled";
    case JobState::kRejected: return "rejected";
  }
  return no_such_enumerator();
}

std::string_view to_text(TaskState state) {
  switch (state) {
    case TaskState::kPending: return "pending";
    case TaskState::kHeld: return "held";
    case TaskState::kRunning: return "running";
    case TaskState::kReleasing: return "releasing";
    case TaskState::kLeaving: return "leaving";
    case TaskState::kDone: return "done";
    case TaskState::kFailed: return "failed";
    case TaskState::kCancelled: return "cancelled";
  }
  return no_such_enumerator();
}

std::string_view to_text(StopCause cause) {
  switch (cause) {
    case StopCause::kNone: return "none";
    case StopCause::kCancelled: return "cancelled";
    case StopCause::kPreempted: return "preempted";
    case StopCause::kReclaimed: return "reclaimed";
    case StopCause::kMoved: return "moved";
    case StopCause::kShrunk: return "shrunk";
    case StopCause::kNodeFault: return "node-fault";
    case StopCause::kGangBroken: return "gang-broken";
    case StopCause::kTimeLimit: return "time-limit";
  }
  return no_such_enumerator();
}

std::string_view to_text(DecisionKind kind) {
  switch (kind) {
    case DecisionKind::kAdmit: return "admit";
    case DecisionKind::kReject: return "reject";
    case DecisionKind::kHold: return "hold";
    case DecisionKind::kStart: return "start";
    case DecisionKind::kRelease: return "release";
    case DecisionKind::kStop: return "stop";
    case DecisionKind::kEnd: return "end";
  }
  return no_such_enumerator();
}

std::string_view to_text(Reason reason) {
  switch (reason) {
    case Reason::kNone: return "none";
    case Reason::kDependency: return "dependency";
    case Reason::kBeginTime: return "begin-time";
    case Reason::kHeld: return "held";
    case Reason::kPatience: return "patience";
    case Reason::kLimit: return "limit";
    case Reason::kGuarantee: return "guarantee";
    case Reason::kOrder: return "priority";
    case Reason::kReservation: return "reservation";
    case Reason::kGpus: return "gpus";
    case Reason::kGpuMemory: return "gpu-memory";
    case Reason::kCpus: return "cpus";
    case Reason::kMemory: return "memory";
    case Reason::kDisk: return "disk";
    case Reason::kModel: return "model";
    case Reason::kMig: return "mig";
    case Reason::kNuma: return "numa";
    case Reason::kNvlink: return "nvlink";
    case Reason::kNode: return "node";
    case Reason::kLevel: return "level";
    case Reason::kTaint: return "taint";
    case Reason::kLabel: return "label";
    case Reason::kUnavailable: return "unavailable";
    case Reason::kEngine: return "engine";
    case Reason::kBudget: return "budget";
  }
  return no_such_enumerator();
}

std::string_view to_text(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kGpu: return "gpu";
    case DeviceKind::kTpu: return "tpu";
    case DeviceKind::kNpu: return "npu";
    case DeviceKind::kOther: return "other";
  }
  return no_such_enumerator();
}

std::string_view to_text(ShareMode mode) {
  switch (mode) {
    case ShareMode::kExclusive: return "exclusive";
    case ShareMode::kMps: return "mps";
    case ShareMode::kTimeSlice: return "timeslice";
  }
  return no_such_enumerator();
}

std::string_view to_text(DeviceNeedKind kind) {
  switch (kind) {
    case DeviceNeedKind::kNone: return "none";
    case DeviceNeedKind::kWhole: return "whole";
    case DeviceNeedKind::kMilli: return "milli";
    case DeviceNeedKind::kMemory: return "memory";
    case DeviceNeedKind::kMig: return "mig";
  }
  return no_such_enumerator();
}

std::string_view to_text(QosClass qos) {
  switch (qos) {
    case QosClass::kLatency: return "latency";
    case QosClass::kGuaranteed: return "guaranteed";
    case QosClass::kBestEffort: return "best-effort";
  }
  return no_such_enumerator();
}

std::string describe(const Decision& decision) {
  std::string text = fmt::format("{} job {}", to_text(decision.kind), index(decision.job));
  const auto attempt = [&] { return fmt::format(" attempt {}", decision.attempt); };
  switch (decision.kind) {
    case DecisionKind::kAdmit:
    case DecisionKind::kReject: break;
    case DecisionKind::kHold:
      text +=
          attempt() + fmt::format(": {} task{}", decision.placement_count, decision.placement_count == 1 ? "" : "s");
      break;
    case DecisionKind::kStart:
    case DecisionKind::kRelease: text += attempt(); break;
    case DecisionKind::kStop:
      text += attempt() + (decision.task < 0 ? std::string(" all tasks") : fmt::format(" task {}", decision.task));
      text += fmt::format(": {}", to_text(decision.cause));
      if (decision.grace > Duration{0}) text += fmt::format(", grace {}", format_duration(decision.grace));
      break;
    case DecisionKind::kEnd: text += fmt::format(": {}", to_text(decision.end_state)); break;
  }
  return text;
}

}  // namespace weft
