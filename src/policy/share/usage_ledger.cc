#include "policy/share/usage_ledger.h"

#include "base/check.h"

#include <algorithm>

namespace weft {
namespace {

__extension__ using Wide = __int128;

constexpr int64_t kInverseLn2 = 6'653'256'548'922'161'246;  // 1 / ln 2 in 2^-62
constexpr int64_t kRateOfOneGpu = kGpuUnits * 1000;

int64_t held_at_most(Wide usage) { return static_cast<int64_t>(std::min<Wide>(usage, kUsageMax)); }

/// The integral of 2^(-age / half_life) over the last `elapsed`, where `decay` is left at its far end.
Duration effective_span(Duration elapsed, Duration half_life, Decay decay) {
  if (half_life >= kEndless) return elapsed;
  const Decay gone{Decay::kOne - decay.factor};
  return {static_cast<int64_t>(Wide{gone.of(half_life.ns)} * kInverseLn2 >> Decay::kBits)};
}

}  // namespace

UsageLedger::UsageLedger(Duration half_life) : half_life_(half_life) {
  WEFT_CHECK(half_life.ns > 0, "a half life takes time");
}

int64_t UsageLedger::usage(size_t row, Instant now) const {
  const Row& r = rows_[row];
  if (now == r.since) return r.usage;
  const Duration elapsed = now - r.since;
  const Decay decay = half_life_decay(elapsed, half_life_);
  const Duration span = effective_span(elapsed, half_life_, decay);
  const Wide accrued = Wide{r.rate} * span.ns / (Wide{kRateOfOneGpu} * (seconds(1).ns / kUsageGpuSecond));
  return held_at_most(Wide{decay.of(r.usage)} + accrued);
}

void UsageLedger::change_rate(size_t row, int64_t change, Instant now) {
  Row& r = rows_[row];
  r = {.usage = usage(row, now), .rate = r.rate + change, .since = now};
  WEFT_CHECK(r.rate >= 0, "what stops has been started");
}

void UsageLedger::start(size_t row, const GpuUse& use, Instant now) {
  change_rate(row, use.gpu_units * use.weight_milli, now);
}

void UsageLedger::stop(size_t row, const GpuUse& use, Instant now) {
  change_rate(row, -use.gpu_units * use.weight_milli, now);
}

void UsageLedger::add(size_t row, int64_t usage, Instant now) {
  change_rate(row, 0, now);
  rows_[row].usage = held_at_most(Wide{rows_[row].usage} + usage);
}

void SlurmLedger::decay(int64_t elapsed_s) {
  const Decay decay = slurm_decay(elapsed_s, half_life_s_);
  for (int64_t& usage : usage_) usage = decay.of(usage);
}

void SlurmLedger::add(size_t row, int64_t billing_milli, int64_t run_s) {
  const Wide run = Wide{billing_milli} * run_s * 1000;  // thousandths to millionths
  usage_[row] = held_at_most(Wide{usage_[row]} + slurm_decay(run_s, half_life_s_).of(held_at_most(run)));
}

}  // namespace weft
