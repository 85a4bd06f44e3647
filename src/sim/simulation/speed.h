#pragma once

#include <cstdint>
#include <string_view>

namespace weft::sim {

/// The speed at which a trace's run times were taken. Speeds are in millionths of it.
inline constexpr int64_t kFullSpeed = 1'000'000;

/// Where a job runs, and beside whom: what its speed may depend on.
struct JobPlace {
  std::string_view network;  ///< that it trains (TraceJob::model); empty: the trace does not say
  int32_t gpus = 0;          ///< that it holds in all
  int32_t nodes = 1;         ///< that it is spread over
  std::string_view device_model;
  int32_t sharers = 1;  ///< jobs on that of its devices that most share, itself among them
};

/// How fast jobs get on where they are. Asked when a job starts and when its neighbours change; on devices of several
/// models once for each, and the slowest counts.
class SpeedModel {
 public:
  virtual ~SpeedModel() = default;
  /// In millionths of the full speed, 1 or more. The same question has the same answer, from whatever thread.
  virtual int64_t speed_ppm(const JobPlace& place) const = 0;
  /// Whether JobPlace::sharers says anything to it.
  virtual bool reads_sharers() const = 0;
};

}  // namespace weft::sim
