#pragma once

#include "model/decision.h"
#include "model/job.h"
#include "model/node.h"
#include "model/verdict.h"
#include "model/view.h"

#include <string>
#include <string_view>

namespace weft {

// The words for enumerators that people, scenario files and the API use. One word each, lower case, never changed:
// files hold them.

std::string_view to_text(JobState state);       ///< "pending", "held", "starting", "running", "releasing", "done", …
std::string_view to_text(TaskState state);      ///< the same words
std::string_view to_text(StopCause cause);      ///< "cancelled", "preempted", "reclaimed", …; "none"
std::string_view to_text(DecisionKind kind);    ///< "admit", "reject", "hold", "start", "release", "stop", "end"
std::string_view to_text(Reason reason);        ///< "dependency", "gpus", …: for machines; people read reason_word()
std::string_view to_text(DeviceKind kind);      ///< "gpu", "tpu", "npu", "other"
std::string_view to_text(ShareMode mode);       ///< "exclusive", "mps", "timeslice"
std::string_view to_text(DeviceNeedKind kind);  ///< "none", "whole", "milli", "memory", "mig"
std::string_view to_text(QosClass qos);         ///< "latency", "guaranteed", "best-effort"

/// One line for logs: "hold job 17 attempt 2: 4 tasks", "stop job 17 attempt 2 task 3: preempted, grace 30s". The time
/// is left out.
std::string describe(const Decision& decision);

}  // namespace weft
