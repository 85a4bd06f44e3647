#include "placement/task_placer.h"

#include "base/bits.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <limits>

namespace weft {

namespace {

constexpr unsigned kDrawsPerJobBits = 20;

}  // namespace

void TaskPlacer::begin(const ClusterState& state, Transaction* txn, GangTasks& tasks, GangPlan& plan,
                       GangPlacement& out) {
  state_ = &state;
  txn_ = txn;
  tasks_ = &tasks;
  out_ = &out;
  steps_ = 0;
  // The first descent is never cut short: only what is tried beyond it counts against the budget.
  steps_max_ = parts_.config.search_steps_max + static_cast<uint32_t>(std::max(tasks.total(), 0));
  for (PlanRole& role : plan.roles) {
    role.order = parts_.scores.index_order(state, parts_.demands.get(state, role.demand).task);
  }
}

void TaskPlacer::rollback(Mark mark) {
  if (out_->tasks.size() == mark.tasks) return;
  txn_->rollback(mark.txn);
  out_->tasks.resize(mark.tasks);
  out_->role.resize(mark.tasks);
}

bool TaskPlacer::take(size_t role, const TaskPlacement& at) {
  if (steps_ >= steps_max_) return false;
  ++steps_;
  txn_->take(demand(role).task, at);
  out_->tasks.push_back(at);
  out_->role.push_back(static_cast<uint16_t>(role));
  return true;
}

/// A fresh value for every choice that is the same whenever the same job is placed: a question in between leaves no
/// trace.
uint64_t TaskPlacer::next_draw() const {
  const uint64_t job = is_set(tasks_->job()) ? index(tasks_->job()) + uint64_t{1} : 0;
  return (job << kDrawsPerJobBits) + out_->tasks.size();
}

ScoreQuery TaskPlacer::query(size_t role, const Region& region) {
  const DemandId id = tasks_->plan().roles[role].demand;
  return {.id = id,
          .demand = parts_.demands.get(state(), id),
          .region = region,
          .data = tasks_->shape().data,
          .draw = next_draw()};
}

int32_t TaskPlacer::place(size_t role, const Region& region, int32_t count) {
  if (count <= 0) return 0;
  if (region.height <= kNodeHeight) return place_on_node(role, region, count);
  if (order(role) != NodeScore::IndexOrder::kNone) return sweep(role, region, count);
  return place_by_score(role, region, count);
}

int32_t TaskPlacer::fill_node(size_t role, const Region& region, NodeId node, int32_t count) {
  const TaskDemand& task = demand(role).task;
  const ChoiceRules rules{.among = region.devices, .island = region.island};
  int32_t placed = 0;
  TaskPlacement at;
  while (placed < count && parts_.chooser.choose(state(), node, task, rules, at) == Reason::kNone && take(role, at))
    ++placed;
  return placed;
}

int32_t TaskPlacer::place_on_node(size_t role, const Region& region, int32_t count) {
  const KnownDemand& known = demand(role);
  if (!known.suits.test(index(region.node))) return 0;
  if (order(role) != NodeScore::IndexOrder::kNone) return fill_node(role, region, region.node, count);
  int32_t placed = 0;
  TaskPlacement at;
  while (placed < count) {
    ChoiceRules rules{.among = region.devices, .island = region.island};
    const int32_t score =
        parts_.scores.score_of(state(), parts_.chooser, query(role, region), region.node, rules.device);
    if (score == ScoreCache::kUnfit) break;
    if (parts_.chooser.choose(state(), region.node, known.task, rules, at) != Reason::kNone || !take(role, at)) break;
    ++placed;
  }
  return placed;
}

int32_t TaskPlacer::place_by_score(size_t role, const Region& region, int32_t count) {
  int32_t placed = 0;
  TaskPlacement at;
  while (placed < count) {
    const ScoredNode best = parts_.scores.best(state(), parts_.chooser, query(role, region));
    if (!is_set(best.node)) break;
    const ChoiceRules rules{.island = region.island, .device = best.device};
    const Reason reason = parts_.chooser.choose(state(), best.node, demand(role).task, rules, at);
    WEFT_CHECK(reason == Reason::kNone, "a node with a score has room for the task");
    if (!take(role, at)) break;
    ++placed;
  }
  return placed;
}

bool TaskPlacer::has_bucket(const KnownDemand& demand, const Region& region, unsigned free) const {
  const CapacityIndex& capacity = state().capacity();
  return std::ranges::any_of(demand.pools, [&](PoolId pool) {
    return free <= capacity.free_max(pool) && capacity.histogram(region.domain, pool)[free] != 0;
  });
}

uint64_t TaskPlacer::bucket_word(const KnownDemand& demand, const Region& region, unsigned free, size_t word) const {
  const CapacityIndex& capacity = state().capacity();
  uint64_t bits = 0;
  for (const PoolId pool : demand.pools) {
    if (free <= capacity.free_max(pool)) bits |= capacity.bucket(pool, free).word(word);
  }
  if (bits == 0) return 0;
  return bits & demand.suits.word(word) & region.word(word);
}

int32_t TaskPlacer::sweep(size_t role, const Region& region, int32_t count) {
  const KnownDemand& known = demand(role);
  const CapacityIndex& capacity = state().capacity();
  unsigned most = 0;
  for (const PoolId pool : known.pools) most = std::max(most, capacity.free_max(pool));
  const auto least = static_cast<unsigned>(known.task.devices.count);
  const bool is_pack = order(role) == NodeScore::IndexOrder::kFewestFreeFirst;
  int32_t placed = 0;
  for (unsigned i = 0; least + i <= most && placed < count; ++i) {
    const unsigned free = is_pack ? least + i : most - i;
    if (!has_bucket(known, region, free)) continue;
    if (!tasks_->shape().data.empty()) placed += sweep_data(role, region, free, count - placed);
    placed += sweep_bucket(role, region, free, count - placed);
  }
  return placed;
}

/// Pack fills a node before it goes on, for after a task it is the one with the fewest free devices. Spread gives each
/// node one task: after that the node stands in a bucket that is still to come.
int32_t TaskPlacer::sweep_bucket(size_t role, const Region& region, unsigned free, int32_t count) {
  const KnownDemand& known = demand(role);
  const NodeTable& nodes = state().nodes();
  const bool is_pack = order(role) == NodeScore::IndexOrder::kFewestFreeFirst;
  int32_t placed = 0;
  for (size_t w = region.word_begin(); w < region.word_end() && placed < count; ++w) {
    uint64_t bits = bucket_word(known, region, free, w);
    for (; bits != 0 && placed < count; bits &= bits - 1) {
      const size_t n = w * 64 + static_cast<unsigned>(std::countr_zero(bits));
      if (nodes.free_cpu_milli[n] < known.task.cpu_milli || nodes.free_memory_bytes[n] < known.task.memory_bytes)
        continue;
      const NodeId node = make_id<NodeId>(n);
      placed += fill_node(role, region, node, is_pack ? count - placed : 1);
    }
  }
  return placed;
}

/// Among nodes of one bucket those that hold data of the job go first, the most bytes first.
int32_t TaskPlacer::sweep_data(size_t role, const Region& region, unsigned free, int32_t count) {
  const KnownDemand& known = demand(role);
  const bool is_pack = order(role) == NodeScore::IndexOrder::kFewestFreeFirst;
  int32_t placed = 0;
  int64_t last_bytes = std::numeric_limits<int64_t>::max();
  NodeId last_node = NodeId{0};
  while (placed < count) {
    const DataLocation* next = nullptr;
    for (const DataLocation& at : tasks_->shape().data) {
      const size_t n = index(at.node);
      const bool is_later = at.bytes < last_bytes || (at.bytes == last_bytes && at.node > last_node);
      if (!is_later || at.bytes <= 0 || (next != nullptr && at.bytes <= next->bytes)) continue;
      if (!region.has_node(n) || ((bucket_word(known, region, free, n / 64) >> (n % 64)) & 1U) == 0) continue;
      next = &at;
    }
    if (next == nullptr) break;
    last_bytes = next->bytes;
    last_node = next->node;
    placed += fill_node(role, region, next->node, is_pack ? count - placed : 1);
  }
  return placed;
}

}  // namespace weft
