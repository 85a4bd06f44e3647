#include "base/text.h"
#include "model/catalogue.h"
#include "state/job_resolver.h"
#include "state/node_arrival.h"
#include "state/spec_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace weft {

namespace {

constexpr int32_t kTasksMax = 1'000'000;  // of one job: its rows must fit in memory
constexpr size_t kRolesMax = 10'000;

/// a + n * b, or kQuantityMax + 1 when that is more. Requires: 0 <= a, n and b.
int64_t add_times(int64_t a, int64_t n, int64_t b) {
  int64_t product = 0;
  int64_t sum = 0;
  if (__builtin_mul_overflow(n, b, &product) || __builtin_add_overflow(a, product, &sum)) return kQuantityMax + 1;
  return std::min(sum, kQuantityMax + 1);
}

/// "; did you mean 'B'? This cluster has A, B": what it lacks is no help. Of all models only where it has none yet.
std::string meant_models(std::string_view word, const ClusterState& state, const DeviceCatalogue& devices) {
  constexpr size_t kNamesMax = 8;
  std::set<DeviceModelId> models;
  for (const Pool& pool : state.pools()) models.insert(pool.models.begin(), pool.models.end());
  std::vector<std::string_view> own;
  for (const DeviceModelId model : models) own.push_back(devices.model(model).name);
  if (own.empty()) return suggest_model(word, devices);
  const std::string_view near = nearest(word, own);
  std::string text = near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near);
  const std::string_view begin = text.empty() ? "; this cluster has " : " This cluster has ";
  for (size_t i = 0; i < own.size(); ++i) {
    text += i == 0 ? begin : ", ";
    if (i == kNamesMax) return text + "…";
    text += own[i];
  }
  return text;
}

}  // namespace

Result<void> JobResolver::roles() {
  if (spec_.roles.empty()) return invalid(where_ + ": it has no roles");
  if (spec_.roles.size() > kRolesMax)
    return invalid(fmt::format("{}: {} roles; at most {} are possible", where_, spec_.roles.size(), kRolesMax));
  std::set<std::string_view> seen;
  for (const RoleSpec& spec : spec_.roles) {
    if (spec.name.empty()) return invalid(where_ + ": a role has no name");
    if (!seen.insert(spec.name).second)
      return invalid(fmt::format("{}: two roles are called {}", where_, quoted(spec.name)));
    if (auto ok = role(spec); !ok) return ok;
  }
  return {};
}

Result<void> JobResolver::role(const RoleSpec& spec) {
  // Who has one role never named it: the short form of a job, or a command line.
  const char* const part = spec_.roles.size() == 1 ? nullptr : "role";
  const SpecPlace where{.job = spec_.name, .part = part, .name = spec.name};
  RoleShape out;
  if (auto ok = role_counts(where, spec, out); !ok) return ok;
  if (auto ok = role_amounts(where, spec, out.demand); !ok) return ok;
  if (auto ok = models(where, spec.constraint, out.demand.devices); !ok) return ok;
  if (auto ok = devices(where, spec.devices, out.demand.devices); !ok) return ok;
  if (auto ok = role_place(where, spec, out.demand); !ok) return ok;
  auto topology = scope(where, spec.topology);
  if (!topology) return std::unexpected(std::move(topology.error()));
  out.scope = *topology;
  shape_.roles.push_back(std::move(out));
  return {};
}

Result<void> JobResolver::role_counts(const SpecPlace& where, const RoleSpec& spec, RoleShape& out) {
  if (spec.count < 1) return invalid(fmt::format("{}: count must be at least 1, got {}", where, spec.count));
  if (spec.min < -1) return invalid(fmt::format("{}: min must not be negative, got {}", where, spec.min));
  if (spec.min > spec.count)
    return invalid(fmt::format("{}: min {} is more than count {}", where, spec.min, spec.count));
  out.count = spec.count;
  out.min = spec.min == -1 ? spec.count : spec.min;
  return {};
}

Result<void> JobResolver::role_amounts(const SpecPlace& where, const RoleSpec& spec, TaskDemand& out) {
  struct Amount {
    const char* name;
    int64_t value;
  };
  for (const Amount& a :
       {Amount{"cpus", spec.cpu_milli}, Amount{"memory", spec.memory_bytes}, Amount{"disk", spec.disk_bytes},
        Amount{"minimum device memory", spec.constraint.memory_bytes_min}}) {
    if (a.value < 0) return invalid(fmt::format("{}: {} must not be negative", where, a.name));
    if (a.value > kQuantityMax) return invalid(fmt::format("{}: {} is too large a number", where, a.name));
  }
  out.cpu_milli = spec.cpu_milli;
  out.memory_bytes = spec.memory_bytes;
  out.disk_bytes = spec.disk_bytes;
  out.numa = spec.numa;
  out.network = spec.network;
  out.devices.memory_bytes_min = spec.constraint.memory_bytes_min;
  out.devices.compute_capability_min = spec.constraint.compute_capability_min;
  return {};
}

Result<void> JobResolver::role_place(const SpecPlace& where, const RoleSpec& spec, TaskDemand& out) const {
  if (!spec.node.empty()) {
    out.node = names_.nodes.find(spec.node);
    if (!is_set(out.node)) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{}: unknown node {}{}", where, quoted(spec.node), suggest_node(spec.node, names_)));
    }
  }
  std::set<std::string_view> keys;
  for (const auto& [key, value] : spec.labels) {
    if (key.empty() || key.find('=') != std::string::npos)
      return invalid(fmt::format("{}: {} is not a label's name", where, quoted(key)));
    if (!keys.insert(key).second) return invalid(fmt::format("{}: the label {} is given twice", where, quoted(key)));
  }
  for (const std::string& key : spec.tolerations) {
    if (key.empty()) return invalid(where + ": a toleration has no key");
  }
  return {};
}

Result<void> JobResolver::models(const SpecPlace& where, const DeviceConstraint& constraint, DeviceDemand& out) const {
  for (const std::string& name : constraint.models) {
    const std::vector<DeviceModelId> meant = names_.devices.match(name);
    if (meant.empty()) {
      return fail(ErrorCode::kNotFound, fmt::format("{}: gpu: unknown model {}{}", where, quoted(name),
                                                    meant_models(name, state_, names_.devices)));
    }
    out.models.insert(out.models.end(), meant.begin(), meant.end());
  }
  std::ranges::sort(out.models);
  out.models.erase(std::unique(out.models.begin(), out.models.end()), out.models.end());
  return {};
}

Result<void> JobResolver::devices(const SpecPlace& where, const DeviceNeed& need, DeviceDemand& out) const {
  if (need.count < 0) return invalid(fmt::format("{}: gpus must not be negative, got {}", where, need.count));
  if (need.milli < 0) return invalid(fmt::format("{}: gpus must not be negative", where));
  if (need.memory_bytes < 0) return invalid(where + ": gpu_memory must not be negative");
  const int forms = (need.count != 0 ? 1 : 0) + (need.milli != 0 ? 1 : 0) + (need.memory_bytes != 0 ? 1 : 0) +
                    (need.mig_profile.empty() ? 0 : 1);
  if (forms > 1) return invalid(where + ": name one of whole gpus, a fraction, gpu_memory and mig, not several");
  out.kind = need.kind;
  switch (need.kind) {
    case DeviceNeedKind::kNone:
      if (forms != 0) return invalid(where + ": an amount of devices without its kind");
      return {};
    case DeviceNeedKind::kWhole:
      if (forms == 0)
        out.kind = DeviceNeedKind::kNone;
      else if (need.count == 0)
        return invalid(where + ": whole gpus need a count");
      out.count = need.count;
      return {};
    case DeviceNeedKind::kMilli:
      if (need.milli == 0) return invalid(where + ": a fraction of a gpu must be above 0");
      if (need.milli % 1000 == 0) {  // written as a fraction, but whole
        out.kind = DeviceNeedKind::kWhole;
        out.count = need.milli / 1000;
        return {};
      }
      if (need.milli > 1000) {
        return invalid(fmt::format("{}: gpus {}.{:03} is neither a whole number nor below 1", where, need.milli / 1000,
                                   need.milli % 1000));
      }
      out.milli = need.milli;
      return {};
    case DeviceNeedKind::kMemory:
      if (need.memory_bytes == 0) return invalid(where + ": gpu_memory must be above 0");
      if (need.memory_bytes > kQuantityMax) return invalid(where + ": gpu_memory is too large a number");
      out.memory_bytes = need.memory_bytes;
      return {};
    case DeviceNeedKind::kMig: return mig(where, need.mig_profile, out);
  }
  return invalid(where + ": an unknown kind of device need");
}

Result<void> JobResolver::mig(const SpecPlace& where, const std::string& profile, DeviceDemand& out) const {
  if (profile.empty()) return invalid(where + ": mig needs the name of a profile");
  for (size_t i = 0; i < names_.devices.size(); ++i) {
    const DeviceModelId model = make_id<DeviceModelId>(i);
    if (!out.models.empty() && !std::ranges::binary_search(out.models, model)) continue;
    const MigProfileIndex found = find_mig_profile(names_.devices.model(model), profile);
    if (found != kNoProfile) out.mig.emplace_back(model, found);
  }
  if (!out.mig.empty()) return {};
  if (out.models.size() == 1) {
    const DeviceModel& model = names_.devices.model(out.models.front());
    return invalid(
        fmt::format("{}: {} has no MIG profile {}{}", where, model.name, quoted(profile), known_profiles(model)));
  }
  return invalid(fmt::format("{}: no {} model has the MIG profile {}", where, out.models.empty() ? "known" : "allowed",
                             quoted(profile)));
}

/// The whole job's sums stay in range, so that nobody who adds them up has to ask.
Result<void> JobResolver::totals() {
  int64_t tasks = 0;
  int64_t cpu = 0;
  int64_t memory = 0;
  int64_t disk = 0;
  int64_t gpu_units = 0;
  for (const RoleShape& role : shape_.roles) {
    tasks += role.count;
    cpu = add_times(cpu, role.count, role.demand.cpu_milli);
    memory = add_times(memory, role.count, role.demand.memory_bytes);
    memory = add_times(memory, role.count, role.demand.devices.memory_bytes);
    disk = add_times(disk, role.count, role.demand.disk_bytes);
    gpu_units = add_times(gpu_units, role.count, std::max<int64_t>(role.demand.devices.count, 1) * kGpuUnits);
  }
  if (tasks > kTasksMax) return invalid(fmt::format("{}: {} tasks; at most {} are possible", where_, tasks, kTasksMax));
  struct Sum {
    const char* name;
    int64_t value;
  };
  for (const Sum& sum : {Sum{"cpus", cpu}, Sum{"memory", memory}, Sum{"disk", disk}, Sum{"gpus", gpu_units}}) {
    if (sum.value > kQuantityMax)
      return invalid(fmt::format("{}: {} of all its tasks add up to too large a number", where_, sum.name));
  }
  return {};
}

}  // namespace weft
