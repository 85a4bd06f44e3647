#include "sim/saturation/columns.h"

namespace weft::sim {

namespace {

/// 100 * part / whole, rounded to whole percents, halves to even. Requires: both not negative, whole over 0.
int64_t rounded_percent(int64_t part, int64_t whole) {
  const int64_t twice = 200 * part;
  const int64_t percent = (twice + whole) / (2 * whole);
  const bool is_half = (twice + whole) % (2 * whole) == 0;
  return is_half && percent % 2 == 1 ? percent - 1 : percent;
}

}  // namespace

void ColumnMeans::add(const Sample& sample) {
  const int64_t percent = rounded_percent(sample.arrived_milli, total_milli_);
  if (percent < 0 || percent >= static_cast<int64_t>(sums_.size())) return;
  const auto total = static_cast<double>(total_milli_);
  Sums& sums = sums_[static_cast<size_t>(percent)];
  sums.allocation += 100 * static_cast<double>(sample.used_milli) / total;
  sums.ratio += 100 * sample.fragments.ratio();
  sums.amount += 100 * sample.fragments.fragment_milli / total;
  ++sums.samples;
}

std::array<SaturationColumn, kPercents> ColumnMeans::columns() const {
  std::array<SaturationColumn, kPercents> columns;
  for (size_t percent = 0; percent < kPercents; ++percent) {
    Sums sums = sums_[percent];
    if (sums.samples == 0) {
      for (const size_t near : {percent - 1, percent + 1}) {
        if (near >= sums_.size()) continue;  // below 0 wraps round to a huge number
        sums.allocation += sums_[near].allocation;
        sums.ratio += sums_[near].ratio;
        sums.amount += sums_[near].amount;
        sums.samples += sums_[near].samples;
      }
    }
    if (sums.samples == 0) continue;
    const double n = sums.samples;
    columns[percent] = {.allocation = sums.allocation / n,
                        .fragment_ratio = sums.ratio / n,
                        .fragment_amount = sums.amount / n,
                        .samples = sums.samples};
  }
  return columns;
}

}  // namespace weft::sim
