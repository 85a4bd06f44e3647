#pragma once

#include "policy/job_order.h"

#include <memory>

namespace weft {

// One maker per order; each is defined in the file of its name and listed in policy/registry.cc.
std::unique_ptr<JobOrder> make_fifo_order();
std::unique_ptr<JobOrder> make_priority_order();

}  // namespace weft
