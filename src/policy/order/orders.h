#pragma once

#include "model/policy.h"
#include "policy/job_order.h"

#include <memory>

namespace weft {

// One maker per order; each is defined in the file of its name and listed in policy/registry.cc.
std::unique_ptr<JobOrder> make_fifo_order(const ServiceOptions& options);
std::unique_ptr<JobOrder> make_priority_order(const ServiceOptions& options);
std::unique_ptr<JobOrder> make_deadline_order(const ServiceOptions& options);
std::unique_ptr<JobOrder> make_sjf_order(const ServiceOptions& options);
std::unique_ptr<JobOrder> make_sjf_gpus_order(const ServiceOptions& options);
std::unique_ptr<JobOrder> make_srtf_order(const ServiceOptions& options);
std::unique_ptr<JobOrder> make_srsf_order(const ServiceOptions& options);
std::unique_ptr<JobOrder> make_las_order(const ServiceOptions& options);
std::unique_ptr<JobOrder> make_2d_las_order(const ServiceOptions& options);
std::unique_ptr<JobOrder> make_gittins_order(const ServiceOptions& options);
std::unique_ptr<JobOrder> make_2d_gittins_order(const ServiceOptions& options);

}  // namespace weft
