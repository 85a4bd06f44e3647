#include "placement/role_counts.h"

#include "base/bits.h"
#include "placement/whole_counts.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <type_traits>

namespace weft {

FilterStage stage_of(Reason reason) {
  switch (reason) {
    case Reason::kCpus: return FilterStage::kCpus;
    case Reason::kMemory: return FilterStage::kMemory;
    case Reason::kDisk: return FilterStage::kDisk;
    case Reason::kNuma: return FilterStage::kNuma;
    case Reason::kNvlink: return FilterStage::kNvlink;
    case Reason::kUnavailable: return FilterStage::kAvailable;
    default: return FilterStage::kDevices;
  }
}

void RoleNodeCounts::fail(FilterStage stage, Reason reason, uint32_t count) {
  if (count == 0) return;
  nodes[static_cast<size_t>(reason)] += count;
  if (stage <= furthest) return;
  furthest = stage;
  furthest_reason = reason;
  nearest = 0;
  nearest_node = kNone<NodeId>;
}

void RoleNodeCounts::offer_nearest(NodeId node, int64_t amount) {
  const bool is_nearest = !is_set(nearest_node) || amount > nearest || (amount == nearest && node < nearest_node);
  if (!is_nearest) return;
  nearest = amount;
  nearest_node = node;
}

namespace {

template <typename View>
class Counting {
 public:
  static constexpr bool kIsPresent = std::is_same_v<View, PresentView>;

  Counting(const View& view, const CountQuestion& question)
      : view_(view),
        state_(view.state),
        question_(question),
        known_(question.demand),
        devices_(question.demand.task.devices) {
    counts_.nodes = question.standing.nodes;
    counts_.furthest = question.standing.furthest;
    counts_.furthest_reason = question.standing.furthest_reason;
  }

  void run() {
    if (kIsPresent) count_away();
    if (is_simple()) {
      count_whole(view_, question_, counts_);
    } else {
      by_nodes();
    }
    settle();
  }
  const RoleNodeCounts& counts() const { return counts_; }

 private:
  bool is_simple() const {
    const auto is_uniform = [&](PoolId id) {
      const Pool& pool = state_.pools()[index(id)];
      return !pool.is_mixed() && pool.device_memory_bytes_min == pool.device_memory_bytes_max;
    };
    return devices_.kind == DeviceNeedKind::kWhole && question_.island == OneIsland::kNo &&
           known_.task.numa == NumaNeed::kAny && question_.known.empty() &&
           std::ranges::all_of(known_.pools, is_uniform);
  }

  void count_away() {
    const BitSet& schedulable = state_.capacity().schedulable();
    for (size_t w = 0; w < known_.suits.word_count(); ++w) {
      const uint64_t away = known_.suits.word(w) & ~schedulable.word(w);
      if (away == 0) continue;
      counts_.fail(FilterStage::kAvailable, Reason::kUnavailable, popcount(away));
      for_each_bit(away,
                   [&](unsigned b) { ++(state_.nodes().is_up[w * 64 + b] == 0 ? counts_.down : counts_.cordoned); });
    }
  }

  void by_nodes() {
    const bool is_whole_now = kIsPresent && devices_.kind == DeviceNeedKind::kWhole;
    if (is_whole_now) {
      for_each_free_count(state_, known_,
                          [&](unsigned free, uint32_t nodes, const BitSet&) { counts_.add_free(free, nodes); });
    }
    for (size_t w = 0; w < known_.suits.word_count(); ++w) {
      uint64_t pass = known_.suits.word(w);
      if (kIsPresent) pass &= state_.capacity().schedulable().word(w);
      if (is_whole_now) pass = enough_devices(w, pass);
      if (is_fraction()) add_fractions(w, pass);
      if (devices_.kind == DeviceNeedKind::kMig)
        for_each_bit(pass, [&](unsigned b) { add_slices(make_id<NodeId>(w * 64 + b)); });
      if (!question_.known.empty()) {
        look_up(w, pass);
      } else {
        for_each_bit(pass, [&](unsigned b) { node(make_id<NodeId>(w * 64 + b)); });
      }
    }
    if (!question_.known.empty()) settle_known();
  }

  /// Without the nodes that have too few free devices. Each one stands in one bitmap by free count: those with enough
  /// are found from the side on which there are fewer bitmaps.
  uint64_t enough_devices(size_t w, uint64_t pass) {
    if (pass == 0) return 0;
    const CapacityIndex& capacity = state_.capacity();
    const auto need = static_cast<unsigned>(devices_.count);
    uint64_t enough = 0;
    for (const PoolId pool : known_.pools) {
      const unsigned end = capacity.free_max(pool) + 1;
      uint64_t nodes = 0;
      if (need <= end / 2) {
        for (unsigned free = 0; free < need; ++free) nodes |= capacity.bucket(pool, free).word(w);
        enough |= state_.pools()[index(pool)].nodes.word(w) & ~nodes;
      } else {
        for (unsigned free = need; free < end; ++free) nodes |= capacity.bucket(pool, free).word(w);
        enough |= nodes;
      }
    }
    counts_.fail(FilterStage::kDevices, Reason::kGpus, popcount(pass & ~enough));
    return pass & enough;
  }

  bool is_fraction() const {
    return devices_.kind == DeviceNeedKind::kMilli || devices_.kind == DeviceNeedKind::kMemory;
  }

  /// What was found out before, node by node: only counted here, see settle_known().
  void look_up(size_t w, uint64_t pass) {
    // Four tallies, so that equal neighbours do not wait for each other.
    for_each_bit(pass, [&](unsigned b) { ++tallies_[b % 4][static_cast<size_t>(question_.known[w * 64 + b])]; });
  }

  void settle_known() {
    for (const auto& tally : tallies_) {
      for (size_t r = 0; r < kReasonCount; ++r) tally_[r] += tally[r];
    }
    counts_.tasks = tally_[static_cast<size_t>(Reason::kNone)];
    counts_.nodes[static_cast<size_t>(Reason::kNone)] = tally_[static_cast<size_t>(Reason::kNone)];
    for (size_t r = 1; r < kReasonCount; ++r) {
      const auto reason = static_cast<Reason>(r);
      if (tally_[r] == 0) continue;
      counts_.fail(stage_of(reason), reason, tally_[r]);
    }
    if (counts_.furthest < FilterStage::kCpus) return;
    for (size_t w = 0; w < known_.suits.word_count(); ++w) {
      for_each_bit(known_.suits.word(w) & state_.capacity().schedulable().word(w), [&](unsigned b) {
        if (question_.known[w * 64 + b] == counts_.furthest_reason) note_nearest(make_id<NodeId>(w * 64 + b));
      });
    }
  }

  void fail_node(NodeId id, Reason reason) {
    const FilterStage stage = stage_of(reason);
    counts_.fail(stage, reason, 1);
    if (stage == counts_.furthest) note_nearest(id);
  }

  void node(NodeId id) {
    if (devices_.kind == DeviceNeedKind::kWhole && !kIsPresent) counts_.add_free(popcount(view_.whole(id)), 1);
    const ChoiceRules rules{.island = question_.island};
    const NodeRoomCount room = count_room(view_, id, known_.task, rules, question_.limit);
    if (room.reason == Reason::kNone) {
      counts_.take(1, room.tasks);
    } else {
      fail_node(id, room.reason);
    }
  }

  /// Keeps the node that came nearest to passing the furthest filter.
  void note_nearest(NodeId id) {
    const size_t n = index(id);
    int64_t amount = 0;
    switch (counts_.furthest) {
      case FilterStage::kCpus: amount = view_.cpu_milli(n); break;
      case FilterStage::kMemory: amount = view_.memory_bytes(n); break;
      case FilterStage::kDisk: amount = view_.disk_bytes(n); break;
      case FilterStage::kNvlink:
        for (const DeviceMask island : state_.layouts()[state_.nodes().layout[n]].islands) {
          amount = std::max<int64_t>(amount, popcount(view_.whole(id) & island));
        }
        break;
      default: return;
    }
    counts_.offer_nearest(id, amount);
  }

  /// Free thousandths of shareable devices. At present most nodes have none that is shared and has room: those count by
  /// the bitmaps.
  void add_fractions(size_t w, uint64_t pass) {
    uint64_t one_by_one = pass;
    if (kIsPresent) {
      const CapacityIndex& capacity = state_.capacity();
      one_by_one &= capacity.with_shared_room().word(w);
      for (const PoolId pool : known_.pools) {
        for (unsigned free = capacity.free_max(pool); free > 0; --free) {
          const uint64_t nodes = capacity.bucket(pool, free).word(w) & pass & ~one_by_one;
          if (nodes == 0) continue;
          counts_.free_milli += 1000 * int64_t{free} * popcount(nodes);
          note_part(make_id<NodeId>(w * 64 + static_cast<unsigned>(std::countr_zero(nodes))), 1000);
        }
      }
    }
    for_each_bit(one_by_one, [&](unsigned b) {
      const NodeId id = make_id<NodeId>(w * 64 + b);
      for_each_bit(view_.shareable(id), [&](unsigned d) {
        const int32_t free = view_.device_milli(state_.nodes().first_device[index(id)] + d);
        counts_.free_milli += free;
        note_part(id, free);
      });
    });
  }

  void note_part(NodeId node, int32_t free) {
    if (is_set(part_node_) && free <= most_part_) return;
    most_part_ = free;
    part_node_ = node;
  }

  void add_slices(NodeId id) {
    for_each_bit(view_.mig(id), [&](unsigned d) {
      const size_t row = state_.nodes().first_device[index(id)] + d;
      const DeviceModel& model = state_.names().devices.model(state_.devices().model[row]);
      counts_.free_slices += model.mig_compute_slices - view_.mig_use(row).compute_used;
    });
  }

  /// The node with the most free, when devices are what is missing.
  void settle() {
    if (counts_.furthest != FilterStage::kDevices) return;
    if (devices_.kind == DeviceNeedKind::kWhole) {
      counts_.nearest = counts_.most_free;
      counts_.nearest_node = first_with_free(view_, known_, counts_.most_free);
    } else if (is_fraction()) {
      counts_.nearest = most_part_;
      counts_.nearest_node = part_node_;
    }
  }

  const View& view_;
  const ClusterState& state_;
  const CountQuestion& question_;
  const KnownDemand& known_;
  const DeviceDemand& devices_;
  RoleNodeCounts counts_;
  std::array<std::array<uint32_t, kReasonCount>, 4> tallies_{};  ///< of what was known already
  std::array<uint32_t, kReasonCount> tally_{};                   ///< their sum
  int32_t most_part_ = 0;                                        ///< thousandths on one shareable device
  NodeId part_node_ = kNone<NodeId>;
};

}  // namespace

template <typename View>
RoleNodeCounts count_role(const View& view, const CountQuestion& question) {
  Counting<View> counting(view, question);
  counting.run();
  return counting.counts();
}

template RoleNodeCounts count_role(const PresentView&, const CountQuestion&);
template RoleNodeCounts count_role(const EmptyView&, const CountQuestion&);

}  // namespace weft
