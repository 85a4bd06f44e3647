#include "sim/simulation/speed_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const SpeedModel> table(std::string_view text) {
  const auto speeds = parse_speeds(text, "speeds.yaml");
  EXPECT_TRUE(speeds) << speeds.error().message;
  return speeds ? *speeds : nullptr;
}

std::string fault(std::string_view text) {
  const auto speeds = parse_speeds(text, "speeds.yaml");
  EXPECT_FALSE(speeds) << text;
  return speeds ? std::string() : speeds.error().message;
}

TEST(SpeedTable, WhatNoTableNamesIsAtFullSpeed) {
  const auto speeds = table("models: {T4: 0.4}\n");
  EXPECT_EQ(speeds->speed_ppm({.device_model = "V100"}), kFullSpeed);
  EXPECT_EQ(speeds->speed_ppm({.nodes = 9, .device_model = "T4", .sharers = 5}), 400'000);
  EXPECT_FALSE(speeds->reads_sharers());
}

TEST(SpeedTable, ANetworksOwnSpeedStandsInPlaceOfItsModels) {
  const auto speeds = table("models: {T4: 0.4, K80: 0.2}\nnetworks: {resnet50: {T4: 0.5}}\n");
  EXPECT_EQ(speeds->speed_ppm({.network = "resnet50", .device_model = "T4"}), 500'000);
  EXPECT_EQ(speeds->speed_ppm({.network = "resnet50", .device_model = "K80"}), 200'000);
  EXPECT_EQ(speeds->speed_ppm({.network = "bert", .device_model = "T4"}), 400'000);
}

TEST(SpeedTable, CountsHoldFromThereOnAndTablesMultiply) {
  const auto speeds = table("models: {T4: 0.5}\nnodes: {2: 0.9, 8: 0.5}\nsharing: {2: 0.6}\n");
  EXPECT_TRUE(speeds->reads_sharers());
  EXPECT_EQ(speeds->speed_ppm({.nodes = 1}), kFullSpeed);
  EXPECT_EQ(speeds->speed_ppm({.nodes = 7}), 900'000);
  EXPECT_EQ(speeds->speed_ppm({.nodes = 8}), 500'000);
  EXPECT_EQ(speeds->speed_ppm({.nodes = 2, .device_model = "T4", .sharers = 3}), 270'000);
}

TEST(SpeedTable, NobodyEverStandsStill) {
  const auto speeds = table("models: {T4: 0.000001}\nnodes: {2: 0.000001}\nsharing: {2: 0.000001}\n");
  EXPECT_EQ(speeds->speed_ppm({.nodes = 2, .device_model = "T4", .sharers = 2}), 1);
}

TEST(SpeedTable, FaultsNameTheirPlace) {
  EXPECT_THAT(fault("models: {T4: 0}\n"),
              HasSubstr("speeds.yaml:1:14: T4 is '0'; a number from 1e-06 to 1000 is expected"));
  EXPECT_THAT(fault("nodes: {1: 0.5}\n"), HasSubstr("speeds.yaml:1:9: nodes is '1'; a whole number from 2"));
  EXPECT_THAT(fault("modles: {T4: 1}\n"), HasSubstr("did you mean 'models'"));
  EXPECT_THAT(fault("models: fast\n"), HasSubstr("speeds.yaml:1:9: models is fast; a map is expected"));
  EXPECT_THAT(fault("networks: {bert: 0.5}\n"), HasSubstr("speeds.yaml:1:18: bert is 0.5; a map is expected"));
  EXPECT_THAT(fault("# nothing\n"), HasSubstr("expected one table of speeds"));
  EXPECT_THAT(fault("models: {T4: 1\n"), HasSubstr("speeds.yaml:"));
}

}  // namespace
}  // namespace weft::sim
