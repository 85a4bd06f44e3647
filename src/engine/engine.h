#pragma once

#include "model/decision.h"
#include "model/event.h"

#include <vector>

namespace weft {

/// The world outside as two queues: commands out, events in. One engine serves one core; calls come from the core's
/// thread only.
///
/// Contract (engine/conformance.h checks it for any engine; engine/fake is its reference):
/// 1. Every kHold is answered once, by HoldAccepted or HoldRefused; every kStart once, by GangStarted or StartFailed
/// (then nothing of
///    the attempt runs); every task that ran by exactly one TaskEnded, behind its attempt's GangStarted. A kStop of a
///    task that has ended already, or that never ran, is ignored.
/// 2. kRelease gives up a hold that was not started; it has no answer.
/// 3. A command with the same job and attempt given twice has the effect of one. Attempts of a job only ever grow: a
/// kHold of one that
///    was seen before is such a repetition, also when the attempt is long over. Commands about attempts that were never
///    held are ignored.
/// 4. A task that is told to stop ends as kStopped within its grace, or when it can; one that ends by itself before
/// that says how it ended.
///    Stopping one task leaves the others of its attempt alone.
/// 5. TaskEnded counts tasks from the job's first: index(placement.task) - index(Decision::first_task).
/// 6. When a node is lost, NodeDown comes first and then a TaskEnded with kLost for each task that ran on it. A device
/// that fails is
///    reported by DeviceFailed alone: the core stops what uses it.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Takes the commands among the decisions (kHold, kStart, kRelease, kStop); others are ignored.
  virtual void execute(const Decisions& decisions) = 0;
  /// Appends what has happened since the last call, in order.
  virtual void poll(std::vector<Event>& out) = 0;
};

}  // namespace weft
