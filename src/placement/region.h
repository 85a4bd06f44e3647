#pragma once

#include "base/bits.h"
#include "base/ids.h"
#include "model/device.h"
#include "model/shape.h"
#include "placement/device_choice.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace weft {

class ClusterState;

/// How wide a domain is: an NVLink island of one node, a node, the levels of the topology, the whole cluster.
using Height = int32_t;
inline constexpr Height kNoHeight = -1;
inline constexpr Height kIslandHeight = 0;
inline constexpr Height kNodeHeight = 1;
inline constexpr Height kLevelHeight = 2;  ///< of LevelId 0; the others follow

Height height_of(LevelNeed need);
Height cluster_height(const ClusterState& state);
Height height_of(const ClusterState& state, DomainId domain);
LevelId level_at(Height height);  ///< Requires: height >= kLevelHeight, below the cluster's

/// The part of the cluster in which tasks may be placed: a domain of some height, or some domains inside of one. A
/// plain value.
struct Region {
  Height height = kNoHeight;
  DomainId domain = DomainId{0};            ///< from kLevelHeight on: the domain that holds it
  NodeId node = kNone<NodeId>;              ///< below kLevelHeight
  DeviceMask devices = ~DeviceMask{0};      ///< kIslandHeight: of the island
  OneIsland island = OneIsland::kNo;        ///< each task's whole devices in one island
  uint32_t first = 0, end = 0;              ///< all its nodes are in [first, end)
  const BitSet* members = nullptr;          ///< null: all of [first, end)
  uint32_t parts_begin = 0, parts_end = 0;  ///< a union that is not entered yet: its parts, see ScopeRegions
  Height part_height = kNoHeight;           ///< of these parts
  uint8_t is_partial = 0;                   ///< an entered union: not all nodes of `domain`

  bool has_node(size_t n) const { return n >= first && n < end && (members == nullptr || members->test(n)); }
  uint64_t word(size_t w) const {
    uint64_t bits = members == nullptr ? ~uint64_t{0} : members->word(w);
    if (w == first / 64) bits &= ~low_bits(first % 64);
    if (w == end / 64) bits &= low_bits(end % 64);
    return bits;
  }
  size_t word_begin() const { return first / 64; }
  size_t word_end() const { return (end + size_t{63}) / 64; }
};

/// Makes regions of domains. Keeps a bitmap for each domain whose nodes are not one run.
class RegionMaker {
 public:
  Region cluster(const ClusterState& state);
  Region domain(const ClusterState& state, DomainId id);
  static Region node(NodeId node);
  static Region island(NodeId node, DeviceMask devices);

 private:
  struct Members {
    BitSet nodes;
    size_t nodes_seen = ~size_t{0};
  };
  std::deque<Members> members_;  ///< by DomainId; a deque keeps addresses valid
};

/// True when `domain` is `outer` or inside of it.
bool is_inside(const ClusterState& state, DomainId domain, DomainId outer);

}  // namespace weft
