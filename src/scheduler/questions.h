#pragma once

#include "base/result.h"
#include "model/job.h"
#include "model/view.h"
#include "scheduler/core.h"

#include <string>
#include <vector>

namespace weft {

// Questions to the core. None changes what it will decide: they use the query placer, and interning a shape or a label
// orders nothing.

/// Why the job waits, fresh where counts may have changed since it was tried: its gates, its queue, the cluster. A yes
/// for a job that runs, has ended, or has not been tried yet.
Verdict present_verdict(Core& core, JobId job);

/// Whether a job could start now, and where. Error: what is wrong with its spec.
Result<Verdict> ask_what_if(Core& core, const JobSpec& spec, std::vector<TaskPlacement>* where);

JobView view_job(Core& core, JobId job);
NodeView view_node(const Core& core, NodeId node);
QueueView view_queue(const Core& core, QueueId queue);
/// Without the fragmentation.
ClusterView view_cluster(const Core& core);

/// Differences between what the core counts and what its tables say, the states' own audits included; empty when all is
/// right.
std::vector<std::string> audit_core(const Core& core);

}  // namespace weft
