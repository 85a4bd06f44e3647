#pragma once

#include "base/bits.h"
#include "base/ids.h"
#include "placement/gang_plan.h"
#include "placement/region.h"
#include "placement/scope_need.h"
#include "placement/task_placer.h"
#include "placement/union_maker.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace weft {

/// Where one scope of a gang could lie inside a region, best first:
/// 1. preferred levels from the narrowest upward, each domain that could hold the scope whole;
/// 2. in each wider one first as few domains of the preferred level as can be (a union of them), then the domain
/// itself;
/// 3. without a preference the required domains, or the outer region itself.
/// Of equally good ones pack takes the domain where the least stays free, spread the one where the most does; ties go
/// to the lowest id. Domains that cannot hold the scope by their counts are left out. Running tasks of the scope must
/// lie in the region too.
///
/// Lists are nested: the last one made is released first. No allocation once the buffers have grown.
class ScopeRegions {
 public:
  explicit ScopeRegions(const SearchParts& parts) : parts_(parts), unions_(parts) {}

  void begin(TaskPlacer& placer, const GangTasks& tasks);

  struct List {
    size_t begin = 0, end = 0;  ///< for enter()
    size_t parts_begin = 0;
    bool is_cut = false;  ///< there are more than `nodes_max`
  };
  /// Where single nodes are candidates, at most `nodes_max` of them, where the policy's order is the index's.
  List list(size_t id, const Region& outer, uint32_t nodes_max = ~uint32_t{0});
  /// The region number `i`, ready to search in. Valid until the scope enters another or the list is released.
  Region enter(size_t scope, size_t i);
  void release(const List& made);
  /// True when the scope asks for nothing that bounds or orders its places inside `outer`.
  bool is_plain(size_t id, const Region& outer) const;

 private:
  /// Sorted by all in turn.
  struct Key {
    int64_t a = 0, b = 0, c = 0;
    uint32_t id = 0;      ///< a domain or a node
    uint32_t island = 0;  ///< its number in the layout
    auto operator<=>(const Key&) const = default;
  };
  /// From where to where a scope looks.
  struct Span {
    Height prefer = kNoHeight;
    Height bound = kNoHeight;
    OneIsland island = OneIsland::kNo;
  };

  const ClusterState& state() const { return placer_->state(); }
  int64_t sign() const { return parts_.config.nodes == PackOrSpread::kPack ? 1 : -1; }
  bool lies_in_level(const Region& outer, Height height) const;
  void add_span(const ScopeNeedSum& need, const Region& outer, const Span& span);
  void add_height(const ScopeNeedSum& need, const Region& outer, Height height);
  void add_anchored(const ScopeNeedSum& need, const Region& outer, Height height);
  void add_domains(const ScopeNeedSum& need, const Region& outer, Height height);
  void add_nodes(const ScopeNeedSum& need, const Region& outer, Height height);
  bool add_nodes_by_index(const ScopeNeedSum& need, const Region& outer, Height height);
  void add_node(const ScopeNeedSum& need, NodeId node, Height height);
  void append_keys(Height height);
  void add_unions(const ScopeNeedSum& need, const Region& outer, const Span& span, Height height);
  Key domain_key(const ScopeNeedSum& need, DomainId id);

  SearchParts parts_;
  UnionMaker unions_;
  TaskPlacer* placer_ = nullptr;
  const GangTasks* tasks_ = nullptr;
  std::vector<Region> regions_;
  std::vector<uint32_t> part_ids_;
  std::vector<Key> keys_;
  uint32_t nodes_max_ = 0;  ///< of the list in the making
  bool is_cut_ = false;
  std::deque<BitSet> members_;  ///< by scope: of the union it has entered
};

}  // namespace weft
