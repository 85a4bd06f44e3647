#pragma once

#include "base/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::sim {

/// How a job ended where the trace was taken.
enum class TraceEnd : uint8_t { kNotTold, kDone, kFailed, kCancelled };

/// One job as a trace tells it, in weft's own terms: the row that every format is read into, and that the format `weft`
/// writes. Instants count from the trace's own epoch, see TraceHeader.
struct TraceJob {
  std::string id;     ///< as the trace calls it; unique in a trace
  std::string name;   ///< of the job or its program; may be empty
  std::string user;   ///< empty: not told
  std::string queue;  ///< team, virtual cluster, partition; empty: not told
  std::string model;  ///< of the network that is trained; empty: not told
  Instant submit;
  Duration run_time{0};          ///< the truth: with all it asks for, without interruption; above zero
  Duration estimate = kEndless;  ///< what the user said; kEndless: nothing
  Duration limit = kEndless;     ///< after which the job is ended
  Instant deadline = kNever;

  /// The job asks for `tasks` equal tasks that run together.
  int32_t tasks = 1;
  int32_t gpus_per_task = 0;  ///< whole GPUs; 0 with `gpu_milli` above 0: a share of one GPU
  int32_t gpu_milli = 0;      ///< of one GPU, 1 … 999; 0: whole GPUs only
  int64_t cpu_milli = 0;      ///< per task, as is memory
  int64_t memory_bytes = 0;
  std::vector<std::string> gpu_models;  ///< sorted; empty: any
  int32_t priority = 0;
  /// One task whose GPUs may be anywhere: the trace tells a number of GPUs and no tasks. A placement that
  /// consolidates decides how many of them share a node. Then tasks = 1.
  uint8_t is_gpu_count = 0;

  int64_t iterations = 0;      ///< 0: not told
  Duration iteration_time{0};  ///< of one iteration with all that the job asks for

  TraceEnd end = TraceEnd::kNotTold;
  Instant recorded_start = kNever;  ///< where the trace tells when it started there, for comparison
  Instant recorded_end = kNever;

  int64_t gpu_count() const { return int64_t{tasks} * gpus_per_task; }
  bool operator==(const TraceJob&) const = default;
};

/// A node of the trace's own cluster, where a format lists them.
struct TraceNode {
  std::string name;
  int32_t gpus = 0;
  std::string gpu_model;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  bool operator==(const TraceNode&) const = default;
};

}  // namespace weft::sim
