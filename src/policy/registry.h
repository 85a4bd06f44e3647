#pragma once

#include "base/result.h"
#include "model/policy.h"
#include "placement/node_score.h"
#include "policy/job_order.h"

#include <memory>
#include <string_view>
#include <vector>

namespace weft {

/// Every policy by name. An unknown name is an Error that lists the known ones.
Result<std::unique_ptr<NodeScore>> make_node_score(std::string_view name);
Result<std::unique_ptr<JobOrder>> make_job_order(std::string_view name, const ServiceOptions& options = {});
std::vector<std::string_view> node_score_names();
std::vector<std::string_view> job_order_names();

}  // namespace weft
