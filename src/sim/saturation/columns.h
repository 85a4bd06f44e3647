#pragma once

#include "model/view.h"
#include "sim/saturation/saturation.h"

#include <array>
#include <cstdint>

namespace weft::sim {

/// Gathers one sample after every pod into means per percent arrived.
class ColumnMeans {
 public:
  /// `empty` is what the cluster measures before the first pod.
  ColumnMeans(int64_t total_milli, const FragmentationView& empty);

  struct Sample {
    int64_t arrived_milli = 0;
    int64_t used_milli = 0;
    FragmentationView fragments;
  };
  /// Halves of a percent round to the even one. Requires: samples come in order of arrival.
  void add(const Sample& sample);

  /// Nothing changes between two arrivals, so a percent on which nothing fell (few, large pods step over it, or all
  /// have come) shows the last sample before it, and before the first the empty cluster.
  std::array<SaturationColumn, kPercents> columns() const;

 private:
  struct Gathered {
    SaturationColumn sum;
    SaturationColumn last;
  };
  SaturationColumn column_of(const Sample& sample) const;

  int64_t total_milli_;
  SaturationColumn empty_;
  std::array<Gathered, kPercents> by_percent_{};
};

}  // namespace weft::sim
