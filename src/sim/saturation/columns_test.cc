#include "sim/saturation/columns.h"

#include <gtest/gtest.h>

namespace weft::sim {
namespace {

ColumnMeans::Sample sample(int64_t arrived, int64_t used, double fragments) {
  return {.arrived_milli = arrived,
          .used_milli = used,
          .fragments = {.gpu_milli_total = 100'000, .gpu_milli_free = 100'000 - used, .fragment_milli = fragments}};
}

TEST(ColumnMeans, AreMeansOverTheSamplesThatRoundToThePercent) {
  ColumnMeans means(100'000);
  means.add(sample(49'501, 40'000, 6'000));
  means.add(sample(50'400, 50'000, 10'000));
  means.add(sample(50'501, 60'000, 0));  // 51 %
  const auto columns = means.columns();
  EXPECT_EQ(columns[50].samples, 2U);
  EXPECT_DOUBLE_EQ(columns[50].allocation, 45);
  EXPECT_DOUBLE_EQ(columns[50].fragment_ratio, 15);  // 6 of 60 and 10 of 50
  EXPECT_DOUBLE_EQ(columns[50].fragment_amount, 8);
  EXPECT_EQ(columns[51].samples, 1U);
}

TEST(ColumnMeans, HalvesRoundToTheEvenPercent) {
  ColumnMeans means(100'000);
  means.add(sample(50'500, 1'000, 0));
  means.add(sample(51'500, 2'000, 0));
  const auto columns = means.columns();
  EXPECT_DOUBLE_EQ(columns[50].allocation, 1);
  EXPECT_DOUBLE_EQ(columns[52].allocation, 2);
  EXPECT_EQ(columns[51].samples, 2U) << "nothing fell on it: both neighbours stand in";
}

TEST(ColumnMeans, APercentThatWasSteppedOverShowsItsNeighbours) {
  ColumnMeans means(100'000);
  means.add(sample(10'000, 10'000, 0));
  means.add(sample(12'000, 14'000, 0));
  const auto columns = means.columns();
  EXPECT_EQ(columns[11].samples, 2U);
  EXPECT_DOUBLE_EQ(columns[11].allocation, 12);
  EXPECT_EQ(columns[14].samples, 0U);
}

TEST(ColumnMeans, WhatArrivesBeyondTheLastPercentIsLeftOut) {
  ColumnMeans means(100'000);
  means.add(sample(500'000, 10'000, 0));
  for (const SaturationColumn& column : means.columns()) EXPECT_EQ(column.samples, 0U);
}

}  // namespace
}  // namespace weft::sim
