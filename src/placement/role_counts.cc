#include "placement/role_counts.h"

#include "base/bits.h"
#include "state/cluster_state.h"

#include <algorithm>
#include <type_traits>

namespace weft {

namespace {

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

template <typename View>
class Counting {
 public:
  static constexpr bool kIsPresent = std::is_same_v<View, PresentView>;

  Counting(const View& view, DemandTable& demands, const CountQuestion& question)
      : view_(view),
        state_(view.state),
        demands_(demands),
        question_(question),
        known_(question.demand),
        devices_(question.demand.task.devices) {}

  void run() {
    const bool is_simple = devices_.kind == DeviceNeedKind::kWhole && question_.island == OneIsland::kNo &&
                           known_.task.numa == NumaNeed::kAny && !has_mixed_pool();
    for (size_t w = 0; w < known_.suits.word_count(); ++w) {
      uint64_t pass = standing(w);
      if (kIsPresent) pass = available(w, pass);
      if (kIsPresent && devices_.kind == DeviceNeedKind::kWhole) pass = enough_devices(w, pass);
      if (is_fraction()) add_fractions(w, pass);
      if (devices_.kind == DeviceNeedKind::kMig)
        for_each_bit(pass, [&](unsigned b) { add_slices(make_id<NodeId>(w * 64 + b)); });
      if (!question_.known.empty()) {
        look_up(w, pass);
      } else if (is_simple) {
        by_amounts(w, pass);
      } else {
        for_each_bit(pass, [&](unsigned b) { node(make_id<NodeId>(w * 64 + b)); });
      }
    }
    if (!question_.known.empty()) settle_known();
    settle();
  }
  const RoleNodeCounts& counts() const { return counts_; }

 private:
  void fail(FilterStage stage, Reason reason, uint64_t nodes) {
    if (nodes == 0) return;
    counts_.nodes[static_cast<size_t>(reason)] += popcount(nodes);
    if (stage <= counts_.furthest) return;
    counts_.furthest = stage;
    counts_.furthest_reason = reason;
    counts_.nearest = 0;
    counts_.nearest_node = kNone<NodeId>;
  }

  uint64_t standing(size_t w) {
    const size_t size = state_.nodes().size();
    uint64_t pass = low_bits(static_cast<unsigned>(std::min<size_t>(size - w * 64, 64)));
    const auto filter = [&](FilterStage stage, Reason reason, uint64_t passes) {
      fail(stage, reason, pass & ~passes);
      pass &= passes;
    };
    const DemandTable::FilterWords words = demands_.filter_words(state_, known_, w);
    filter(FilterStage::kPinned, Reason::kNode, words.pinned);
    filter(FilterStage::kLabels, Reason::kLabel, words.labels);
    filter(FilterStage::kTaints, Reason::kTaint, words.taints);
    if (devices_.kind == DeviceNeedKind::kNone) return pass;
    for (size_t p = 0; p < known_.pool_obstacles.size() && pass != 0; ++p) {
      const Reason reason = known_.pool_obstacles[p];
      if (reason == Reason::kNone) continue;
      const FilterStage stage = reason == Reason::kModel       ? FilterStage::kModel
                                : reason == Reason::kGpuMemory ? FilterStage::kGpuMemory
                                                               : FilterStage::kSharing;
      filter(stage, reason, ~state_.pools()[p].nodes.word(w));
    }
    // What is left over has no devices at all, or none in MIG mode.
    const bool is_mig = devices_.kind == DeviceNeedKind::kMig;
    const Reason reason = is_mig ? Reason::kMig : devices_.models.empty() ? Reason::kGpus : Reason::kModel;
    filter(is_mig ? FilterStage::kSharing : FilterStage::kModel, reason, known_.suits.word(w));
    return pass;
  }

  uint64_t available(size_t w, uint64_t pass) {
    const uint64_t away = pass & ~state_.capacity().schedulable().word(w);
    fail(FilterStage::kAvailable, Reason::kUnavailable, away);
    for_each_bit(away,
                 [&](unsigned b) { ++(state_.nodes().is_up[w * 64 + b] == 0 ? counts_.down : counts_.cordoned); });
    return pass & ~away;
  }

  /// Nodes with too few free devices, from the bitmaps by free count.
  uint64_t enough_devices(size_t w, uint64_t pass) {
    const CapacityIndex& capacity = state_.capacity();
    const auto need = static_cast<unsigned>(devices_.count);
    uint64_t enough = 0;
    for (const PoolId pool : known_.pools) {
      for (unsigned free = capacity.free_max(pool) + 1; free-- > 0;) {
        const uint64_t nodes = capacity.bucket(pool, free).word(w) & pass;
        if (nodes == 0) continue;
        counts_.free_devices += int64_t{free} * popcount(nodes);
        note_free(make_id<NodeId>(w * 64 + static_cast<unsigned>(std::countr_zero(nodes))), free);
        if (free >= need) enough |= nodes;
      }
    }
    fail(FilterStage::kDevices, Reason::kGpus, pass & ~enough);
    return enough;
  }

  bool is_fraction() const {
    return devices_.kind == DeviceNeedKind::kMilli || devices_.kind == DeviceNeedKind::kMemory;
  }
  bool has_mixed_pool() const {
    return std::ranges::any_of(known_.pools, [&](PoolId pool) {
      const Pool& of = state_.pools()[index(pool)];
      return of.is_mixed() || of.device_memory_bytes_min != of.device_memory_bytes_max;
    });
  }

  void take_tasks(uint64_t nodes, int64_t tasks) {
    counts_.nodes[static_cast<size_t>(Reason::kNone)] += popcount(nodes);
    counts_.tasks += tasks;
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
      fail(stage_of(reason), reason, ~uint64_t{0});
      counts_.nodes[r] += tally_[r] - 64;
    }
    if (counts_.furthest < FilterStage::kCpus) return;
    for (size_t w = 0; w < known_.suits.word_count(); ++w) {
      for_each_bit(known_.suits.word(w) & state_.capacity().schedulable().word(w), [&](unsigned b) {
        if (question_.known[w * 64 + b] == counts_.furthest_reason) note_nearest(make_id<NodeId>(w * 64 + b));
      });
    }
  }

  /// Where nothing but whole devices, CPUs, memory and disk is asked for.
  void by_amounts(size_t w, uint64_t pass) {
    const TaskDemand& task = known_.task;
    const auto each = static_cast<unsigned>(devices_.count);
    uint64_t devices = 0;
    uint64_t cpus = 0;
    uint64_t memory = 0;
    uint64_t disk = 0;
    for_each_bit(pass, [&](unsigned b) {
      const size_t n = w * 64 + b;
      const uint64_t bit = uint64_t{1} << b;
      const unsigned free = popcount(view_.whole(make_id<NodeId>(n)));
      if (!kIsPresent) {
        counts_.free_devices += free;
        note_free(make_id<NodeId>(n), free);
      }
      if (free < each) {
        devices |= bit;
      } else if (view_.cpu_milli(n) < task.cpu_milli) {
        cpus |= bit;
      } else if (view_.memory_bytes(n) < task.memory_bytes) {
        memory |= bit;
      } else if (view_.disk_bytes(n) < task.disk_bytes) {
        disk |= bit;
      } else {
        int64_t tasks = std::min<int64_t>(question_.limit, question_.limit == 1 ? 1 : free / each);
        tasks = fit_count(view_.cpu_milli(n), task.cpu_milli, tasks);
        tasks = fit_count(view_.memory_bytes(n), task.memory_bytes, tasks);
        take_tasks(1, fit_count(view_.disk_bytes(n), task.disk_bytes, tasks));
      }
    });
    const auto fail_all = [&](Reason reason, uint64_t nodes) {
      fail(stage_of(reason), reason, nodes);
      if (nodes == 0 || stage_of(reason) != counts_.furthest) return;
      for_each_bit(nodes, [&](unsigned b) { note_nearest(make_id<NodeId>(w * 64 + b)); });
    };
    fail(FilterStage::kDevices, Reason::kGpus, devices);
    fail_all(Reason::kCpus, cpus);
    fail_all(Reason::kMemory, memory);
    fail_all(Reason::kDisk, disk);
  }

  void fail_node(NodeId id, Reason reason) {
    const FilterStage stage = stage_of(reason);
    fail(stage, reason, 1);
    if (stage == counts_.furthest) note_nearest(id);
  }

  void note_free(NodeId node, unsigned free) {
    if (is_set(most_node_) && static_cast<int32_t>(free) <= counts_.most_free) return;
    counts_.most_free = static_cast<int32_t>(free);
    most_node_ = node;
  }

  void node(NodeId id) {
    if (devices_.kind == DeviceNeedKind::kWhole && !kIsPresent) {
      const unsigned free = popcount(view_.whole(id));
      counts_.free_devices += free;
      note_free(id, free);
    }
    const ChoiceRules rules{.island = question_.island};
    const NodeRoomCount room = count_room(view_, id, known_.task, rules, question_.limit);
    if (room.reason == Reason::kNone) {
      take_tasks(1, room.tasks);
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
    if (is_set(counts_.nearest_node) && amount <= counts_.nearest) return;
    counts_.nearest = amount;
    counts_.nearest_node = id;
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
      counts_.nearest_node = most_node_;
    } else if (is_fraction()) {
      counts_.nearest = most_part_;
      counts_.nearest_node = part_node_;
    }
  }

  const View& view_;
  const ClusterState& state_;
  DemandTable& demands_;
  const CountQuestion& question_;
  const KnownDemand& known_;
  const DeviceDemand& devices_;
  RoleNodeCounts counts_;
  std::array<std::array<uint32_t, kReasonCount>, 4> tallies_{};  ///< of what was known already
  std::array<uint32_t, kReasonCount> tally_{};                   ///< their sum
  NodeId most_node_ = kNone<NodeId>;
  int32_t most_part_ = 0;  ///< thousandths on one shareable device
  NodeId part_node_ = kNone<NodeId>;
};

}  // namespace

template <typename View>
RoleNodeCounts count_role(const View& view, DemandTable& demands, const CountQuestion& question) {
  Counting<View> counting(view, demands, question);
  counting.run();
  return counting.counts();
}

template RoleNodeCounts count_role(const PresentView&, DemandTable&, const CountQuestion&);
template RoleNodeCounts count_role(const EmptyView&, DemandTable&, const CountQuestion&);

}  // namespace weft
