#include "engine/local/machine.h"

#include "base/text.h"
#include "base/units.h"
#include "engine/local/cgroup_limits.h"
#include "engine/local/cpu_zones.h"
#include "model/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sys/statvfs.h>
#include <unistd.h>

namespace weft::local {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

CgroupLimits own_cgroup_limits() {
  std::ifstream file("/proc/self/cgroup");
  const std::string membership(std::istreambuf_iterator<char>(file), {});
  return read_cgroup_limits(membership, "/sys/fs/cgroup");
}

int64_t physical_memory_bytes() {
  const int64_t pages = ::sysconf(_SC_PHYS_PAGES);
  const int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? pages * page_bytes : kGiB;
}

int64_t free_disk_bytes(const std::string& path) {
  struct statvfs status{};
  if (::statvfs(path.c_str(), &status) != 0) return 0;
  return static_cast<int64_t>(status.f_bavail) * static_cast<int64_t>(status.f_frsize);
}

/// Sets CPUs, memory and zones; returns the kernel's number of each zone.
std::vector<unsigned> add_cpus_and_memory(Machine& machine) {
  NodeSpec& node = machine.node;
  std::vector<CpuZone> zones;
  if (auto read = read_cpu_zones()) {
    zones = std::move(*read);
  } else {
    const int64_t cpus = std::max<int64_t>(1, ::sysconf(_SC_NPROCESSORS_ONLN));
    machine.notes.push_back(fmt::format("NUMA zones are not known: {}", read.error().message));
    zones.push_back({.cpus = cpus});
  }
  int64_t cpus = 0;
  for (const CpuZone& zone : zones) cpus += zone.cpus;

  const CgroupLimits limits = own_cgroup_limits();
  node.cpu_milli = std::min(cpus * 1000, std::max<int64_t>(limits.cpu_milli, 1));
  node.memory_bytes = std::min(physical_memory_bytes(), limits.memory_bytes);
  std::vector<unsigned> kernel_zones;
  for (const CpuZone& zone : zones) kernel_zones.push_back(zone.kernel_index);
  if (zones.size() > 1) {
    // A quota of CPU time holds for the machine, wherever the time is spent.
    for (const CpuZone& zone : zones) node.numa.push_back({.cpu_milli = std::min(zone.cpus * 1000, node.cpu_milli)});
  }
  return kernel_zones;
}

Result<void> add_virtual_gpus(const VirtualGpus& wanted, size_t zones, NodeSpec& node) {
  const DeviceCatalogue catalogue;
  const std::string model = wanted.model.empty() ? "generic" : wanted.model;
  if (!is_set(catalogue.find(model))) {
    const std::string_view near = nearest(model, catalogue.names());
    return fail(ErrorCode::kInvalidInput,
                fmt::format("unknown GPU model '{}'{}", model,
                            near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near)));
  }
  const int64_t memory_bytes = catalogue.model(catalogue.find(model)).memory_bytes;
  const auto count = static_cast<size_t>(wanted.count);
  for (size_t i = 0; i < count; ++i) {
    const size_t zone = i * zones / count;  // neighbours share a zone
    node.devices.push_back({.model = model, .memory_bytes = memory_bytes, .numa_zone = static_cast<uint8_t>(zone)});
  }
  return {};
}

/// The zone of a PCI device as an index into `zones`; 0 where the kernel does not say.
uint8_t zone_of(const std::string& bus_id, const std::vector<unsigned>& zones) {
  std::ifstream file(fmt::format("/sys/bus/pci/devices/{}/numa_node", bus_id));
  int kernel_index = -1;
  if (!(file >> kernel_index) || kernel_index < 0) return 0;
  const auto found = std::ranges::find(zones, static_cast<unsigned>(kernel_index));
  return found == zones.end() ? uint8_t{0} : static_cast<uint8_t>(found - zones.begin());
}

/// Groups of devices that NVLink joins, directly or through others.
std::vector<DeviceMask> islands_of(const NvidiaReading& reading) {
  const size_t n = reading.gpus.size();
  std::vector<DeviceMask> islands;
  DeviceMask seen = 0;
  for (size_t first = 0; first < n; ++first) {
    if ((seen >> first & 1U) != 0) continue;
    DeviceMask island = DeviceMask{1} << first;
    for (bool has_grown = true; has_grown;) {
      has_grown = false;
      for (size_t i = 0; i < n * n; ++i) {
        const bool reaches =
            reading.is_linked[i] != 0 && (island >> (i / n) & 1U) != 0 && (island >> (i % n) & 1U) == 0;
        if (reaches) island |= DeviceMask{1} << (i % n);
        has_grown = has_grown || reaches;
      }
    }
    seen |= island;
    islands.push_back(island);
  }
  return islands;
}

}  // namespace

void add_nvidia_gpus(const NvidiaReading& reading, const std::vector<unsigned>& zones, NodeSpec& node) {
  const DeviceCatalogue catalogue;
  for (const NvidiaGpu& gpu : reading.gpus) {
    DeviceSpec device{.memory_bytes = gpu.memory_bytes, .uuid = gpu.uuid, .bus_id = gpu.bus_id};
    const DeviceModelId model = catalogue.find(gpu.name);
    if (is_set(model)) device.model = catalogue.model(model).name;  // else generic, with the memory that it really has
    device.numa_zone = zone_of(gpu.bus_id, zones);
    node.devices.push_back(std::move(device));
  }
  node.link_quality = reading.link_quality;
  node.islands = islands_of(reading);
}

Result<Machine> detect_machine(const MachineOptions& options) {
  const VirtualGpus& wanted = options.virtual_gpus;
  if (wanted.count < 0 || wanted.count > static_cast<int32_t>(kMaxDevicesPerNode)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("--virtual-gpus {}: a node has 0 to {} GPUs", wanted.count, kMaxDevicesPerNode));
  }
  if (wanted.count == 0 && !wanted.model.empty()) {
    return fail(ErrorCode::kInvalidInput, "--gpu-model names the model of virtual GPUs; give --virtual-gpus as well");
  }
  Machine machine;
  machine.node.name = host_name();
  machine.node.disk_bytes = free_disk_bytes(options.disk_path);
  const std::vector<unsigned> zones = add_cpus_and_memory(machine);

  NvidiaReading reading;
  if (wanted.count == 0 || wanted.beside_real_ones == VirtualGpus::BesideRealOnes::kRefuse)
    reading = read_nvidia_gpus();
  if (reading.gpus.size() > kMaxDevicesPerNode) {
    return fail(ErrorCode::kUnsupported, fmt::format("this machine has {} GPUs; a node has at most {}",
                                                     reading.gpus.size(), kMaxDevicesPerNode));
  }
  if (wanted.count > 0) {
    if (!reading.gpus.empty()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("--virtual-gpus is for machines without GPUs, and this one has {}", reading.gpus.size()));
    }
    if (auto added = add_virtual_gpus(wanted, machine.node.numa.empty() ? 1 : machine.node.numa.size(), machine.node);
        !added) {
      return std::unexpected(added.error());
    }
    return machine;
  }
  machine.notes.insert(machine.notes.end(), reading.notes.begin(), reading.notes.end());
  for (const NvidiaGpu& gpu : reading.gpus) {
    if (is_set(DeviceCatalogue().find(gpu.name))) continue;
    machine.notes.push_back(fmt::format("GPU {} is a {}, which the catalogue does not know: it counts as generic",
                                        gpu.nvml_index, gpu.name));
  }
  add_nvidia_gpus(reading, machine.node.numa.empty() ? std::vector<unsigned>{} : zones, machine.node);
  return machine;
}

}  // namespace weft::local
