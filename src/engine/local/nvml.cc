#include "engine/local/nvml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <dlfcn.h>
#include <memory>
#include <span>
#include <utility>

namespace weft::local {
namespace {

// The few types and numbers of nvml.h that are used here; names end in the version of the structure.
using Device = struct NvmlDevice*;
struct PciInfoV3 {
  std::array<char, 16> bus_id_legacy;
  unsigned domain, bus, device, pci_device_id, pci_sub_system_id;
  std::array<char, 32> bus_id;
};
static_assert(sizeof(PciInfoV3) == 68, "as in nvml.h");
struct MemoryV1 {
  unsigned long long total, free, used;
};
constexpr int kSuccess = 0;
constexpr int kDriverNotLoaded = 9;
constexpr int kGpuIsLost = 15;
constexpr int kVersionMismatch = 18;
constexpr unsigned kLinksMax = 36;
constexpr int kRemoteIsSwitch = 2;

/// The functions of the library. Those that are optional may be null.
struct Nvml {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*memory)(Device, MemoryV1*) = nullptr;
  int (*pci)(Device, PciInfoV3*) = nullptr;
  int (*minor_number)(Device, unsigned*) = nullptr;  // optional, as are all below
  int (*capability)(Device, int*, int*) = nullptr;
  int (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
  int (*ancestor)(Device, Device, int*) = nullptr;
  int (*link_state)(Device, unsigned, int*) = nullptr;
  int (*link_remote_type)(Device, unsigned, int*) = nullptr;
  int (*link_remote_pci)(Device, unsigned, PciInfoV3*) = nullptr;
};

/// The first of `names` that the library has; older drivers know only the older ones.
template <typename Function>
bool look_up(void* library, Function& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* found = ::dlsym(library, name); found != nullptr) {
      function = reinterpret_cast<Function>(found);
      return true;
    }
  }
  return false;
}

bool look_up_all(void* library, Nvml& nvml) {
  look_up(library, nvml.minor_number, {"nvmlDeviceGetMinorNumber"});
  look_up(library, nvml.capability, {"nvmlDeviceGetCudaComputeCapability"});
  look_up(library, nvml.mig_mode, {"nvmlDeviceGetMigMode"});
  look_up(library, nvml.ancestor, {"nvmlDeviceGetTopologyCommonAncestor"});
  look_up(library, nvml.link_state, {"nvmlDeviceGetNvLinkState"});
  look_up(library, nvml.link_remote_type, {"nvmlDeviceGetNvLinkRemoteDeviceType"});
  look_up(library, nvml.link_remote_pci, {"nvmlDeviceGetNvLinkRemotePciInfo_v2"});
  return look_up(library, nvml.init, {"nvmlInit_v2", "nvmlInit"}) &&
         look_up(library, nvml.shutdown, {"nvmlShutdown"}) &&
         look_up(library, nvml.error_string, {"nvmlErrorString"}) &&
         look_up(library, nvml.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}) &&
         look_up(library, nvml.handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}) &&
         look_up(library, nvml.name, {"nvmlDeviceGetName"}) && look_up(library, nvml.uuid, {"nvmlDeviceGetUUID"}) &&
         look_up(library, nvml.memory, {"nvmlDeviceGetMemoryInfo"}) &&
         look_up(library, nvml.pci, {"nvmlDeviceGetPciInfo_v3"});
}

/// One clear line for people; the usual suspects get the cure as well.
std::string failure(const Nvml& nvml, const char* what, int code) {
  switch (code) {
    case kDriverNotLoaded: return fmt::format("{}: the NVIDIA kernel driver is not loaded", what);
    case kVersionMismatch:
      return fmt::format(
          "{}: the NVIDIA driver was updated but its old kernel module still runs; reboot, or reload the nvidia "
          "modules",
          what);
    case kGpuIsLost: return fmt::format("{}: it has fallen off the bus; the machine must be restarted", what);
    default: break;
  }
  const char* text = nvml.error_string(code);
  return fmt::format("{}: {} (NVML code {})", what, text == nullptr ? "unknown error" : text, code);
}

/// NVML writes "00000000:65:00.0" where /sys has "0000:65:00.0".
std::string kernel_bus_id(const PciInfoV3& pci) {
  std::string id(pci.bus_id.data(), std::find(pci.bus_id.begin(), pci.bus_id.end(), '\0'));
  std::ranges::transform(id, id.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (id.size() > 12 && id.starts_with("0000")) id.erase(0, id.size() - 12);
  return id;
}

class Reader {
 public:
  explicit Reader(const Nvml& nvml) : nvml_(nvml) {}

  NvidiaReading read() {
    unsigned count = 0;
    if (const int code = nvml_.count(&count); code != kSuccess) {
      out_.notes.push_back(failure(nvml_, "no NVIDIA GPUs are used: counting them failed", code));
      return std::move(out_);
    }
    if (count == 0) out_.notes.emplace_back("no NVIDIA GPUs are used: the driver sees none");
    for (unsigned i = 0; i < count; ++i) read_gpu(i);
    sort_by_bus_id();
    read_links();
    return std::move(out_);
  }

 private:
  struct Found {
    NvidiaGpu gpu;
    Device handle = nullptr;
  };

  void read_gpu(unsigned nvml_index) {
    Found found{.gpu = {.nvml_index = nvml_index}};
    std::array<char, 96> name{};
    std::array<char, 96> uuid{};
    MemoryV1 memory{};
    PciInfoV3 pci{};
    const std::string what = fmt::format("GPU {} is not used", nvml_index);
    int code = nvml_.handle(nvml_index, &found.handle);
    if (code == kSuccess) code = nvml_.name(found.handle, name.data(), static_cast<unsigned>(name.size() - 1));
    if (code == kSuccess) code = nvml_.uuid(found.handle, uuid.data(), static_cast<unsigned>(uuid.size() - 1));
    if (code == kSuccess) code = nvml_.memory(found.handle, &memory);
    if (code == kSuccess) code = nvml_.pci(found.handle, &pci);
    if (code != kSuccess) {
      out_.notes.push_back(failure(nvml_, what.c_str(), code));
      return;
    }
    unsigned mig_now = 0;
    unsigned mig_later = 0;
    if (nvml_.mig_mode != nullptr && nvml_.mig_mode(found.handle, &mig_now, &mig_later) == kSuccess && mig_now != 0) {
      out_.notes.push_back(what + ": it is in MIG mode, which this engine does not use yet");
      return;
    }
    found.gpu.name = name.data();
    found.gpu.uuid = uuid.data();
    found.gpu.bus_id = kernel_bus_id(pci);
    found.gpu.memory_bytes = static_cast<int64_t>(memory.total);
    found.gpu.minor_number = nvml_index;
    if (nvml_.minor_number != nullptr) nvml_.minor_number(found.handle, &found.gpu.minor_number);
    int major = 0;
    int minor = 0;
    if (nvml_.capability != nullptr && nvml_.capability(found.handle, &major, &minor) == kSuccess) {
      found.gpu.compute_capability = static_cast<uint16_t>(major * 10 + minor);
    }
    found_.push_back(std::move(found));
  }

  void sort_by_bus_id() {
    std::ranges::sort(found_, [](const Found& a, const Found& b) {
      return std::pair(a.gpu.bus_id, a.gpu.nvml_index) < std::pair(b.gpu.bus_id, b.gpu.nvml_index);
    });
    for (Found& found : found_) out_.gpus.push_back(found.gpu);
  }

  void read_links() {
    const size_t n = found_.size();
    std::vector<unsigned> switch_links(n, 0);
    std::vector<unsigned> direct_links(n * n, 0);
    for (size_t i = 0; i < n; ++i) read_links_of(i, switch_links[i], std::span(direct_links).subspan(i * n, n));
    out_.link_quality.assign(n * n, 0);
    out_.is_linked.assign(n * n, 0);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        if (i == j) {
          out_.link_quality[i * n + j] = 100;
          continue;
        }
        const unsigned links = std::max(direct_links[i * n + j], direct_links[j * n + i]);
        const bool is_switched = switch_links[i] > 0 && switch_links[j] > 0;
        out_.is_linked[i * n + j] = is_switched || links > 0 ? 1 : 0;
        out_.link_quality[i * n + j] = is_switched ? 100
                                       : links > 0 ? static_cast<uint8_t>(std::min(50 + 10 * links, 100U))
                                                   : pcie_quality(i, j);
      }
    }
  }

  void read_links_of(size_t i, unsigned& to_switch, std::span<unsigned> to_gpu) {
    if (nvml_.link_state == nullptr || nvml_.link_remote_pci == nullptr) return;
    for (unsigned link = 0; link < kLinksMax; ++link) {
      int is_active = 0;
      if (nvml_.link_state(found_[i].handle, link, &is_active) != kSuccess || is_active == 0) continue;
      int type = 0;
      if (nvml_.link_remote_type != nullptr && nvml_.link_remote_type(found_[i].handle, link, &type) == kSuccess &&
          type == kRemoteIsSwitch) {
        ++to_switch;
        continue;
      }
      PciInfoV3 remote{};
      if (nvml_.link_remote_pci(found_[i].handle, link, &remote) != kSuccess) continue;
      const std::string bus_id = kernel_bus_id(remote);
      for (size_t j = 0; j < found_.size(); ++j) to_gpu[j] += found_[j].gpu.bus_id == bus_id ? 1 : 0;
    }
  }

  uint8_t pcie_quality(size_t i, size_t j) {
    int ancestor = 0;
    if (nvml_.ancestor == nullptr || nvml_.ancestor(found_[i].handle, found_[j].handle, &ancestor) != kSuccess)
      return 10;
    // 0: one board, 10: one switch, 20: several switches, 30: a host bridge, 40: one NUMA zone, 50: across sockets.
    return static_cast<uint8_t>(50 - std::clamp(ancestor, 0, 50));
  }

  const Nvml& nvml_;
  std::vector<Found> found_;
  NvidiaReading out_;
};

}  // namespace

NvidiaReading read_nvidia_gpus(const std::vector<std::string>& libraries) {
  std::unique_ptr<void, int (*)(void*)> library(nullptr, ::dlclose);
  for (const std::string& path : libraries) {
    library.reset(::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL));
    if (library != nullptr) break;
  }
  if (library == nullptr)
    return {.notes = {"no NVIDIA GPUs are used: the driver's library libnvidia-ml.so.1 is not on this machine"}};
  Nvml nvml;
  if (!look_up_all(library.get(), nvml)) {
    return {.notes = {
                "no NVIDIA GPUs are used: libnvidia-ml.so.1 is too old or is no NVML; weft needs driver 450 or newer"}};
  }
  if (const int code = nvml.init(); code != kSuccess)
    return {.notes = {failure(nvml, "no NVIDIA GPUs are used", code)}};
  NvidiaReading reading = Reader(nvml).read();
  nvml.shutdown();
  return reading;
}

}  // namespace weft::local
