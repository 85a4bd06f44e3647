#include "placement/region.h"

#include "base/check.h"
#include "state/cluster_state.h"

namespace weft {

Height height_of(LevelNeed need) {
  switch (need.kind) {
    case LevelNeed::Kind::kNone: return kNoHeight;
    case LevelNeed::Kind::kNvlink: return kIslandHeight;
    case LevelNeed::Kind::kNode: return kNodeHeight;
    case LevelNeed::Kind::kLevel: return kLevelHeight + static_cast<Height>(index(need.level));
  }
  return kNoHeight;
}

Height cluster_height(const ClusterState& state) { return kLevelHeight + static_cast<Height>(state.level_count()); }

Height height_of(const ClusterState& state, DomainId domain) {
  const LevelId level = state.domains()[index(domain)].level;
  return is_set(level) ? kLevelHeight + static_cast<Height>(index(level)) : cluster_height(state);
}

LevelId level_at(Height height) {
  WEFT_CHECK(height >= kLevelHeight, "levels stand above the node");
  return make_id<LevelId>(static_cast<size_t>(height - kLevelHeight));
}

Region RegionMaker::cluster(const ClusterState& state) { return domain(state, DomainId{0}); }

Region RegionMaker::domain(const ClusterState& state, DomainId id) {
  const Domain& domain = state.domains()[index(id)];
  Region region{.height = height_of(state, id), .domain = id};
  if (domain.ranges.empty()) return region;
  region.first = domain.ranges.front().first;
  region.end = domain.ranges.back().first + domain.ranges.back().count;
  if (domain.ranges.size() == 1) return region;
  while (members_.size() <= index(id)) members_.emplace_back();
  Members& members = members_[index(id)];
  if (members.nodes_seen != state.nodes().size()) {
    members.nodes.resize(state.nodes().size());
    for (const NodeRange& range : domain.ranges) {
      for (uint32_t n = range.first; n < range.first + range.count; ++n) members.nodes.set(n);
    }
    members.nodes_seen = state.nodes().size();
  }
  region.members = &members.nodes;
  return region;
}

Region RegionMaker::node(NodeId node) {
  const auto n = static_cast<uint32_t>(node);
  return {.height = kNodeHeight, .node = node, .first = n, .end = n + 1};
}

Region RegionMaker::island(NodeId node, DeviceMask devices) {
  Region region = RegionMaker::node(node);
  region.height = kIslandHeight;
  region.devices = devices;
  return region;
}

bool is_inside(const ClusterState& state, DomainId domain, DomainId outer) {
  const Height top = height_of(state, outer);
  while (is_set(domain) && height_of(state, domain) < top) domain = state.domains()[index(domain)].parent;
  return domain == outer;
}

}  // namespace weft
