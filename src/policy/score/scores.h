#pragma once

#include "placement/node_score.h"

#include <memory>

namespace weft {

// One maker per score; each is defined in the file of its name and listed in policy/registry.cc.
std::unique_ptr<NodeScore> make_pack_score();
std::unique_ptr<NodeScore> make_spread_score();
std::unique_ptr<NodeScore> make_random_score();
std::unique_ptr<NodeScore> make_dotprod_score();
std::unique_ptr<NodeScore> make_packing_score();
std::unique_ptr<NodeScore> make_clustering_score();
std::unique_ptr<NodeScore> make_bestfit_score();
std::unique_ptr<NodeScore> make_fgd_score();
std::unique_ptr<NodeScore> make_first_score();

/// The largest node of the published scores: CPUs and GPUs are divided by these.
inline constexpr double kSpecCpuMilli = 128'000;
inline constexpr double kSpecGpuMilli = 8'000;

}  // namespace weft
