#include "policy/registry.h"

#include "base/text.h"
#include "policy/order/orders.h"
#include "policy/score/scores.h"

#include <array>

namespace weft {

namespace {

template <typename Policy, typename... Options>
struct Known {
  std::string_view name;
  std::unique_ptr<Policy> (*make)(const Options&...);
};

// One line per policy.
constexpr std::array kScores{
    Known<NodeScore>{"pack", make_pack_score},       Known<NodeScore>{"spread", make_spread_score},
    Known<NodeScore>{"random", make_random_score},   Known<NodeScore>{"dotprod", make_dotprod_score},
    Known<NodeScore>{"packing", make_packing_score}, Known<NodeScore>{"clustering", make_clustering_score},
    Known<NodeScore>{"bestfit", make_bestfit_score}, Known<NodeScore>{"fgd", make_fgd_score},
    Known<NodeScore>{"first", make_first_score},
};
using KnownOrder = Known<JobOrder, ServiceOptions>;
constexpr std::array kOrders{
    KnownOrder{"fifo", make_fifo_order},
    KnownOrder{"priority", make_priority_order},
    KnownOrder{"deadline", make_deadline_order},
    KnownOrder{"sjf", make_sjf_order},
    KnownOrder{"sjf-gpus", make_sjf_gpus_order},
    KnownOrder{"srtf", make_srtf_order},
    KnownOrder{"srsf", make_srsf_order},
    KnownOrder{"las", make_las_order},
    KnownOrder{"2d-las", make_2d_las_order},
    KnownOrder{"gittins", make_gittins_order},
    KnownOrder{"2d-gittins", make_2d_gittins_order},
};

template <typename Policy, size_t n>
std::vector<std::string_view> names_of(const std::array<Policy, n>& known) {
  std::vector<std::string_view> names;
  for (const auto& policy : known) names.push_back(policy.name);
  return names;
}

template <size_t n, typename Policy, typename... Options>
Result<std::unique_ptr<Policy>> make(const std::array<Known<Policy, Options...>, n>& known, std::string_view name,
                                     std::string_view kind, const Options&... options) {
  for (const auto& policy : known) {
    if (policy.name == name) return policy.make(options...);
  }
  return fail(ErrorCode::kInvalidInput, unknown_name_text(kind, name, names_of(known)));
}

}  // namespace

Result<std::unique_ptr<NodeScore>> make_node_score(std::string_view name) { return make(kScores, name, "node score"); }
Result<std::unique_ptr<JobOrder>> make_job_order(std::string_view name, const ServiceOptions& options) {
  return make(kOrders, name, "job order", options);
}
std::vector<std::string_view> node_score_names() { return names_of(kScores); }
std::vector<std::string_view> job_order_names() { return names_of(kOrders); }

}  // namespace weft
