#include "state/job_resolver.h"

#include "state/node_arrival.h"
#include "state/spec_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace weft {

Result<Shape> ClusterState::resolve(const JobSpec& job) { return JobResolver(job, *this, names_).run(); }

JobResolver::JobResolver(const JobSpec& spec, const ClusterState& state, Vocabulary& names)
    : spec_(spec), state_(state), names_(names), where_{.job = spec.name} {}

Result<Shape> JobResolver::run() {
  using Step = Result<void> (JobResolver::*)();
  for (const Step step :
       {&JobResolver::queue, &JobResolver::times, &JobResolver::elasticity, &JobResolver::dependencies,
        &JobResolver::roles, &JobResolver::totals, &JobResolver::groups, &JobResolver::data}) {
    if (auto ok = (this->*step)(); !ok) return std::unexpected(std::move(ok.error()));
  }
  auto whole = scope(where_, spec_.topology);
  if (!whole) return std::unexpected(std::move(whole.error()));
  shape_.groups[0].scope = *whole;
  shape_.priority = spec_.priority;
  shape_.is_preemptible = spec_.preemptible.value_or(spec_.priority < kPriorityBuild);
  shape_.qos = spec_.qos;
  shape_.gang = spec_.gang;
  if (shape_.min_task_count() < 1) return invalid(where_ + ": its minimums allow that none of its tasks runs");
  intern_labels();
  return std::move(shape_);
}

Result<void> JobResolver::queue() {
  shape_.queue = names_.queues.find(spec_.queue);
  if (!is_set(shape_.queue)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: unknown queue {}{}", where_, quoted(spec_.queue), suggest_queue(spec_.queue, names_)));
  }
  if (state_.queues().has_children[index(shape_.queue)] != 0) {
    return invalid(fmt::format("{}: queue {} has children and takes no jobs", where_, quoted(spec_.queue)));
  }
  return {};
}

Result<void> JobResolver::times() {
  struct Time {
    const char* name;
    Duration value;
    int64_t least;
  };
  const CheckpointSpec checkpoint = spec_.checkpoint.value_or(CheckpointSpec{});
  for (const Time& t :
       {Time{"estimate", spec_.estimate, 0}, Time{"limit", spec_.time_limit, 1}, Time{"patience", spec_.patience, 0},
        Time{"stale_after", spec_.stale_after, 0}, Time{"grace", spec_.grace.value_or(Duration{0}), 0},
        Time{"checkpoint every", checkpoint.every, 0}, Time{"checkpoint save", checkpoint.save, 0},
        Time{"checkpoint restore", checkpoint.restore, 0}}) {
    if (t.value.ns < t.least)
      return invalid(fmt::format("{}: {} must {}", where_, t.name, t.least == 0 ? "not be negative" : "be above zero"));
  }
  if (spec_.retries < 0) return invalid(where_ + ": retries must not be negative");
  if (checkpoint.signal < 0) return invalid(where_ + ": checkpoint signal must not be negative");
  return {};
}

Result<void> JobResolver::elasticity() {
  if (spec_.elasticity.step < 1)
    return invalid(fmt::format("{}: step must be at least 1, got {}", where_, spec_.elasticity.step));
  for (const double speed : spec_.elasticity.scaling_curve) {
    if (!std::isfinite(speed) || speed <= 0)
      return invalid(where_ + ": the scaling curve has a speed that is not above zero");
  }
  shape_.elasticity = spec_.elasticity;
  return {};
}

Result<void> JobResolver::dependencies() {
  for (const uint32_t job : spec_.after) {
    if (job >= state_.jobs().size())
      return fail(ErrorCode::kNotFound, fmt::format("{}: after: there is no job {}", where_, job));
  }
  if (spec_.array_size > 0 && spec_.array_index >= spec_.array_size) {
    return invalid(fmt::format("{}: array index {} of {}", where_, spec_.array_index, spec_.array_size));
  }
  return {};
}

Result<void> JobResolver::data() {
  std::map<NodeId, int64_t> bytes;
  for (const ShardSpec& shard : spec_.data) {
    if (shard.size_bytes < 0) return invalid(where_ + ": data: a shard's size must not be negative");
    for (const std::string& name : shard.nodes) {
      const NodeId node = names_.nodes.find(name);
      if (!is_set(node)) {
        return fail(ErrorCode::kNotFound,
                    fmt::format("{}: data: unknown node {}{}", where_, quoted(name), suggest_node(name, names_)));
      }
      int64_t& sum = bytes[node];
      if (__builtin_add_overflow(sum, shard.size_bytes, &sum) || sum > kQuantityMax) {
        return invalid(where_ + ": data: sizes add up to too large a number");
      }
    }
  }
  for (const auto& [node, sum] : bytes) shape_.data.push_back({.node = node, .bytes = sum});
  return {};
}

Result<LevelNeed> JobResolver::level(const SpecPlace& where, const char* field, const std::string& name) const {
  if (name.empty()) return LevelNeed{};
  if (name == "nvlink") return LevelNeed{.kind = LevelNeed::Kind::kNvlink};
  if (name == "node") return LevelNeed{.kind = LevelNeed::Kind::kNode};
  const LevelId found = names_.find_level(name);
  if (!is_set(found)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: {}: unknown level {}{}", where, field, quoted(name), suggest_level(name, names_)));
  }
  return LevelNeed{.kind = LevelNeed::Kind::kLevel, .level = found};
}

Result<ScopeNeed> JobResolver::scope(const SpecPlace& where, const TopologyNeed& need) const {
  const auto within = level(where, "within", need.within);
  if (!within) return std::unexpected(within.error());
  const auto prefer = level(where, "prefer", need.prefer);
  if (!prefer) return std::unexpected(prefer.error());
  return ScopeNeed{.within = *within, .prefer = *prefer};
}

void JobResolver::intern_labels() {
  const auto sort_unique = [](std::vector<LabelId>& ids) {
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  };
  for (size_t r = 0; r < spec_.roles.size(); ++r) {
    TaskDemand& demand = shape_.roles[r].demand;
    for (const auto& [key, value] : spec_.roles[r].labels)
      demand.labels.push_back(names_.labels.intern(label_text(key, value)));
    for (const std::string& key : spec_.roles[r].tolerations) demand.tolerations.push_back(names_.labels.intern(key));
    sort_unique(demand.labels);
    sort_unique(demand.tolerations);
  }
}

}  // namespace weft
