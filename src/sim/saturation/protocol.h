#pragma once

#include "base/result.h"
#include "sim/saturation/openb.h"

#include <cstdint>
#include <vector>

namespace weft::sim {

/// The inflation protocol of the FGD paper (Weng et al., USENIX ATC 2023): pods only arrive, each is tried once, one
/// that finds no place is dropped, until the requests of all that arrived reach `ratio` of the cluster's GPUs.
struct Arrivals {
  std::vector<uint32_t> pods;  ///< indices into the list of pods, in order of arrival; some twice
  std::vector<uint32_t>
      node_order;  ///< indices into the list of nodes: of equally good nodes the first in this order is taken
};

/// What arrives with one seed. `pods` and `nodes` are sorted by name. The steps, each with the draws that the published
/// runs made:
/// 1. the pods are shuffled;
/// 2. while they ask for less than `ratio` of the GPUs, a pod drawn from the list (with replacement) is appended, until
/// the next
///    draw would pass it (of that draw only the milli of one GPU count in this test); while they ask for more, a random
///    one is removed;
/// 3. the nodes are put in a random order.
/// Errors: no GPU on any node, no pod that asks for one, more than kArrivalsMax arrivals.
Result<Arrivals> make_arrivals(const std::vector<OpenbNode>& nodes, const std::vector<OpenbPod>& pods, int64_t seed,
                               double ratio);

inline constexpr double kInflationRatio = 1.3;
inline constexpr size_t kArrivalsMax = 10'000'000;

int64_t gpu_milli_of(const std::vector<OpenbNode>& nodes);

}  // namespace weft::sim
