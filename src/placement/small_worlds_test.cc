#include "base/rng.h"
#include "placement/brute_force.h"
#include "placement/placer.h"
#include "placement/test_world.h"

#include <cstdlib>

namespace weft::testing {
namespace {

/// Makes small worlds in which everything that can bind a gang happens: levels, islands, zones, fractions, MIG, models,
/// labels, taints, faults, groups with fewer needed than members.
class WorldMaker {
 public:
  explicit WorldMaker(uint64_t seed) : rng_(seed) {}

  std::unique_ptr<TestWorld> make() {
    levels_ = rng_.below(3);
    std::vector<std::string> names{"rack", "block"};
    names.resize(levels_);
    auto made = std::make_unique<TestWorld>(names, chance(70) ? PackOrSpread::kPack : PackOrSpread::kSpread);
    TestWorld& world = *made;
    world.config.search_steps_max = 400'000;
    world.remake_placer();
    const uint64_t nodes = 1 + rng_.below(3);
    for (uint64_t n = 0; n < nodes; ++n) world.add(node("n" + std::to_string(n)));
    for (uint64_t n = 0; n < nodes; ++n) {
      if (chance(4)) world.state.set_node_cordoned(make_id<NodeId>(n), 1);
      if (chance(6) && world.state.nodes().device_count[n] > 0)
        world.state.set_device_healthy(make_id<NodeId>(n), 0, 0);
    }
    for (uint64_t i = rng_.below(3); i > 0; --i) {
      JobSpec filler = job_of({role(0, 1)});
      world.start(filler);
    }
    return made;
  }

  JobSpec job() {
    JobSpec spec = job_of(std::vector<RoleSpec>{});
    int64_t tasks = rng_.between(1, chance(30) ? 5 : 3);
    for (int i = 0; i < 3 && tasks > 0; ++i) {
      const auto count = static_cast<int32_t>(rng_.between(1, std::min<int64_t>(tasks, 3)));
      spec.roles.push_back(role(i, count));
      if (chance(12)) spec.roles.back().topology.within = level();
      if (chance(10)) spec.roles.back().topology.prefer = level();
      tasks -= count;
    }
    if (chance(45)) spec.topology.within = level();
    if (chance(40)) spec.topology.prefer = level();
    if (spec.roles.size() > 1 && chance(40)) add_groups(spec);
    return spec;
  }

  bool chance(uint64_t percent) { return rng_.below(100) < percent; }
  Rng& rng() { return rng_; }

 private:
  std::string level() {
    const std::vector<std::string> all{"nvlink", "node", "rack", "block"};
    return all[rng_.below(2 + levels_)];
  }

  void add_groups(JobSpec& spec) {
    GroupSpec first{.name = "first", .roles = {spec.roles[0].name}, .groups = {}, .min = -1, .topology = {}};
    if (spec.roles.size() > 2 && chance(50)) first.roles.push_back(spec.roles[1].name);
    if (chance(60)) first.topology.within = level();
    if (first.roles.size() > 1 && chance(50)) first.min = 1;
    if (chance(25)) {
      spec.groups.push_back(
          {.name = "outer", .roles = {spec.roles.back().name}, .groups = {"first"}, .min = -1, .topology = {}});
      if (chance(40)) spec.groups.back().topology.within = level();
      if (chance(40)) spec.groups.back().min = 1;
    } else if (chance(30)) {
      spec.min_groups = 1;
    }
    spec.groups.push_back(first);
  }

  NodeSpec node(std::string name) {
    NodeSpec spec = gpu_node(std::move(name), static_cast<unsigned>(chance(12) ? 0 : rng_.between(1, 3)));
    spec.cpu_milli = rng_.between(3, 9) * 1000;
    spec.memory_bytes = rng_.between(3, 9) * kGiB;
    const uint64_t devices = spec.devices.size();
    const uint64_t kind = rng_.below(10);
    if (kind < 4 && devices > 0) {
      spec.share = kind < 2 ? ShareMode::kMps : ShareMode::kTimeSlice;
      if (chance(40)) spec.devices[0].memory_bytes = 40 * kGiB;
    } else if (kind < 6) {
      for (DeviceSpec& device : spec.devices) make_mig(device);
    } else if (kind == 6 && devices > 1) {
      spec.devices[0].model = "A100-SXM4-40GB";
    }
    if (devices > 1 && chance(40)) spec.islands = {1, low_bits(static_cast<unsigned>(devices)) & ~uint64_t{1}};
    if (chance(40)) {
      const int64_t half = spec.cpu_milli / 2000 * 1000;
      const DeviceMask first = devices > 0 ? rng_.below(uint64_t{1} << devices) : 0;
      spec.numa = {{.cpu_milli = half, .devices = first},
                   {.cpu_milli = spec.cpu_milli - half, .devices = low_bits(static_cast<unsigned>(devices)) & ~first}};
    }
    if (levels_ > 0 && !chance(12)) spec.labels.emplace_back("rack", "r" + std::to_string(rng_.below(2)));
    if (levels_ > 1 && !chance(12)) spec.labels.emplace_back("block", "b" + std::to_string(rng_.below(2)));
    if (chance(40)) spec.labels.emplace_back("kind", "fast");
    if (chance(8)) spec.taints.push_back({.key = "keep", .value = "out"});
    return spec;
  }

  void make_mig(DeviceSpec& device) {
    if (chance(25)) return;
    device.model = "A30";
    device.mig_mode = MigMode::kOn;
    if (!chance(25)) return;
    device.mig_cut = MigCut::kFixed;
    device.mig_instances = {{.profile = "1g.6gb"}, {.profile = "2g.12gb"}};
  }

  RoleSpec role(int number, int32_t count) {
    RoleSpec spec = role_of("r" + std::to_string(number), count, {});
    spec.cpu_milli = rng_.between(0, 3) * 1000;
    spec.memory_bytes = rng_.between(0, 2) * kGiB;
    switch (rng_.below(10)) {
      case 0:
      case 9: break;
      case 1:
      case 2:
      case 3: spec.devices = whole(static_cast<int32_t>(rng_.between(1, 2))); break;
      case 4:
      case 5: spec.devices = milli(static_cast<int32_t>(rng_.between(2, 8) * 100)); break;
      case 6: spec.devices = memory(rng_.between(10, 60) * kGiB); break;
      default: spec.devices = mig(chance(50) ? "1g.6gb" : chance(70) ? "2g.12gb" : "4g.24gb"); break;
    }
    if (chance(30)) spec.numa = NumaNeed::kOneZone;
    if (chance(12)) spec.labels = {{"kind", "fast"}};
    if (chance(50)) spec.tolerations = {"keep"};
    if (chance(5)) spec.node = "n0";
    if (spec.devices.kind == DeviceNeedKind::kWhole && chance(8)) spec.constraint.models = {"generic"};
    if (spec.devices.kind == DeviceNeedKind::kWhole && chance(8)) spec.constraint.memory_bytes_min = 60 * kGiB;
    return spec;
  }

  Rng rng_;
  uint64_t levels_ = 0;
};

uint64_t world_count() {
  const char* const text = std::getenv("WEFT_SMALL_WORLDS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20'000;
}

/// Where tasks lie at a height: a number per domain, -1 in none.
int64_t domain_at(const ClusterState& state, NodeId node, DeviceMask devices, Height height) {
  if (height >= cluster_height(state)) return 0;
  if (height >= kLevelHeight) {
    const DomainId domain = state.nodes().domains[index(node)][index(level_at(height))];
    return is_set(domain) ? static_cast<int64_t>(index(domain)) : -1;
  }
  if (height == kNodeHeight) return static_cast<int64_t>(index(node));
  const auto& islands = state.layouts()[state.nodes().layout[index(node)]].islands;
  for (size_t i = 0; i < islands.size(); ++i) {
    if ((devices & ~islands[i]) == 0) return static_cast<int64_t>(index(node)) * 100 + static_cast<int64_t>(i);
  }
  return -1;
}

/// The domains of a height as what a brute force may use.
std::vector<BruteForce::Allowed> domains_of(const ClusterState& state, Height height) {
  std::vector<BruteForce::Allowed> domains;
  const BruteForce::Allowed nowhere(state.nodes().size());
  if (height >= kLevelHeight) {
    std::vector<DomainId> ids{DomainId{0}};
    if (height < cluster_height(state))
      ids.assign(state.domains_at(level_at(height)).begin(), state.domains_at(level_at(height)).end());
    for (const DomainId id : ids) {
      domains.push_back(nowhere);
      for (const NodeRange& range : state.domains()[index(id)].ranges) {
        for (uint32_t n = range.first; n < range.first + range.count; ++n) domains.back()[n] = ~DeviceMask{0};
      }
    }
    return domains;
  }
  for (size_t n = 0; n < state.nodes().size(); ++n) {
    std::vector<DeviceMask> masks{~DeviceMask{0}};
    if (height == kIslandHeight && state.nodes().device_count[n] > 0)
      masks = state.layouts()[state.nodes().layout[n]].islands;
    for (const DeviceMask mask : masks) {
      domains.push_back(nowhere);
      domains.back()[n] = mask;
    }
  }
  return domains;
}

/// A world and a job in a few lines, for a failure's message.
std::string describe(const TestWorld& world, const Shape& shape, const std::vector<int32_t>& counts) {
  const ClusterState& state = world.state;
  std::string text;
  for (size_t n = 0; n < state.nodes().size(); ++n) {
    text += state.names().nodes.text(make_id<NodeId>(n)) + ": cpu " + std::to_string(state.nodes().free_cpu_milli[n]) +
            " memory " + std::to_string(state.nodes().free_memory_bytes[n] / kGiB) + " free " +
            std::to_string(state.available(make_id<NodeId>(n))) + " mig " + std::to_string(state.nodes().mig[n]) +
            " shared " + std::to_string(state.nodes().shared[n]) + " domains";
    for (const DomainId domain : state.nodes().domains[n])
      text += is_set(domain) ? " " + std::to_string(index(domain)) : " -";
    for (size_t z = 0; z < state.nodes().zone_count[n]; ++z) {
      const size_t row = state.nodes().first_zone[n] + z;
      text += " zone(" + std::to_string(state.zones().free_cpu_milli[row]) + "," +
              std::to_string(state.zones().devices[row]) + ")";
    }
    for (const DeviceMask island : state.layouts()[state.nodes().layout[n]].islands)
      text += " island " + std::to_string(island);
    for (size_t row = state.nodes().first_device[n];
         row < state.nodes().first_device[n] + state.nodes().device_count[n]; ++row) {
      text += " dev(" + std::to_string(state.devices().free_milli[row]) + "," +
              std::to_string(state.devices().free_memory_bytes[row] / kGiB) + "," +
              std::to_string(state.devices().mig_occupied[row]) + ")";
    }
    text += "\n";
  }
  const auto level = [](const LevelNeed& need) { return std::to_string(height_of(need)); };
  for (size_t r = 0; r < shape.roles.size(); ++r) {
    const TaskDemand& demand = shape.roles[r].demand;
    text += "role " + std::to_string(r) + " x" + std::to_string(counts[r]) + ": cpu " +
            std::to_string(demand.cpu_milli) + " memory " + std::to_string(demand.memory_bytes / kGiB) + " kind " +
            std::to_string(static_cast<int>(demand.devices.kind)) + " " + std::to_string(demand.devices.count) + "/" +
            std::to_string(demand.devices.milli) + "/" + std::to_string(demand.devices.memory_bytes / kGiB) + " zone " +
            std::to_string(static_cast<int>(demand.numa)) + " within " + level(shape.roles[r].scope.within) +
            " prefer " + level(shape.roles[r].scope.prefer) + "\n";
  }
  for (size_t g = 0; g < shape.groups.size(); ++g) {
    text += "group " + std::to_string(g) + " min " + std::to_string(shape.groups[g].min) + " roles";
    for (const int32_t role : shape.groups[g].roles) text += " " + std::to_string(role);
    text += " groups";
    for (const int32_t child : shape.groups[g].groups) text += " " + std::to_string(child);
    text += " within " + level(shape.groups[g].scope.within) + " prefer " + level(shape.groups[g].scope.prefer) + "\n";
  }
  return text;
}

struct SmallWorlds : ::testing::Test {
  /// Compares one answer with what trying everything gives.
  void compare(TestWorld& world, const JobSpec& job, JobId running, std::vector<int32_t> counts) {
    const ShapeId id = is_set(running) ? world.state.jobs().shape[index(running)] : world.shape(job);
    const Shape& shape = world.state.shapes()[id];
    SCOPED_TRACE(describe(world, shape, counts));
    BruteForce brute(world.state, shape, counts, running);
    const bool is_possible = brute.is_possible(brute.everywhere());
    possible += is_possible ? 1 : 0;

    GangPlacement at;
    Verdict verdict;
    {
      Transaction txn(world.state);
      verdict = world.placer->place_gang(txn, {.shape_id = id, .job = running, .counts = counts}, at);
      ASSERT_EQ(verdict.is_yes(), is_possible) << "reason " << static_cast<int>(verdict.reason);
      if (!is_possible) {
        ASSERT_EQ(txn.mark(), 0U) << "nothing is left in the transaction";
      }
    }
    ASSERT_TRUE(world.state.audit_indices().empty());
    if (!is_possible) {
      ASSERT_EQ(sum_of_nodes(verdict), verdict.nodes_total);
      ASSERT_NE(verdict.wakes_on, 0);
      return;
    }
    ASSERT_EQ(brute.check(at), "");
    const Verdict counted = world.placer->explain(world.state, {.shape_id = id, .job = running, .counts = counts});
    ASSERT_TRUE(counted.is_yes()) << "a placement exists, but counting says " << static_cast<int>(counted.reason);
    compare_preference(world, shape, brute, at);
  }

  /// The whole job's preference: the narrowest height that can be had, and in it the fewest domains of the preferred
  /// level.
  void compare_preference(TestWorld& world, const Shape& shape, BruteForce& brute, const GangPlacement& at) {
    const Height preferred = height_of(shape.groups[0].scope.prefer);
    const Height bound = height_of(shape.groups[0].scope.within);
    if (preferred == kNoHeight || (bound != kNoHeight && preferred >= bound)) return;
    const ClusterState& state = world.state;
    const auto count_domains = [&](Height height) {
      std::vector<int64_t> seen;
      const auto add = [&](NodeId node, DeviceMask devices) {
        if (height == kIslandHeight && devices == 0) return;
        seen.push_back(domain_at(state, node, devices, height));
      };
      for (const TaskPlacement& task : at.tasks) add(task.node, task.devices);
      for (const BruteForce::Running& task : brute.running()) add(task.node, task.devices);
      std::ranges::sort(seen);
      const bool has_none = !seen.empty() && seen.front() < 0;
      seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
      return has_none ? size_t{999} : std::max<size_t>(seen.size(), 1);
    };
    const Height top = bound == kNoHeight ? cluster_height(state) : bound;
    for (Height height = preferred; height < top; ++height) {
      bool is_possible = false;
      for (const BruteForce::Allowed& domain : domains_of(state, height)) {
        const bool has_running = std::ranges::all_of(brute.running(), [&](const BruteForce::Running& task) {
          const auto& allowed = domain[index(task.node)];
          return allowed && (task.devices & ~*allowed) == 0;
        });
        is_possible = is_possible || (has_running && brute.is_possible(domain));
      }
      if (!is_possible) continue;
      ASSERT_EQ(count_domains(height), 1U) << "a domain of height " << height << " holds it whole";
      ++preferences;
      return;
    }
  }

  uint64_t possible = 0;
  uint64_t preferences = 0;
};

TEST_F(SmallWorlds, AGangIsPlacedExactlyWhenTryingEverythingFindsAPlace) {
  const uint64_t worlds = world_count();
  for (uint64_t seed = 1; seed <= worlds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    WorldMaker maker(seed);
    const std::unique_ptr<TestWorld> made = maker.make();
    TestWorld& world = *made;
    const JobSpec job = maker.job();
    compare(world, job, kNone<JobId>, world.minimum(world.shape(job)));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(possible, worlds / 5) << "a test of mostly impossible worlds says little";
  EXPECT_LT(possible, worlds * 4 / 5);
  EXPECT_GT(preferences, worlds / 100);
}

TEST_F(SmallWorlds, AJobGrowsExactlyWhenTryingEverythingFindsAPlace) {
  const uint64_t worlds = world_count() / 4;
  for (uint64_t seed = 1; seed <= worlds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    WorldMaker maker(seed * 1'000'003);
    const std::unique_ptr<TestWorld> made = maker.make();
    TestWorld& world = *made;
    JobSpec job = maker.job();
    std::vector<int32_t> rest;
    for (RoleSpec& role : job.roles) {
      role.min = role.count;
      if (&role == job.roles.data() && role.count > 1) role.min = 1;
      if (&role != job.roles.data()) role.min = static_cast<int32_t>(maker.rng().between(1, role.count));
      rest.push_back(role.count - role.min);
    }
    if (!world.start(job).is_yes()) continue;
    compare(world, job, world.last_job, rest);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GT(possible, worlds / 10);
}

}  // namespace
}  // namespace weft::testing
