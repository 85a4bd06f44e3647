#include "state/cluster_state.h"

#include "base/check.h"
#include "state/spec_text.h"

#include <algorithm>
#include <set>

namespace weft {

namespace {
constexpr size_t kChangesKeptMin = 4096;
constexpr size_t kLevelsMax = 16;
}  // namespace

ClusterState::ClusterState() : change_ring_(kChangesKeptMin, NodeId{0}) {
  domains_.push_back(Domain{.level = kNone<LevelId>, .parent = kNone<DomainId>, .ranges = {}, .node_count = 0});
  names_.domains.emplace_back("cluster");
  capacity_.add_domain();
}

ClusterState::~ClusterState() = default;

uint64_t ClusterState::changes_kept() const {
  return std::min<uint64_t>(change_count_ - first_change_, change_ring_.size());
}

Result<void> ClusterState::define_topology(const TopologySpec& spec) {
  WEFT_CHECK(!has_open_transaction_, "structure does not change inside a transaction");
  if (spec.levels == names_.levels) return {};
  if (nodes_.size() > 0 || shapes_.size() > 0) {
    return fail(ErrorCode::kConflict, "topology: levels are defined before the first node and the first job");
  }
  if (spec.levels.size() > kLevelsMax) {
    return invalid("topology: " + std::to_string(spec.levels.size()) + " levels; at most " +
                   std::to_string(kLevelsMax) + " are possible");
  }
  std::set<std::string_view> seen;
  for (const std::string& level : spec.levels) {
    if (level.empty() || level.find('=') != std::string::npos)
      return invalid("topology: " + quoted(level) + " is not a level's name");
    if (level == "node" || level == "nvlink")
      return invalid("topology: the level '" + level + "' is there by itself, below all others");
    if (!seen.insert(level).second) return invalid("topology: the level " + quoted(level) + " is given twice");
  }
  names_.levels = spec.levels;
  domains_by_level_.assign(spec.levels.size(), {});
  capacity_.define_levels(spec.levels.size());
  ++structure_version_;
  return {};
}

void ClusterState::write_structure(NodeId node) {
  ++structure_version_;
  log_change(node);
}

// Writing what is there already changes nothing: an engine may report a state again and again.

void ClusterState::set_node_up(NodeId node, uint8_t is_up) {
  WEFT_CHECK(!has_open_transaction_, "structure does not change inside a transaction");
  WEFT_CHECK(index(node) < nodes_.size(), "the node exists");
  const uint8_t up = is_up != 0 ? 1 : 0;
  if (nodes_.is_up[index(node)] == up) return;
  nodes_.is_up[index(node)] = up;
  reindex_node(index(node));
  write_structure(node);
}

void ClusterState::set_node_cordoned(NodeId node, uint8_t is_cordoned) {
  WEFT_CHECK(!has_open_transaction_, "structure does not change inside a transaction");
  WEFT_CHECK(index(node) < nodes_.size(), "the node exists");
  const uint8_t cordoned = is_cordoned != 0 ? 1 : 0;
  if (nodes_.is_cordoned[index(node)] == cordoned) return;
  nodes_.is_cordoned[index(node)] = cordoned;
  reindex_node(index(node));
  write_structure(node);
}

void ClusterState::set_device_healthy(NodeId node, unsigned device, uint8_t is_healthy) {
  set_device_bit(nodes_.healthy, node, device, is_healthy);
}

void ClusterState::set_device_cordoned(NodeId node, unsigned device, uint8_t is_cordoned) {
  set_device_bit(nodes_.cordoned, node, device, is_cordoned);
}

void ClusterState::set_device_bit(std::vector<DeviceMask>& column, NodeId node, unsigned device, uint8_t value) {
  WEFT_CHECK(!has_open_transaction_, "structure does not change inside a transaction");
  WEFT_CHECK(index(node) < nodes_.size() && device < nodes_.device_count[index(node)], "the device exists");
  DeviceMask& mask = column[index(node)];
  const DeviceMask bit = uint64_t{1} << device;
  const DeviceMask after = value != 0 ? mask | bit : mask & ~bit;
  if (mask == after) return;
  mask = after;
  reindex_node(index(node));
  write_structure(node);
}

void ClusterState::set_node_load(NodeId node, int32_t load_milli) {
  WEFT_CHECK(!has_open_transaction_, "a transaction does not restore the measured load");
  WEFT_CHECK(index(node) < nodes_.size(), "the node exists");
  if (nodes_.load_milli[index(node)] == load_milli) return;
  nodes_.load_milli[index(node)] = load_milli;
  log_change(node);
}

}  // namespace weft
