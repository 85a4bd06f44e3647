#pragma once

#include "base/test_folder.h"
#include "engine/local/local_engine.h"
#include "engine/local/process_tree.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <variant>

namespace weft::local {

inline constexpr JobId kJob{7};

inline NodeSpec eight_virtual_gpus() {
  NodeSpec node{.name = "box"};
  node.devices.resize(8);
  return node;
}

inline TaskPlacement on_devices(DeviceMask devices) {
  return {.node = NodeId{0}, .kind = devices == 0 ? DeviceNeedKind::kNone : DeviceNeedKind::kWhole, .devices = devices};
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// An engine on a scratch folder, told what to do as the core would, and all that it answered.
class LocalEngineTest : public testing::Test {
 protected:
  LocalEngineTest() {
    const std::string pipe = scratch_ + "/up";
    EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    up_ = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    make_engine({.jobs_directory = scratch_, .now = [] { return Instant{1}; }});
  }
  ~LocalEngineTest() override {
    for (const auto& [job, attempt] : started_) engine_->kill_job(job);
    wait_until([&] { return engine_->is_idle(); });
    EXPECT_EQ(descendants_of(::getpid()).size(), 0U) << "the engine left processes behind";
    ::close(up_);
  }

  void make_engine(LocalEngineOptions options) {
    auto engine = LocalEngine::create(eight_virtual_gpus(), std::move(options));
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = std::move(*engine);
  }

  JobSpec shell(const std::string& text) const {
    JobSpec spec{.name = "test"};
    spec.roles.emplace_back();
    spec.grace = seconds(30);
    spec.launch.command = {"/bin/sh", "-c", text};
    spec.launch.working_directory = scratch_;
    return spec;
  }

  void command(Decision decision, std::vector<TaskPlacement> placements = {}) {
    Decisions decisions;
    decision.placement_count = static_cast<uint32_t>(placements.size());
    decision.first_task = TaskId{40};
    for (size_t i = 0; i < placements.size(); ++i) placements[i].task = make_id<TaskId>(40 + i);
    decisions.placements = std::move(placements);
    decisions.list.push_back(decision);
    engine_->execute(decisions);
    engine_->poll(events_);
  }
  void hold(JobId job, const JobSpec& spec, std::vector<TaskPlacement> placements, uint32_t attempt = 1) {
    engine_->describe_job(job, spec);
    command({.kind = DecisionKind::kHold, .job = job, .attempt = attempt}, std::move(placements));
  }
  void start(JobId job, uint32_t attempt = 1) {
    started_.emplace(job, attempt);
    command({.kind = DecisionKind::kStart, .job = job, .attempt = attempt});
  }
  void stop(JobId job, Duration grace) {
    command({.kind = DecisionKind::kStop, .job = job, .attempt = 1, .task = -1, .grace = grace});
  }
  void run(JobId job, const JobSpec& spec, std::vector<TaskPlacement> placements) {
    hold(job, spec, std::move(placements));
    start(job);
  }

  template <typename Predicate>
  void wait_until(Predicate is_reached, int wait_ms = 1000) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_reached()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "nothing more came from the engine";
      pollfd wait{engine_->wait_fd(), POLLIN, 0};
      ::poll(&wait, 1, wait_ms);
      engine_->poll(events_);
    }
  }
  /// Waits until the job has started and writes to the pipe `up` in its directory.
  void wait_for_word() {
    pollfd word{up_, POLLIN, 0};
    wait_until(
        [&] {
          pollfd both[] = {{engine_->wait_fd(), POLLIN, 0}, word};
          ::poll(both, 2, 60'000);
          return ::poll(&word, 1, 0) == 1 && !all<GangStarted>().empty();
        },
        0);
  }

  template <typename Body>
  std::vector<Body> all() const {
    std::vector<Body> found;
    for (const Event& event : events_) {
      if (const auto* body = std::get_if<Body>(&event.body)) found.push_back(*body);
    }
    return found;
  }
  std::vector<TaskEnded> ends() const { return all<TaskEnded>(); }
  TaskEnded wait_for_end() {
    wait_until([&] { return !ends().empty(); });
    return ends().empty() ? TaskEnded{} : ends().front();
  }
  std::string output(JobId job = kJob) const { return read_file(engine_->files(job, 0)->output); }
  std::string error_output(JobId job = kJob) const { return read_file(engine_->files(job, 0)->error); }

  const TestFolder made_;
  const std::string scratch_ = made_.path();
  int up_ = -1;
  std::unique_ptr<LocalEngine> engine_;
  std::vector<Event> events_;
  std::multimap<JobId, uint32_t> started_;
};

}  // namespace weft::local
