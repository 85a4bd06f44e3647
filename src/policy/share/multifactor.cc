#include "policy/share/multifactor.h"

#include "base/check.h"

#include <algorithm>

namespace weft {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kFractionBits = 64;
constexpr int64_t kNodesMax = int64_t{1} << 21;
constexpr int64_t kCpusMax = int64_t{1} << 40;

Factor at_most_one(int64_t part, int64_t whole) { return {std::clamp<int64_t>(part, 0, whole), whole}; }

}  // namespace

int64_t multifactor_priority(std::span<const WeightedFactor> terms, int64_t adjustment) {
  Wide whole = 0;
  Wide fraction = 0;  // in 2^-64, each rounded up: far less than what could lift a sum to the next whole number
  for (const auto& [weight, factor] : terms) {
    WEFT_CHECK(weight >= 0 && weight <= kFactorWeightMax, "products must fit in 128 bits");
    WEFT_CHECK(factor.part >= 0 && factor.part <= factor.whole && factor.whole > 0 && factor.whole <= kFactorWholeMax,
               "a factor is a number from 0 to 1");
    const Wide product = static_cast<Wide>(weight) * static_cast<Wide>(factor.part);
    const auto divisor = static_cast<Wide>(factor.whole);
    whole += product / divisor;
    fraction += ((product % divisor << kFractionBits) + divisor - 1) / divisor;
  }
  const auto sum = static_cast<int64_t>(whole + (fraction >> kFractionBits));
  return std::clamp<int64_t>(sum + adjustment, 1, kMultifactorMax);
}

Factor age_factor(Duration waited, Duration max_age) {
  WEFT_CHECK(max_age.ns > 0, "age is a part of the largest age");
  return at_most_one(waited.ns, max_age.ns);
}

Factor ranked_factor(int64_t priority, int64_t largest) {
  return largest > 0 ? at_most_one(priority, largest) : Factor{};
}

Factor job_size_factor(const JobSize& size, JobSizeFavors favors) {
  WEFT_CHECK(size.nodes_total > 0 && size.nodes_total <= kNodesMax && size.cpus_total <= kCpusMax,
             "a job's size is a part of the whole, and products must fit");
  Factor factor = at_most_one(size.nodes, size.nodes_total);
  if (size.cpus > 0) {
    const Factor cpus = at_most_one(size.cpus, std::max(size.cpus_total, int64_t{1}));
    factor = {factor.part * cpus.whole + cpus.part * factor.whole, 2 * factor.whole * cpus.whole};
  }
  return favors == JobSizeFavors::kLarge ? factor : Factor{factor.whole - factor.part, factor.whole};
}

}  // namespace weft
