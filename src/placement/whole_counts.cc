#include "placement/whole_counts.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

namespace weft {

namespace {

/// Of these nodes of a word those whose cell is not less than `need`.
uint64_t at_least(const std::vector<int64_t>& column, size_t word, uint64_t nodes, int64_t need) {
  if (need <= 0) return nodes;
  const int64_t* const cells = &column[word * 64];
  uint64_t mask = 0;
  for_each_bit(nodes, [&](unsigned b) { mask |= static_cast<uint64_t>(cells[b] >= need) << b; });
  return mask;
}

/// Nodes with equally many free devices are alike in them: only their CPUs, memory and disk are looked at one by one.
template <typename View>
class WholeCounting {
 public:
  WholeCounting(const View& view, const CountQuestion& question, RoleNodeCounts& counts)
      : view_(view),
        known_(question.demand),
        task_(question.demand.task),
        each_(static_cast<unsigned>(task_.devices.count)),
        limit_(question.limit),
        counts_(counts) {}

  /// What is free at present stands in the index.
  void by_index() {
    for_each_free_count(view_.state, known_, [&](unsigned free, uint32_t nodes, const BitSet& bucket) {
      counts_.add_free(free, nodes);
      if (free < each_) return counts_.fail(FilterStage::kDevices, Reason::kGpus, nodes);
      if (!asks_amounts()) return counts_.take(nodes, nodes * most_tasks(free));
      for (size_t w = 0; w < known_.suits.word_count(); ++w)
        by_amounts(w, bucket.word(w) & known_.suits.word(w), most_tasks(free));
    });
  }

  void by_words() {
    for (size_t w = 0; w < known_.suits.word_count(); ++w) {
      const auto free_on = [&](unsigned b) { return popcount(view_.whole(make_id<NodeId>(w * 64 + b))); };
      for (uint64_t rest = known_.suits.word(w); rest != 0;) {
        const unsigned free = free_on(static_cast<unsigned>(std::countr_zero(rest)));
        uint64_t nodes = 0;
        for_each_bit(rest, [&](unsigned b) { nodes |= static_cast<uint64_t>(free_on(b) == free) << b; });
        rest &= ~nodes;
        counts_.add_free(free, popcount(nodes));
        if (free < each_) {
          counts_.fail(FilterStage::kDevices, Reason::kGpus, popcount(nodes));
        } else {
          by_amounts(w, nodes, most_tasks(free));
        }
      }
    }
  }

 private:
  bool asks_amounts() const { return task_.cpu_milli != 0 || task_.memory_bytes != 0 || task_.disk_bytes != 0; }
  int64_t most_tasks(unsigned free) const { return std::min<int64_t>(limit_, free / each_); }

  /// `tasks`: as many as the devices of each of these nodes are enough for.
  void by_amounts(size_t w, uint64_t nodes, int64_t tasks) {
    uint64_t all = at_least(view_.cpu_milli(), w, nodes, tasks * task_.cpu_milli);
    all = at_least(view_.memory_bytes(), w, all, tasks * task_.memory_bytes);
    all = at_least(view_.disk_bytes(), w, all, tasks * task_.disk_bytes);
    counts_.take(popcount(all), popcount(all) * tasks);
    uint64_t rest = nodes & ~all;
    rest = without_short(Reason::kCpus, view_.cpu_milli(), w, rest, task_.cpu_milli);
    rest = without_short(Reason::kMemory, view_.memory_bytes(), w, rest, task_.memory_bytes);
    rest = without_short(Reason::kDisk, view_.disk_bytes(), w, rest, task_.disk_bytes);
    for_each_bit(rest, [&](unsigned b) {
      const size_t n = w * 64 + b;
      int64_t fit = fit_count(view_.cpu_milli(n), task_.cpu_milli, tasks);
      fit = fit_count(view_.memory_bytes(n), task_.memory_bytes, fit);
      counts_.take(1, fit_count(view_.disk_bytes(n), task_.disk_bytes, fit));
    });
  }

  /// Those of the nodes of a word whose cell is enough for one task; the others fail.
  uint64_t without_short(Reason reason, const std::vector<int64_t>& column, size_t w, uint64_t nodes, int64_t need) {
    const uint64_t enough = at_least(column, w, nodes, need);
    if (enough == nodes) return nodes;
    counts_.fail(stage_of(reason), reason, popcount(nodes & ~enough));
    if (stage_of(reason) != counts_.furthest) return enough;
    int64_t most = -1;
    size_t first = 0;
    for_each_bit(nodes & ~enough, [&](unsigned b) {
      const size_t n = w * 64 + b;
      if (column[n] <= most) return;
      most = column[n];
      first = n;
    });
    counts_.offer_nearest(make_id<NodeId>(first), most);
    return enough;
  }

  const View& view_;
  const KnownDemand& known_;
  const TaskDemand& task_;
  unsigned each_;
  int64_t limit_;
  RoleNodeCounts& counts_;
};

}  // namespace

uint32_t count_common(const BitSet& a, const BitSet& b) {
  uint32_t count = 0;
  for (size_t w = 0; w < a.word_count(); ++w) count += popcount(a.word(w) & b.word(w));
  return count;
}

template <typename View>
void count_whole(const View& view, const CountQuestion& question, RoleNodeCounts& counts) {
  WholeCounting<View> counting(view, question, counts);
  if constexpr (std::is_same_v<View, PresentView>) {
    counting.by_index();
  } else {
    counting.by_words();
  }
}

template void count_whole(const PresentView&, const CountQuestion&, RoleNodeCounts&);
template void count_whole(const EmptyView&, const CountQuestion&, RoleNodeCounts&);

NodeId first_with_free(const PresentView& view, const KnownDemand& known, int32_t free) {
  const CapacityIndex& capacity = view.state.capacity();
  const auto count = static_cast<unsigned>(free);
  for (size_t w = 0; w < known.suits.word_count(); ++w) {
    for (const PoolId pool : known.pools) {
      if (capacity.free_max(pool) < count) continue;
      const uint64_t nodes = capacity.bucket(pool, count).word(w) & known.suits.word(w);
      if (nodes != 0) return make_id<NodeId>(w * 64 + static_cast<unsigned>(std::countr_zero(nodes)));
    }
  }
  return kNone<NodeId>;
}

NodeId first_with_free(const EmptyView& view, const KnownDemand& known, int32_t free) {
  for (size_t n = 0; n < known.suits.size(); ++n) {
    const NodeId node = make_id<NodeId>(n);
    if (known.suits.test(n) && popcount(view.whole(node)) == static_cast<unsigned>(free)) return node;
  }
  return kNone<NodeId>;
}

}  // namespace weft
