#pragma once

#include "model/job.h"
#include "model/node.h"
#include "placement/placer.h"
#include "state/cluster_state.h"
#include "state/transaction.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft::testing {

inline NodeSpec gpu_node(std::string name, unsigned gpus, ShareMode share = ShareMode::kExclusive) {
  NodeSpec node;
  node.name = std::move(name);
  node.share = share;
  node.devices.resize(gpus);
  return node;
}

inline NodeSpec with_label(NodeSpec node, std::string key, std::string value) {
  node.labels.emplace_back(std::move(key), std::move(value));
  return node;
}

inline RoleSpec role_of(std::string name, int32_t count, DeviceNeed need) {
  RoleSpec role;
  role.name = std::move(name);
  role.count = count;
  role.devices = std::move(need);
  role.cpu_milli = 1000;
  role.memory_bytes = kGiB;
  return role;
}
inline DeviceNeed whole(int32_t count) { return {.kind = DeviceNeedKind::kWhole, .count = count}; }
inline DeviceNeed milli(int32_t milli) { return {.kind = DeviceNeedKind::kMilli, .milli = milli}; }
inline DeviceNeed memory(int64_t bytes) { return {.kind = DeviceNeedKind::kMemory, .memory_bytes = bytes}; }
inline DeviceNeed mig(std::string profile) { return {.kind = DeviceNeedKind::kMig, .mig_profile = std::move(profile)}; }

inline JobSpec job_of(std::vector<RoleSpec> roles) {
  JobSpec job;
  job.name = "job";
  job.roles = std::move(roles);
  return job;
}
inline JobSpec job_of(int32_t count, DeviceNeed need) { return job_of({role_of("w", count, std::move(need))}); }
inline JobSpec within(JobSpec job, std::string level) {
  job.topology.within = std::move(level);
  return job;
}
inline JobSpec prefer(JobSpec job, std::string level) {
  job.topology.prefer = std::move(level);
  return job;
}

/// Ranks by the number of free devices alone, as the capacity index can.
class CountScore final : public NodeScore {
 public:
  explicit CountScore(IndexOrder order) : order_(order) {}
  std::string_view name() const override { return "count"; }
  IndexOrder index_order(const ClusterState&, const TaskDemand& demand) const override {
    return demand.devices.kind == DeviceNeedKind::kWhole ? order_ : IndexOrder::kNone;
  }
  int32_t score(const ScoreContext& context, NodeId node, const TaskDemand& demand, int&) const override {
    const ClusterState& state = context.state;
    auto free = static_cast<int32_t>(popcount(state.available(node))) * 1000;
    if (demand.devices.kind != DeviceNeedKind::kWhole) {
      const size_t first = state.nodes().first_device[index(node)];
      for_each_bit(state.nodes().shared[index(node)] & state.usable(node),
                   [&](unsigned d) { free += state.devices().free_milli[first + d]; });
    }
    return order_ == IndexOrder::kFewestFreeFirst ? -free : free;
  }

 private:
  IndexOrder order_;
};

struct Placed {
  Verdict verdict;
  GangPlacement at;
  bool is_yes() const { return verdict.is_yes(); }
  std::string nodes(const ClusterState& state) const {
    std::string text;
    for (const TaskPlacement& task : at.tasks) text += (text.empty() ? "" : " ") + state.names().nodes.text(task.node);
    return text;
  }
};

/// A cluster with one queue and a placer that packs (or spreads) by free devices.
class TestWorld {
 public:
  explicit TestWorld(std::vector<std::string> levels = {}, PackOrSpread mode = PackOrSpread::kPack) {
    config.nodes = mode;
    config.devices = mode;
    EXPECT_TRUE(state.define_topology({.levels = std::move(levels)}).has_value());
    EXPECT_TRUE(state.define_queue({.name = "default"}).has_value());
    const bool is_pack = mode == PackOrSpread::kPack;
    score = std::make_unique<CountScore>(is_pack ? NodeScore::IndexOrder::kFewestFreeFirst
                                                 : NodeScore::IndexOrder::kMostFreeFirst);
    remake_placer();
  }
  void remake_placer() { placer = std::make_unique<Placer>(config, std::vector<ActiveScore>{{score.get(), 1}}); }

  NodeId add(const NodeSpec& node) {
    const Result<NodeId> id = state.add_node(node);
    EXPECT_TRUE(id.has_value()) << (id ? "" : id.error().message);
    return id.value_or(kNone<NodeId>);
  }
  ShapeId shape(const JobSpec& job) {
    Result<Shape> resolved = state.resolve(job);
    EXPECT_TRUE(resolved.has_value()) << (resolved ? "" : resolved.error().message);
    return state.intern(std::move(*resolved));
  }
  std::vector<int32_t> minimum(ShapeId id) const {
    std::vector<int32_t> counts;
    for (const RoleShape& role : state.shapes()[id].roles) counts.push_back(role.min);
    return counts;
  }

  /// Places the job's minimum and keeps it as a running job.
  Placed start(const JobSpec& job) { return start(job, minimum(shape(job))); }
  Placed start(const JobSpec& job, std::vector<int32_t> counts) {
    const ShapeId id = shape(job);
    last_job = state.add_job(id, UserId{0}, Instant{}, kEndless);
    return grow(last_job, std::move(counts));
  }
  /// Places more tasks of a running job.
  Placed grow(JobId job, std::vector<int32_t> counts) {
    Placed placed;
    Transaction txn(state);
    const ShapeId id = state.jobs().shape[index(job)];
    placed.verdict = placer->place_gang(txn, {.shape_id = id, .job = job, .counts = counts}, placed.at);
    for (size_t i = 0; i < placed.at.tasks.size(); ++i) {
      txn.set_task(next_task(job, placed.at.role[i]), TaskState::kRunning, placed.at.tasks[i]);
      txn.charge(state.shapes()[id].queue, placed.at.tasks[i].charge, 1);
    }
    txn.commit();
    return placed;
  }
  /// What would be placed, with everything undone.
  Placed what_if(const JobSpec& job) {
    Placed placed;
    const ShapeId id = shape(job);
    Transaction txn(state);
    const std::vector<int32_t> counts = minimum(id);
    placed.verdict = placer->place_gang(txn, {.shape_id = id, .counts = counts}, placed.at);
    return placed;
  }
  Verdict explain(const JobSpec& job) {
    const ShapeId id = shape(job);
    const std::vector<int32_t> counts = minimum(id);
    return placer->explain(state, {.shape_id = id, .counts = counts});
  }
  /// Takes exactly these whole devices, as a job of its own.
  void occupy(NodeId node, DeviceMask devices) {
    JobSpec job = job_of(1, whole(static_cast<int32_t>(popcount(devices))));
    job.name = "blocker";
    const ShapeId id = shape(job);
    const JobId row = state.add_job(id, UserId{0}, Instant{}, kEndless);
    Transaction txn(state);
    TaskPlacement at{.node = node, .kind = DeviceNeedKind::kWhole, .devices = devices};
    at.charge = queue_charge(state.shapes()[id].roles[0].demand, 0, 0);
    txn.take(state.shapes()[id].roles[0].demand, at);
    txn.charge(state.shapes()[id].queue, at.charge, 1);
    txn.set_task(state.jobs().first_task[index(row)], TaskState::kRunning, at);
    txn.commit();
  }

  ClusterState state;
  PolicyConfig config;
  std::unique_ptr<NodeScore> score;
  std::unique_ptr<Placer> placer;
  JobId last_job = kNone<JobId>;

 private:
  TaskId next_task(JobId job, uint16_t role) const {
    const size_t first = index(state.jobs().first_task[index(job)]);
    for (size_t t = first; t < first + state.jobs().task_count[index(job)]; ++t) {
      if (state.tasks().role[t] == role && state.tasks().state[t] == TaskState::kPending) return make_id<TaskId>(t);
    }
    ADD_FAILURE() << "more tasks were placed than the job has";
    return kNone<TaskId>;
  }
};

inline uint32_t sum_of_nodes(const Verdict& verdict) {
  uint32_t sum = 0;
  for (const uint32_t count : verdict.nodes_by_reason) sum += count;
  return sum;
}

}  // namespace weft::testing
