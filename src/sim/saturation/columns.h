#pragma once

#include "model/view.h"
#include "sim/saturation/saturation.h"

#include <array>
#include <cstdint>

namespace weft::sim {

/// Gathers one sample after every pod into means per percent arrived.
class ColumnMeans {
 public:
  explicit ColumnMeans(int64_t total_milli) : total_milli_(total_milli) {}

  struct Sample {
    int64_t arrived_milli = 0;
    int64_t used_milli = 0;
    FragmentationView fragments;
  };
  /// Halves of a percent round to the even one.
  void add(const Sample& sample);

  /// A percent on which nothing fell shows the mean over its two neighbours (few, large pods step over it).
  std::array<SaturationColumn, kPercents> columns() const;

 private:
  struct Sums {
    double allocation = 0, ratio = 0, amount = 0;
    uint32_t samples = 0;
  };
  int64_t total_milli_;
  std::array<Sums, kPercents + 1> sums_{};  ///< one beyond the last, for its neighbourhood
};

}  // namespace weft::sim
