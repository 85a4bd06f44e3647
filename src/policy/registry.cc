#include "policy/registry.h"

#include "base/text.h"
#include "policy/order/orders.h"
#include "policy/score/scores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace weft {

namespace {

template <typename Policy>
struct Known {
  std::string_view name;
  std::unique_ptr<Policy> (*make)();
};

// One line per policy.
constexpr std::array kScores{
    Known<NodeScore>{"pack", make_pack_score},       Known<NodeScore>{"spread", make_spread_score},
    Known<NodeScore>{"random", make_random_score},   Known<NodeScore>{"dotprod", make_dotprod_score},
    Known<NodeScore>{"packing", make_packing_score}, Known<NodeScore>{"clustering", make_clustering_score},
    Known<NodeScore>{"bestfit", make_bestfit_score}, Known<NodeScore>{"fgd", make_fgd_score},
};
constexpr std::array kOrders{
    Known<JobOrder>{"fifo", make_fifo_order},
    Known<JobOrder>{"priority", make_priority_order},
};

template <typename Policy, size_t n>
std::vector<std::string_view> names_of(const std::array<Known<Policy>, n>& known) {
  std::vector<std::string_view> names;
  for (const auto& policy : known) names.push_back(policy.name);
  return names;
}

template <typename Policy, size_t n>
Result<std::unique_ptr<Policy>> make(const std::array<Known<Policy>, n>& known, std::string_view name,
                                     std::string_view kind) {
  for (const auto& policy : known) {
    if (policy.name == name) return policy.make();
  }
  const std::vector<std::string_view> names = names_of(known);
  const std::string_view meant = nearest(name, names);
  const std::string hint = meant.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", meant);
  return fail(ErrorCode::kInvalidInput,
              fmt::format("there is no {} '{}'{}; known are {}", kind, name, hint, fmt::join(names, ", ")));
}

}  // namespace

Result<std::unique_ptr<NodeScore>> make_node_score(std::string_view name) { return make(kScores, name, "node score"); }
Result<std::unique_ptr<JobOrder>> make_job_order(std::string_view name) { return make(kOrders, name, "job order"); }
std::vector<std::string_view> node_score_names() { return names_of(kScores); }
std::vector<std::string_view> job_order_names() { return names_of(kOrders); }

}  // namespace weft
