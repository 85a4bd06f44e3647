#include "placement/placer.h"

#include "base/check.h"
#include "placement/exact_search.h"
#include "placement/explain.h"
#include "placement/gang_plan.h"
#include "placement/greedy_search.h"
#include "placement/scope_need.h"
#include "placement/scope_regions.h"
#include "placement/task_placer.h"
#include "state/cluster_state.h"

#include <algorithm>

namespace weft {

namespace {

/// When a placement is known already and only a better one is looked for, so much of the budget may go into it.
constexpr uint32_t kBetterPart = 4;

}  // namespace

struct Placer::Impl {
  Impl(const PolicyConfig& policy, std::vector<ActiveScore> active)
      : config(policy),
        chooser(policy.devices),
        scores(policy, std::move(active)),
        parts{config, chooser, demands, scores, region_maker},
        placer(parts),
        regions(parts),
        greedy(parts, placer, regions),
        exact(parts, placer, regions),
        explainer(parts) {}

  void begin(const ClusterState& state, Transaction* txn, const GangRequest& request, GangPlacement& out);
  SearchFailure search();
  Verdict place(Transaction& txn, const GangRequest& request, GangPlacement& out);
  void order_by_role(GangPlacement& out);

  const PolicyConfig config;
  const ClusterState* of_state = nullptr;
  DeviceChooser chooser;
  DemandTable demands;
  ScoreCache scores;
  RegionMaker region_maker;
  SearchParts parts;
  GangPlans plans;
  GangTasks tasks;
  TaskPlacer placer;
  ScopeRegions regions;
  GreedySearch greedy;
  ExactSearch exact;
  Explainer explainer;
  GangPlacement scratch;
  std::vector<uint32_t> next_of_role;
  size_t placed_most = 0;  ///< tasks at once in the last search
};

void Placer::Impl::begin(const ClusterState& state, Transaction* txn, const GangRequest& request, GangPlacement& out) {
  WEFT_CHECK(is_set(request.shape_id) && index(request.shape_id) < state.shapes().size(),
             "a request names a shape of this state");
  WEFT_CHECK(of_state == nullptr || of_state == &state, "a placer serves one state: its caches are of that one");
  of_state = &state;
  chooser.prepare(state);
  GangPlan& plan = plans.get(state, request.shape_id, demands);
  tasks.begin(state, plan, state.shapes()[request.shape_id], request);
  out.clear();
  placer.begin(state, txn, tasks, plan, out);
  regions.begin(placer, tasks);
}

/// kNotSearched: all is placed.
SearchFailure Placer::Impl::search() {
  placed_most = 0;
  if (!could_hold(placer, tasks, sum_scope(tasks, 0), DomainId{0})) return SearchFailure::kImpossible;
  const TaskPlacer::Mark start = placer.mark();
  const bool is_placed = greedy.run(tasks);
  placed_most = greedy.placed_most();
  if (!greedy.has_doubt()) return is_placed ? SearchFailure::kNotSearched : SearchFailure::kImpossible;
  placer.rollback(start);
  const uint32_t steps = is_placed ? placer.steps_left() / kBetterPart : placer.steps_left();
  switch (exact.run(tasks, steps)) {
    case SearchEnd::kFound: return SearchFailure::kNotSearched;
    case SearchEnd::kImpossible:
      WEFT_DCHECK(!is_placed, "what was placed once is possible");
      if (!is_placed) return SearchFailure::kImpossible;
      break;
    case SearchEnd::kBudget: break;
  }
  return is_placed && greedy.run(tasks) ? SearchFailure::kNotSearched : SearchFailure::kBudget;
}

/// Tasks stand role by role in the answer, in the order in which they were placed.
void Placer::Impl::order_by_role(GangPlacement& out) {
  if (std::ranges::is_sorted(out.role)) return;
  next_of_role.assign(tasks.plan().roles.size() + 1, 0);
  for (const uint16_t role : out.role) ++next_of_role[role + size_t{1}];
  for (size_t r = 1; r < next_of_role.size(); ++r) next_of_role[r] += next_of_role[r - 1];
  scratch.tasks.resize(out.tasks.size());
  scratch.role.resize(out.tasks.size());
  for (size_t i = 0; i < out.tasks.size(); ++i) {
    const uint32_t place = next_of_role[out.role[i]]++;
    scratch.tasks[place] = out.tasks[i];
    scratch.role[place] = out.role[i];
  }
  std::ranges::copy(scratch.tasks, out.tasks.begin());
  std::ranges::copy(scratch.role, out.role.begin());
}

Verdict Placer::Impl::place(Transaction& txn, const GangRequest& request, GangPlacement& out) {
  begin(txn.state(), &txn, request, out);
  if (tasks.total() == 0) return {};
  const SearchFailure failure = search();
  if (failure == SearchFailure::kNotSearched) {
    order_by_role(out);
    return {};
  }
  const Verdict verdict = explainer.explain(placer, tasks, request.shape_id, failure, placed_most);
  out.clear();
  return verdict;
}

Placer::Placer(const PolicyConfig& config, std::vector<ActiveScore> scores)
    : impl_(std::make_unique<Impl>(config, std::move(scores))) {}

Placer::~Placer() = default;

Verdict Placer::place_gang(Transaction& txn, const GangRequest& request, GangPlacement& out) {
  return impl_->place(txn, request, out);
}

Verdict Placer::explain(const ClusterState& state, const GangRequest& request) {
  impl_->begin(state, nullptr, request, impl_->scratch);
  return impl_->explainer.explain(impl_->placer, impl_->tasks, request.shape_id, SearchFailure::kNotSearched, 0);
}

void Placer::set_workload(const TargetWorkload& workload) { impl_->scores.set_workload(workload); }

}  // namespace weft
