#include "engine/conformance.h"

#include "base/test_folder.h"
#include "engine/local/local_engine.h"
#include "engine/local/process_tree.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <poll.h>
#include <set>
#include <unistd.h>
#include <variant>

namespace weft::local {
namespace {

/// Passes everything on to the engine under test and knows from the commands and answers whether more is to come.
class Observer final : public Engine {
 public:
  using TaskKey = std::tuple<JobId, uint32_t, int32_t>;

  Observer(Engine& engine, const std::map<JobId, TaskBehaviour>& behaviours)
      : engine_(engine), behaviours_(behaviours) {}

  void execute(const Decisions& decisions) override {
    for (const Decision& d : decisions.list) {
      if (d.kind == DecisionKind::kHold && held_.emplace(d.job, d.attempt).second)
        counts_[d.job] = static_cast<int32_t>(d.placement_count);
      if (d.kind == DecisionKind::kRelease) held_.erase({d.job, d.attempt});
      if (d.kind == DecisionKind::kStart && held_.contains({d.job, d.attempt})) starting_.emplace(d.job, d.attempt);
      if (d.kind == DecisionKind::kStop) stop(d);
    }
    engine_.execute(decisions);
  }

  void poll(std::vector<Event>& out) override {
    const size_t first = out.size();
    engine_.poll(out);
    for (size_t i = first; i < out.size(); ++i) {
      if (const auto* e = std::get_if<GangStarted>(&out[i].body)) started(*e);
      if (const auto* e = std::get_if<StartFailed>(&out[i].body)) starting_.erase({e->job, e->attempt});
      if (const auto* e = std::get_if<TaskEnded>(&out[i].body)) {
        running_.erase({e->job, e->attempt, e->task});
        ending_.erase({e->job, e->attempt, e->task});
      }
    }
  }

  bool is_quiet() const { return ending_.empty() && starting_.size() == started_.size(); }

 private:
  void stop(const Decision& d) {
    for (const TaskKey& key : running_) {
      const auto [job, attempt, task] = key;
      if (job == d.job && attempt == d.attempt && (d.task < 0 || d.task == task)) ending_.insert(key);
    }
  }
  void started(const GangStarted& e) {
    started_.emplace(e.job, e.attempt);
    for (int32_t task = 0; task < counts_[e.job]; ++task) {
      running_.emplace(e.job, e.attempt, task);
      if (behaviours_.at(e.job) != TaskBehaviour::kRunsUntilStopped) ending_.emplace(e.job, e.attempt, task);
    }
  }

  Engine& engine_;
  const std::map<JobId, TaskBehaviour>& behaviours_;
  std::map<JobId, int32_t> counts_;
  std::set<std::pair<JobId, uint32_t>> held_, starting_, started_;
  std::set<TaskKey> running_, ending_;
};

class LocalHarness final : public EngineHarness {
 public:
  LocalHarness() {
    NodeSpec node{.name = "box"};
    node.devices.resize(16);
    local_ = *LocalEngine::create(node, {.jobs_directory = scratch_, .now = [] { return Instant{1}; }});
    observer_ = std::make_unique<Observer>(*local_, behaviours_);
  }
  ~LocalHarness() override { EXPECT_TRUE(descendants_of(::getpid()).empty()) << "every case ends what it starts"; }

  Engine& engine() override { return *observer_; }
  void describe_job(JobId job, int32_t task_count, TaskBehaviour behaviour) override {
    behaviours_[job] = behaviour;
    JobSpec spec{.name = "case"};
    spec.roles.push_back({.count = task_count});
    spec.launch.working_directory = scratch_;
    switch (behaviour) {
      case TaskBehaviour::kRunsUntilStopped: spec.launch.command = {"sleep", "1000"}; break;
      case TaskBehaviour::kEndsWell: spec.launch.command = {"true"}; break;
      case TaskBehaviour::kFails: spec.launch.command = {"sh", "-c", "exit 3"}; break;
    }
    local_->describe_job(job, spec);
  }
  std::vector<TaskPlacement> places(JobId job, int32_t task_count) override {
    std::vector<TaskPlacement> places;
    for (int32_t i = 0; i < task_count; ++i) {
      places.push_back({.node = NodeId{0},
                        .kind = DeviceNeedKind::kWhole,
                        .devices = DeviceMask{1} << (index(job) * 4 + static_cast<size_t>(i))});
    }
    return places;
  }
  bool wait() override {
    if (observer_->is_quiet()) return false;
    pollfd wait{local_->wait_fd(), POLLIN, 0};
    return ::poll(&wait, 1, 60'000) == 1;
  }

 private:
  const TestFolder made_;
  const std::string scratch_ = made_.path();
  std::map<JobId, TaskBehaviour> behaviours_;
  std::unique_ptr<LocalEngine> local_;
  std::unique_ptr<Observer> observer_;
};

class LocalConformance : public testing::TestWithParam<ConformanceCase> {};

TEST_P(LocalConformance, KeepsTheRule) {
  LocalHarness harness;
  EXPECT_EQ(GetParam().check(harness), "");
}

std::string name_of(const testing::TestParamInfo<ConformanceCase>& parameter) {
  return std::string(parameter.param.name);
}
INSTANTIATE_TEST_SUITE_P(AllRules, LocalConformance,
                         testing::ValuesIn(conformance_cases().begin(), conformance_cases().end()), name_of);

}  // namespace
}  // namespace weft::local
