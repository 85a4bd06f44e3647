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

ColumnMeans::ColumnMeans(int64_t total_milli, const FragmentationView& empty)
    : total_milli_(total_milli), empty_(column_of({.fragments = empty})) {}

SaturationColumn ColumnMeans::column_of(const Sample& sample) const {
  const auto total = static_cast<double>(total_milli_);
  return {.allocation = 100 * static_cast<double>(sample.used_milli) / total,
          .fragment_ratio = 100 * sample.fragments.ratio(),
          .fragment_amount = 100 * sample.fragments.fragment_milli / total};
}

void ColumnMeans::add(const Sample& sample) {
  const int64_t percent = rounded_percent(sample.arrived_milli, total_milli_);
  if (percent >= static_cast<int64_t>(kPercents)) return;
  Gathered& here = by_percent_[static_cast<size_t>(percent)];
  here.last = column_of(sample);
  here.sum.allocation += here.last.allocation;
  here.sum.fragment_ratio += here.last.fragment_ratio;
  here.sum.fragment_amount += here.last.fragment_amount;
  ++here.sum.samples;
}

std::array<SaturationColumn, kPercents> ColumnMeans::columns() const {
  std::array<SaturationColumn, kPercents> columns;
  SaturationColumn before = empty_;
  for (size_t percent = 0; percent < kPercents; ++percent) {
    const auto& [sum, last] = by_percent_[percent];
    columns[percent] = before;
    if (sum.samples == 0) continue;
    const double n = sum.samples;
    columns[percent] = {.allocation = sum.allocation / n,
                        .fragment_ratio = sum.fragment_ratio / n,
                        .fragment_amount = sum.fragment_amount / n,
                        .samples = sum.samples};
    before = last;
  }
  return columns;
}

}  // namespace weft::sim
