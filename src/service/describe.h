#pragma once

#include "service/backend.h"
#include "service/info.h"

#include <vector>

namespace weft::service {

// The backend's facts as what the API tells. Requires: the job exists.

JobInfo describe_job(Backend& backend, JobId id);
/// Cost: O(jobs of the core).
std::vector<NodeInfo> describe_nodes(Backend& backend);
std::vector<QueueInfo> describe_queues(Backend& backend);
ClusterInfo describe_cluster(Backend& backend);

}  // namespace weft::service
