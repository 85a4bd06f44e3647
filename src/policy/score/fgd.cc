#include "base/bits.h"
#include "placement/device_choice.h"
#include "placement/fragment_table.h"
#include "placement/fragmentation.h"
#include "policy/score/device_pick.h"
#include "policy/score/scores.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace weft {

namespace {

/// int(100 * sigmoid(x / 1000)) for a fall of fragmentation by x milli-GPU, as a table of the falls at which the next
/// whole number is reached: the same on every machine, and no exponential per node.
class SigmoidSteps {
 public:
  SigmoidSteps() {
    for (size_t k = 1; k < steps_.size(); ++k) {
      const auto percent = static_cast<double>(k);
      const double fall = 1000 * std::log(percent / (100 - percent));
      steps_[k] = static_cast<int64_t>(std::ceil(fall * static_cast<double>(FragmentTable::kOne)));
    }
    steps_[50] = 0;
  }
  /// `fall` in milli-GPU x FragmentTable::kOne.
  int32_t score(int64_t fall) const {
    return static_cast<int32_t>(std::upper_bound(steps_.begin() + 1, steps_.end(), fall) - steps_.begin()) - 1;
  }

 private:
  std::array<int64_t, 100> steps_{};  ///< from index 1 on
};

/// What is known of a node until it changes.
struct NodeSums {
  const FragmentTable::View* view = nullptr;  ///< null: to be read again
  size_t level = 0;                           ///< of View, by the free CPUs
  int64_t usable = 0;                         ///< FragmentTable::usable()
};
/// The devices with enough free for one need.
struct Hosts {
  int32_t count = 0;
  int32_t free = 0;  ///< thousandths, on all of them
};

/// Fragmentation Gradient Descent: the node, and on it the GPU, where fragmentation (placement/fragmentation.h) falls
/// most, or grows least: int(100 * sigmoid((before - after) / 1000)). Whole GPUs are all alike; a fraction tries every
/// GPU, and of equal ones the lowest index is taken.
///
/// Keeps sums per node, refreshed from the change log, so that only what the task changes is computed for each score.
/// Cost of a score: O(needs of the workload + candidate devices).
class FgdScore final : public NodeScore {
 public:
  std::string_view name() const override { return "fgd"; }

  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand& demand, int& device) const override {
    const ClusterState& state = context.state;
    const PoolId pool_id = state.nodes().pool[index(node)];
    if (!is_set(pool_id)) return steps_.score(0);
    const Pool& pool = state.pools()[index(pool_id)];
    const bool is_uniform = !pool.is_mixed() && pool.device_memory_bytes_max == pool.device_memory_bytes_min;
    if (!is_uniform) return score_mixed(context, node, demand, device);
    prepare(context);
    NodeSums& sums = nodes_[index(node)];
    if (sums.view == nullptr) read_node(state, node, sums);
    const int64_t cpu_after = state.nodes().free_cpu_milli[index(node)] - demand.cpu_milli;
    size_t level_after = sums.level;
    while (level_after > 0 && sums.view->cpu_levels[level_after - 1] > cpu_after) --level_after;
    if (is_fraction(demand.devices.kind)) return score_fraction(state, node, demand.devices, level_after, device);
    const int32_t whole = demand.devices.kind == DeviceNeedKind::kWhole ? demand.devices.count : 0;
    if (whole == 0 && level_after == sums.level) return steps_.score(0);
    const int64_t usable_after = usable_without(sums, index(node), whole, level_after);
    return steps_.score(FragmentTable::kOne * 1000 * whole - (sums.usable - usable_after));
  }

 private:
  /// Brings everything kept up to date with the workload and the state.
  void prepare(const ScoreContext& context) const {
    const bool is_same = state_ == &context.state && version_ == context.workload_version &&
                         data_ == context.workload.data() && size_ == context.workload.size() &&
                         structure_ == context.state.structure_version() &&
                         context.state.change_count() - changes_ <= context.state.changes_kept();
    if (is_same) {
      for (; changes_ != context.state.change_count(); ++changes_)
        nodes_[index(context.state.changed_node(changes_))].view = nullptr;
      return;
    }
    table_.set_workload(context.workload);
    state_ = &context.state;
    version_ = context.workload_version;
    data_ = context.workload.data();
    size_ = context.workload.size();
    structure_ = context.state.structure_version();
    changes_ = context.state.change_count();
    nodes_.assign(context.state.nodes().size(), {});
    hosts_.assign(context.state.nodes().size() * table_.needs_max(), {});
    added_.resize(table_.needs_max() + 1);
  }

  Hosts* hosts_of(size_t node) const { return hosts_.data() + node * table_.needs_max(); }

  void read_node(const ClusterState& state, NodeId node, NodeSums& sums) const {
    const Pool& pool = state.pools()[index(state.nodes().pool[index(node)])];
    const FragmentTable::View& view = table_.view(pool.models.front(), pool.share);
    const NodeRoom room = node_room(state, node);
    Hosts* const hosts = hosts_of(index(node));
    for (size_t need = 0; need < view.needs(); ++need) hosts[need] = {.count = room.whole, .free = 1000 * room.whole};
    for (int32_t i = 0; i < room.shared_count; ++i) {
      const int32_t free = room.shared[static_cast<size_t>(i)];
      for (size_t need = 0; need < view.needs_up_to[static_cast<size_t>(free)]; ++need) {
        ++hosts[need].count;
        hosts[need].free += free;
      }
    }
    sums.view = &view;
    sums.level = view.level(room.cpu_milli);
    sums.usable = usable_without(sums, index(node), 0, sums.level);
  }

  /// usable() of the node without `whole` of its whole devices and with CPUs down to `level`.
  int64_t usable_without(const NodeSums& sums, size_t node, int32_t whole, size_t level) const {
    const FragmentTable::View& view = *sums.view;
    const Hosts* const hosts = hosts_of(node);
    const int64_t* const weight = view.row(level);
    const int32_t* const need_count = view.need_count.data();
    const size_t needs = view.needs();
    int64_t usable = 0;
    for (size_t need = 0; need < needs; ++need) {
      const int64_t free = hosts[need].free - 1000 * whole;
      usable += hosts[need].count - whole >= need_count[need] ? weight[need] * free : 0;
    }
    return usable;
  }

  int32_t score_fraction(const ClusterState& state, NodeId node, const DeviceDemand& demand, size_t level,
                         int& device) const;

  /// Sums over the needs before one: what they give, and the weight with which each thousandth counts.
  struct Added {
    int64_t usable = 0;
    int64_t weight = 0;
  };

  /// A node whose devices differ in model or memory: by the definition, shape by shape.
  int32_t score_mixed(const ScoreContext& context, NodeId node, const TaskDemand& demand, int& device) const;

  SigmoidSteps steps_;
  // A cache that cannot change an answer.
  mutable FragmentTable table_;
  mutable std::vector<NodeSums> nodes_;
  mutable std::vector<Hosts> hosts_;  // node-major
  mutable std::vector<Added> added_;  // scratch of score_fraction()
  mutable const ClusterState* state_ = nullptr;
  mutable const TargetTask* data_ = nullptr;
  mutable size_t size_ = 0;
  mutable uint64_t version_ = 0;
  mutable uint64_t structure_ = 0;
  mutable uint64_t changes_ = 0;
};

/// Taking m from a device with x free changes three runs of needs: those for at most x - m lose m thousandths, those up
/// to x lose the device, the others keep everything. Sums over the needs before each make a candidate cost only the
/// middle run.
int32_t FgdScore::score_fraction(const ClusterState& state, NodeId node, const DeviceDemand& demand, size_t level,
                                 int& device) const {
  const size_t n = index(node);
  const NodeSums& sums = nodes_[n];
  const FragmentTable::View& view = *sums.view;
  const Hosts* const hosts = hosts_of(n);
  const int64_t* const weight = view.row(level);
  const int32_t* const need_count = view.need_count.data();
  const size_t needs = view.needs();
  Added sum;
  for (size_t need = 0; need < needs; ++need) {
    const int64_t hosted = hosts[need].count >= need_count[need] ? weight[need] : 0;
    sum.usable += hosted * hosts[need].free;
    sum.weight += hosted;
    added_[need + 1] = sum;
  }
  const size_t first = state.nodes().first_device[n];
  const Fraction taken = fraction_of(demand, state.pools()[index(state.nodes().pool[n])].device_memory_bytes_max);
  // Devices that nobody has are all alike: the lowest stands for them.
  const DeviceMask whole = state.available(node);
  const DeviceMask candidates = (state.nodes().shared[n] & state.usable(node)) | (whole & (~whole + 1));
  int32_t best = -1;
  for_each_bit(candidates, [&](unsigned d) {
    const int32_t before = state.devices().free_milli[first + d];
    const int32_t after = before - taken.milli;
    if (after < 0 || state.devices().free_memory_bytes[first + d] < taken.memory_bytes) return;
    const size_t keep = view.needs_up_to[static_cast<size_t>(after)];
    const size_t lose = view.needs_up_to[static_cast<size_t>(before)];
    int64_t usable = added_[keep].usable - taken.milli * added_[keep].weight + (sum.usable - added_[lose].usable);
    for (size_t need = keep; need < lose; ++need) {
      const int64_t free = hosts[need].free - before;
      usable += hosts[need].count - 1 >= need_count[need] ? weight[need] * free : 0;
    }
    const int32_t score = steps_.score(FragmentTable::kOne * taken.milli - (sums.usable - usable));
    if (score <= best) return;
    best = score;
    device = static_cast<int>(d);
  });
  return best;
}

int32_t FgdScore::score_mixed(const ScoreContext& context, NodeId node, const TaskDemand& demand, int& device) const {
  const ClusterState& state = context.state;
  const ShareMode share = state.pools()[index(state.nodes().pool[index(node)])].share;
  const std::vector<FreeDevice> free = free_devices(state, node);
  const int64_t cpu = state.nodes().free_cpu_milli[index(node)];
  const double before = fragmentation_of(free, {.cpu_milli = cpu, .share = share}, context.workload);
  const NodeRest rest{.cpu_milli = cpu - demand.cpu_milli, .share = share};
  const auto score_of = [&](const std::vector<FreeDevice>& after) {
    const double fall = before - fragmentation_of(after, rest, context.workload);
    return steps_.score(std::llround(fall * static_cast<double>(FragmentTable::kOne)));
  };
  if (!is_fraction(demand.devices.kind)) {
    std::vector<FreeDevice> after = free;
    int32_t left = demand.devices.kind == DeviceNeedKind::kWhole ? demand.devices.count : 0;
    for (FreeDevice& d : after) {
      const bool is_allowed =
          demand.devices.models.empty() || std::ranges::binary_search(demand.devices.models, d.model);
      if (left == 0 || d.milli < 1000 || !is_allowed) continue;
      d.milli = 0;
      --left;
    }
    return score_of(after);
  }
  int32_t best = -1;
  const DeviceMask fitting = fitting_devices(state, node, demand.devices);
  for (size_t i = 0; i < free.size(); ++i) {
    if (((fitting >> free[i].device) & 1U) == 0) continue;
    std::vector<FreeDevice> after = free;
    const size_t row = state.nodes().first_device[index(node)] + free[i].device;
    after[i].milli -= fraction_of(demand.devices, state.devices().memory_bytes[row]).milli;
    const int32_t score = score_of(after);
    if (score <= best) continue;
    best = score;
    device = static_cast<int>(free[i].device);
  }
  return best;
}

}  // namespace

std::unique_ptr<NodeScore> make_fgd_score() { return std::make_unique<FgdScore>(); }

}  // namespace weft
