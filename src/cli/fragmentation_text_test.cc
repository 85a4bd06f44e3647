#include "cli/present.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Eight idle GPUs and one job that has ended.
service::ClusterInfo idle_cluster() {
  service::ClusterInfo cluster;
  cluster.gpus = cluster.gpus_free = 8;
  cluster.gpu_milli_free = 8000;
  cluster.fragment_milli = 2000;
  cluster.fragment_ratio = 0.25;
  cluster.jobs_ended = 1;
  return cluster;
}

TEST(FragmentationText, SaysHowMuchOfWhatIsFreeIsOfNoUse) {
  EXPECT_EQ(fragmentation_text(idle_cluster()), "8 of 8 GPUs free; fragmentation 25.0 %: 2.00 fit no likely job");
}

TEST(FragmentationText, IsShortWhereThereIsNone) {
  service::ClusterInfo cluster = idle_cluster();
  cluster.fragment_milli = cluster.fragment_ratio = 0;
  EXPECT_EQ(fragmentation_text(cluster), "8 of 8 GPUs free; fragmentation 0 %");
}

TEST(FragmentationText, GivesNoFigureBeforeAJobWasSeen) {
  service::ClusterInfo cluster = idle_cluster();
  cluster.jobs_ended = 0;
  EXPECT_EQ(fragmentation_text(cluster), "8 of 8 GPUs free; fragmentation: no jobs seen yet");
  for (int64_t service::ClusterInfo::* seen :
       {&service::ClusterInfo::jobs_pending, &service::ClusterInfo::jobs_running, &service::ClusterInfo::jobs_ended}) {
    service::ClusterInfo with = cluster;
    with.*seen = 1;
    EXPECT_THAT(fragmentation_text(with), HasSubstr("25.0 %"));
  }
}

TEST(FragmentationText, GivesNoFigureWhereNoJobAskedForGpus) {
  service::ClusterInfo cluster = idle_cluster();
  cluster.fragment_milli = cluster.fragment_ratio = std::nullopt;
  EXPECT_EQ(fragmentation_text(cluster), "8 of 8 GPUs free; fragmentation: no jobs seen yet that ask for GPUs");
}

TEST(FragmentationText, GivesNoFigureWhereNothingIsFree) {
  service::ClusterInfo cluster = idle_cluster();
  cluster.gpus_free = 0;
  cluster.gpu_milli_free = 500;
  EXPECT_THAT(fragmentation_text(cluster), HasSubstr("fragmentation 25.0 %")) << "a part of a GPU is free";
  cluster.gpu_milli_free = 0;
  EXPECT_EQ(fragmentation_text(cluster), "0 of 8 GPUs free, so there is no fragmentation");
  cluster.gpus = 0;
  EXPECT_EQ(fragmentation_text(cluster), "no GPUs");
}

}  // namespace
}  // namespace weft::cli
