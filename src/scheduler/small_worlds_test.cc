// Every world of at most three nodes with one or two GPUs and three jobs, against a placer that tries everything:
// whoever fits when its turn comes starts, whoever does not waits, nothing starts in part, nothing is given out twice.
#include "scheduler/scheduler.h"
#include "scheduler/test_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace weft {
namespace {

struct Room {
  int64_t gpus = 0;
  int64_t cpus = 0;
};

struct SmallJob {
  int32_t count = 1;
  int32_t gpus = 0;
  size_t queue = 0;
  bool is_firm = false;
};

struct SmallQueue {
  int64_t limit = -1;      ///< GPUs; -1: none
  int64_t guarantee = -1;  ///< GPUs; -1: none
};

constexpr int64_t kCpusPerNode = 2;

struct SmallWorld {
  std::vector<int64_t> nodes;  ///< GPUs of each
  std::array<SmallJob, 3> jobs;
  std::vector<SmallQueue> queues;
};

/// Tries every node for every task.
bool fits(std::vector<Room>& rooms, const SmallJob& job, int32_t left) {
  if (left == 0) return true;
  for (Room& room : rooms) {
    if (room.gpus < job.gpus || room.cpus < 1) continue;
    room.gpus -= job.gpus;
    room.cpus -= 1;
    const bool rest_fits = fits(rooms, job, left - 1);
    room.gpus += job.gpus;
    room.cpus += 1;
    if (rest_fits) return true;
  }
  return false;
}

/// The same greedy order, kept apart from the scheduler: only what its decisions say is taken over, and each is checked
/// first.
class Oracle {
 public:
  explicit Oracle(const SmallWorld& world) : world_(world) {
    for (const int64_t gpus : world.nodes) {
      rooms_.push_back({gpus, kCpusPerNode});
      total_.gpus += gpus;
      total_.cpus += kCpusPerNode;
    }
    usage_.resize(world.queues.size());
    firm_.resize(world.queues.size());
  }

  void submit(size_t job) { waiting_.push_back(job); }
  void finish(size_t job) {
    for (const TaskPlacement& p : *held_[job]) give(job, p, -1);
    held_[job].reset();
  }
  bool is_running(size_t job) const { return held_[job].has_value(); }
  bool is_waiting(size_t job) const { return std::ranges::find(waiting_, job) != waiting_.end(); }

  /// Empty when the decisions are those of the greedy order.
  std::string check(const Decisions& decisions) {
    std::map<size_t, std::vector<TaskPlacement>> holds;
    for (const Decision& d : decisions.list) {
      if (d.kind != DecisionKind::kHold) continue;
      const auto placements = decisions.placements_of(d);
      holds[index(d.job)].assign(placements.begin(), placements.end());
    }
    std::vector<size_t> to_try = waiting_;
    while (!to_try.empty()) {
      const size_t job = *std::ranges::min_element(to_try, [&](size_t a, size_t b) { return goes_before(a, b); });
      std::erase(to_try, job);
      const bool may = is_allowed(job) && fits(rooms_, world_.jobs[job], world_.jobs[job].count);
      const auto hold = holds.find(job);
      if (may != (hold != holds.end()))
        return "job " + std::to_string(job) + (may ? " fits, but waits" : " does not fit, but starts");
      if (!may) continue;
      if (std::string fault = take(job, hold->second); !fault.empty()) return fault;
      std::erase(waiting_, job);
      holds.erase(hold);
    }
    return holds.empty() ? "" : "a job was started that did not wait";
  }

 private:
  bool goes_before(size_t a, size_t b) const {
    const SmallJob& x = world_.jobs[a];
    const SmallJob& y = world_.jobs[b];
    if (x.queue != y.queue) {
      const auto [p, q] = share(x.queue);
      const auto [r, s] = share(y.queue);
      return p * s != r * q ? p * s < r * q : x.queue < y.queue;
    }
    return x.is_firm != y.is_firm ? x.is_firm : a < b;  // firm jobs have the higher priority
  }
  std::pair<int64_t, int64_t> share(size_t queue) const {
    const Room& u = usage_[queue];
    return u.gpus * total_.cpus > u.cpus * total_.gpus ? std::pair(u.gpus, total_.gpus)
                                                       : std::pair(u.cpus, total_.cpus);
  }
  bool is_allowed(size_t job) const {
    const SmallJob& j = world_.jobs[job];
    const int64_t wanted = int64_t{j.count} * j.gpus;
    const SmallQueue& q = world_.queues[j.queue];
    if (wanted > 0 && q.limit >= 0 && usage_[j.queue].gpus + wanted > q.limit) return false;
    return !(j.is_firm && wanted > 0 && q.guarantee >= 0 && firm_[j.queue].gpus + wanted > q.guarantee);
  }
  std::string take(size_t job, const std::vector<TaskPlacement>& placements) {
    if (placements.size() != static_cast<size_t>(world_.jobs[job].count)) return "a gang starts in part";
    for (const TaskPlacement& p : placements) {
      if (popcount(p.devices) != static_cast<unsigned>(world_.jobs[job].gpus))
        return "a task got another number of GPUs";
      if ((owned_[index(p.node)] & p.devices) != 0) return "a device was given out twice";
      if ((p.devices & ~low_bits(static_cast<unsigned>(world_.nodes[index(p.node)]))) != 0)
        return "a device that is not there";
      give(job, p, 1);
      if (rooms_[index(p.node)].gpus < 0 || rooms_[index(p.node)].cpus < 0) return "a node was filled beyond its brim";
    }
    held_[job] = placements;
    return "";
  }
  void give(size_t job, const TaskPlacement& p, int64_t sign) {
    const SmallJob& j = world_.jobs[job];
    owned_[index(p.node)] ^= p.devices;
    Room* const changed[] = {&usage_[j.queue], j.is_firm ? &firm_[j.queue] : nullptr};
    rooms_[index(p.node)].gpus -= sign * j.gpus;
    rooms_[index(p.node)].cpus -= sign;
    for (Room* room : changed) {
      if (room == nullptr) continue;
      room->gpus += sign * j.gpus;
      room->cpus += sign;
    }
  }

  const SmallWorld& world_;
  std::vector<Room> rooms_, usage_, firm_;
  Room total_;
  std::array<DeviceMask, 3> owned_{};
  std::vector<size_t> waiting_;
  std::array<std::optional<std::vector<TaskPlacement>>, 3> held_;
};

std::vector<Event> structure_of(const SmallWorld& small) {
  std::vector<Event> events;
  for (size_t q = 0; q < small.queues.size(); ++q) {
    QueueSpec queue{.name = "q" + std::to_string(q)};
    if (small.queues[q].limit >= 0) queue.limit.gpu_units = small.queues[q].limit * kGpuUnits;
    queue.guarantee.gpu_units = small.queues[q].guarantee >= 0 ? small.queues[q].guarantee * kGpuUnits : kUnlimited;
    events.push_back({{}, QueueDefined{queue}});
  }
  for (size_t n = 0; n < small.nodes.size(); ++n) {
    events.push_back(
        {{}, NodeAdded{node_spec("n" + std::to_string(n), static_cast<unsigned>(small.nodes[n]), kCpusPerNode)}});
  }
  return events;
}

Event submission(const SmallWorld& small, size_t job) {
  const SmallJob& j = small.jobs[job];
  return {{},
          JobSubmitted{job_spec("j", {.count = j.count,
                                      .gpus = j.gpus,
                                      .priority = j.is_firm ? kPriorityBuild : kPriorityTrain,
                                      .queue = "q" + std::to_string(j.queue)})}};
}

enum class Arrival : uint8_t { kTogether, kOneByOne };

/// One world from the first submission until every job that can run has run. Empty when all was right.
std::string run_world(const SmallWorld& small, Arrival arrival) {
  TestWorld world;
  Oracle oracle(small);
  world.apply(structure_of(small));
  const auto step = [&](const std::vector<Event>& events) {
    world.apply(events);
    std::string fault = oracle.check(world.decisions);
    world.settle();
    if (fault.empty() && !world.scheduler->audit().empty()) fault = "audit: " + world.scheduler->audit().front();
    return fault;
  };
  std::vector<Event> batch;
  for (size_t job = 0; job < 3; ++job) {
    oracle.submit(job);
    batch.push_back(submission(small, job));
    if (arrival == Arrival::kTogether && job < 2) continue;
    if (std::string fault = step(batch); !fault.empty()) return fault;
    batch.clear();
  }
  for (bool is_over = false; !is_over;) {
    is_over = true;
    for (size_t job = 0; job < 3; ++job) {
      const JobState expected =
          oracle.is_running(job) ? JobState::kRunning : (oracle.is_waiting(job) ? JobState::kPending : JobState::kDone);
      if (world.state(make_id<JobId>(job)) != expected) return "job " + std::to_string(job) + " is in another state";
      if (!is_over || !oracle.is_running(job)) continue;
      is_over = false;
      oracle.finish(job);
      std::vector<Event> ends;
      for (const auto& [key, local] : world.running(make_id<JobId>(job)))
        ends.push_back(world.engine.end_task(key, local, TaskOutcome::kDone));
      if (std::string fault = step(ends); !fault.empty()) return fault;
      break;
    }
  }
  return "";
}

std::string describe(const SmallWorld& small) {
  std::string text = "nodes";
  for (const int64_t gpus : small.nodes) text += " " + std::to_string(gpus);
  for (const SmallJob& j : small.jobs) {
    text += " | " + std::to_string(j.count) + "x" + std::to_string(j.gpus) + " q" + std::to_string(j.queue) +
            (j.is_firm ? " firm" : "");
  }
  return text;
}

/// Calls `visit` with every choice of nodes and of three jobs.
template <typename Visit>
void for_each_world(Visit&& visit) {
  for (unsigned nodes = 1; nodes <= 3; ++nodes) {
    for (unsigned sizes = 0; sizes < 1U << nodes; ++sizes) {
      SmallWorld small;
      for (unsigned n = 0; n < nodes; ++n) small.nodes.push_back(1 + (sizes >> n & 1U));
      for (int code = 0; code < 9 * 9 * 9; ++code) {
        for (size_t j = 0, rest = static_cast<size_t>(code); j < 3; ++j, rest /= 9) {
          small.jobs[j].count = 1 + static_cast<int32_t>(rest % 9 / 3);
          small.jobs[j].gpus = static_cast<int32_t>(rest % 3);
        }
        visit(small);
      }
    }
  }
}

TEST(SmallWorlds, GreedyOrderStartsExactlyWhoFitsInOneQueue) {
  for_each_world([](SmallWorld small) {
    small.queues = {{}};
    for (const Arrival arrival : {Arrival::kTogether, Arrival::kOneByOne}) {
      const std::string fault = run_world(small, arrival);
      ASSERT_EQ(fault, "") << describe(small);
    }
  });
}

TEST(SmallWorlds, TwoQueuesTakeTurnsByShareAndKeepTheirLimits) {
  for_each_world([](SmallWorld small) {
    small.queues = {{.limit = 2}, {}};
    small.jobs[1].queue = 1;
    const std::string fault = run_world(small, Arrival::kTogether);
    ASSERT_EQ(fault, "") << describe(small);
  });
}

TEST(SmallWorlds, FirmJobsGoFirstAndStayInsideTheGuarantee) {
  for_each_world([](SmallWorld small) {
    small.queues = {{.limit = 4, .guarantee = 2}};
    small.jobs[1].is_firm = small.jobs[2].is_firm = true;
    const std::string fault = run_world(small, Arrival::kTogether);
    ASSERT_EQ(fault, "") << describe(small);
  });
}

}  // namespace
}  // namespace weft
