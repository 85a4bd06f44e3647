#include "sim/saturation/columns.h"

#include <gtest/gtest.h>

namespace weft::sim {
namespace {

ColumnMeans::Sample sample(int64_t arrived, int64_t used, double fragments) {
  return {.arrived_milli = arrived,
          .used_milli = used,
          .fragments = {.gpu_milli_total = 100'000, .gpu_milli_free = 100'000 - used, .fragment_milli = fragments}};
}

/// A cluster whose fragments are a fifth of it when it is empty.
ColumnMeans means_of_100_gpus() {
  return {100'000, {.gpu_milli_total = 100'000, .gpu_milli_free = 100'000, .fragment_milli = 20'000}};
}

TEST(ColumnMeans, AreMeansOverTheSamplesThatRoundToThePercent) {
  ColumnMeans means = means_of_100_gpus();
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
  ColumnMeans means = means_of_100_gpus();
  means.add(sample(50'500, 1'000, 0));
  means.add(sample(51'500, 2'000, 0));
  const auto columns = means.columns();
  EXPECT_DOUBLE_EQ(columns[50].allocation, 1);
  EXPECT_DOUBLE_EQ(columns[52].allocation, 2);
  EXPECT_EQ(columns[51].samples, 0U);
}

TEST(ColumnMeans, APercentThatWasSteppedOverShowsTheLastSampleBeforeIt) {
  ColumnMeans means = means_of_100_gpus();
  means.add(sample(9'600, 9'000, 9'100));
  means.add(sample(10'000, 10'000, 18'000));
  means.add(sample(13'000, 14'000, 0));
  const auto columns = means.columns();
  EXPECT_DOUBLE_EQ(columns[10].allocation, 9.5);
  for (const size_t between : {11U, 12U}) {
    EXPECT_DOUBLE_EQ(columns[between].allocation, 10) << "the last sample, not the mean over its percent";
    EXPECT_DOUBLE_EQ(columns[between].fragment_ratio, 20);
    EXPECT_DOUBLE_EQ(columns[between].fragment_amount, 18);
    EXPECT_EQ(columns[between].samples, 0U);
  }
  EXPECT_DOUBLE_EQ(columns[13].allocation, 14);
  EXPECT_DOUBLE_EQ(columns[130].allocation, 14) << "after the last arrival nothing changes any more";
}

TEST(ColumnMeans, BeforeTheFirstArrivalTheClusterIsEmpty) {
  ColumnMeans means = means_of_100_gpus();
  means.add(sample(3'000, 3'000, 0));
  const auto columns = means.columns();
  for (const size_t before : {0U, 1U, 2U}) {
    EXPECT_DOUBLE_EQ(columns[before].allocation, 0);
    EXPECT_DOUBLE_EQ(columns[before].fragment_ratio, 20);
    EXPECT_DOUBLE_EQ(columns[before].fragment_amount, 20);
  }
  EXPECT_DOUBLE_EQ(columns[3].fragment_ratio, 0);
}

TEST(ColumnMeans, WhatArrivesBeyondTheLastPercentIsLeftOut) {
  ColumnMeans means = means_of_100_gpus();
  means.add(sample(120'000, 90'000, 0));
  means.add(sample(131'000, 95'000, 0));
  EXPECT_DOUBLE_EQ(means.columns()[130].allocation, 90);
  means.add(sample(500'000, 99'000, 0));
  EXPECT_DOUBLE_EQ(means.columns()[130].allocation, 90);
  means.add(sample(130'000, 80'000, 0));
  EXPECT_DOUBLE_EQ(means.columns()[130].allocation, 80);
}

}  // namespace
}  // namespace weft::sim
