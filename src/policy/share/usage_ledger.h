#pragma once

#include "base/units.h"
#include "policy/share/decay.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

// Who has used how much, with the past counting less and less. A row is a queue, or a user of a queue, as the caller
// numbers them; what counts for a queue's ancestors too the caller adds to each of them.

/// What is held: GPUs in units of 1/kGpuUnits, and what such a GPU counts for, by its model (1000: one).
struct GpuUse {
  int64_t gpu_units = 0;
  int64_t weight_milli = 1000;
};

/// Usage is kept in millionths of a (weighted) GPU-second, at most kUsageMax.
inline constexpr int64_t kUsageGpuSecond = 1'000'000;
inline constexpr int64_t kUsageGpuHour = 3600 * kUsageGpuSecond;
inline constexpr int64_t kUsageMax = int64_t{1} << 62;

/// Usage of which half is forgotten in every half life: at every moment the integral of what was held over the past,
/// times 2^(-age / half_life). For a holding of r GPUs over the last t this is r (h / ln 2) (1 - 2^(-t / h)), so that
/// nothing needs to be added while jobs only run, and what is found does not depend on how often it is looked at.
///
/// A row is brought up to date when what it holds changes, and then rounded once: integers throughout, the same on
/// every machine for the same starts and stops.
class UsageLedger {
 public:
  /// kEndless: nothing is forgotten.
  explicit UsageLedger(Duration half_life);
  /// New rows have used nothing.
  void resize(size_t rows) { rows_.resize(rows); }
  size_t size() const { return rows_.size(); }

  /// From now on the row holds that much more, or less. Requires, here and below: `now` is not before the row's last
  /// change.
  void start(size_t row, const GpuUse& use, Instant now);
  /// Requires: start() was called with the same use.
  void stop(size_t row, const GpuUse& use, Instant now);
  /// Usage that was had elsewhere and has already decayed.
  void add(size_t row, int64_t usage, Instant now);
  /// Cost: some 200 ns.
  int64_t usage(size_t row, Instant now) const;

 private:
  struct Row {
    int64_t usage = 0;  ///< at `since`
    int64_t rate = 0;   ///< of what is held: sum of gpu_units x weight_milli
    Instant since;
  };

  void change_rate(size_t row, int64_t change, Instant now);

  Duration half_life_;
  std::vector<Row> rows_;
};

/// Usage as Slurm keeps it: once in a period all that was used decays, and then what ran in the period is added, as if
/// all of it were as old as its beginning. In millionths of a billed second.
class SlurmLedger {
 public:
  explicit SlurmLedger(int64_t half_life_s) : half_life_s_(half_life_s) {}
  void resize(size_t rows) { usage_.resize(rows); }
  size_t size() const { return usage_.size(); }

  /// First in a period: usage *= d^elapsed_s, of every row. Time that the scheduler was down counts too.
  void decay(int64_t elapsed_s);
  /// Then for each job that ran: usage += run_s x d^run_s x billing. `billing_milli`: what the job's resources are
  /// billed a second, in thousandths; `run_s`: how long it ran in this period.
  void add(size_t row, int64_t billing_milli, int64_t run_s);
  int64_t usage(size_t row) const { return usage_[row]; }

 private:
  int64_t half_life_s_;
  std::vector<int64_t> usage_;
};

}  // namespace weft
