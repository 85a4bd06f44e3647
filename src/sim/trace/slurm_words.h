#pragma once

#include "base/units.h"
#include "sim/trace/trace_job.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

// What Slurm writes into its accounts.

enum class SlurmState : uint8_t { kUnknownWord, kNotEnded, kDone, kFailed, kCancelled };
/// "COMPLETED", "CANCELLED by 1000", "TIMEOUT", …
SlurmState read_slurm_state(std::string_view text);
/// kUnknown for the first two.
TraceEnd end_of(SlurmState state);

/// "[days-]hours:minutes:seconds", "minutes:seconds", "minutes" as Slurm writes limits and elapsed times. "UNLIMITED"
/// and "Partition_Limit" are kEndless.
std::optional<Duration> read_slurm_time(std::string_view text);

/// What a list of trackable resources asks for: "billing=8,cpu=8,gres/gpu=4,gres/gpu:a100=4,mem=64G,node=2".
struct SlurmResources {
  int64_t nodes = 0;  ///< 0 here and below: not told
  int64_t gpus = 0;
  int64_t cpus = 0;
  int64_t memory_bytes = 0;
  std::vector<std::string> gpu_models;  ///< sorted
};
/// False: not such a list. Resources of other kinds are passed over.
bool read_slurm_resources(std::string_view text, SlurmResources& resources);

/// Per node: "gpu:4", "gpu:a100:4", "gres:gpu:4", also several with commas between. Only GPUs count.
bool read_slurm_gres(std::string_view text, SlurmResources& resources);

/// "64G", "4000M", "62.50G"; M where no unit stands.
std::optional<int64_t> read_slurm_memory(std::string_view text);

}  // namespace weft::sim
