#pragma once

#include "base/ids.h"
#include "placement/gang_plan.h"
#include "placement/region.h"
#include "placement/scope_need.h"
#include "placement/task_placer.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

/// Finds sets of domains (or nodes) of a preferred level that could hold a scope together, with as few of them as can
/// be. Few candidates: every subset. Many: the roomiest ones, the last of them the one that fits best.
class UnionMaker {
 public:
  explicit UnionMaker(const SearchParts& parts) : parts_(parts) {}
  void begin(TaskPlacer& placer, const GangTasks& tasks) {
    placer_ = &placer;
    tasks_ = &tasks;
  }

  /// One union: how many parts, and where they stand in the list of ids.
  struct Made {
    uint32_t count = 0;
    uint32_t begin = 0, end = 0;
    uint32_t container = 0;  ///< the caller's number
  };
  /// Appends the unions of parts of `part_height` inside `container` (itself inside `outer`) to made() and their ids to
  /// `part_ids`.
  void make(const ScopeNeedSum& need, const Region& outer, const Region& container, Height part_height,
            uint32_t container_number, std::vector<uint32_t>& part_ids);
  std::vector<Made>& made() { return made_; }

 private:
  static constexpr size_t kAllSubsetsMax = 6;
  static constexpr size_t kCountsTried = 3;

  enum class LastUnit : uint8_t { kRoomiest, kBestFit };

  struct Unit {
    int64_t room = 0;  ///< tasks when the scope has one role, else whole devices or milli-CPU
    uint32_t id = 0;
    uint8_t has_anchor = 0;
  };

  const ClusterState& state() const { return placer_->state(); }
  bool is_pack() const { return parts_.config.nodes == PackOrSpread::kPack; }
  void collect(const ScopeNeedSum& need, const Region& outer, const Region& container, Height part_height);
  void add_unit(const ScopeNeedSum& need, const Region& unit, uint32_t id);
  int64_t room_in(const ScopeNeedSum& need, const Region& unit) const;
  int64_t room_needed(const ScopeNeedSum& need) const;
  bool has_anchor(const ScopeNeedSum& need, const Region& unit) const;
  void append(const std::vector<uint32_t>& chosen, uint32_t container, std::vector<uint32_t>& part_ids);
  void make_subsets(int64_t needed, uint32_t container, std::vector<uint32_t>& part_ids);
  void make_roomiest(int64_t needed, uint32_t container, std::vector<uint32_t>& part_ids);
  bool choose_roomiest(size_t count, int64_t needed, LastUnit last);

  SearchParts parts_;
  TaskPlacer* placer_ = nullptr;
  const GangTasks* tasks_ = nullptr;
  std::vector<Unit> units_;
  std::vector<uint32_t> chosen_;  ///< unit numbers
  std::vector<std::pair<int64_t, uint32_t>> subsets_;
  std::vector<Made> made_;
};

}  // namespace weft
