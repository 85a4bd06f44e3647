#include "policy/registry.h"
#include "scheduler/core.h"
#include "scheduler/intake.h"
#include "scheduler/lifecycle.h"
#include "scheduler/queue_order.h"
#include "scheduler/rungs/admit.h"
#include "scheduler/rungs/place.h"
#include "scheduler/test_world.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

PolicyParts fifo_parts() {
  PolicyParts parts;
  parts.job_order = std::move(*make_job_order("fifo"));
  parts.queue_order = make_share_order();
  return parts;
}

/// The parts behind the facade, to see the timeline that is not shown to anybody else yet.
struct ExpectedEnd : ::testing::Test {
  void tell(int64_t second, EventBody body) {
    intake.apply({Instant{} + seconds(second), std::move(body)});
    admit.run();
    place.run();
  }

  Core core{fifo_parts()};
  Lifecycle lifecycle{core};
  ExpectedTasks expected;
  Intake intake{core, lifecycle, expected};
  AdmitRung admit{core, lifecycle};
  PlaceRung place{core, lifecycle};
};

TEST_F(ExpectedEnd, IsTheStartAndTheEstimateAndGoesWithTheJob) {
  const JobId job = make_id<JobId>(0);
  tell(0, QueueDefined{QueueSpec{.name = "default"}});
  tell(0, NodeAdded{node_spec("n", 1)});
  JobSpec spec = job_spec("j", {.gpus = 1});
  spec.estimate = seconds(100);
  tell(1, JobSubmitted{spec});
  tell(5, HoldAccepted{job, 1});
  EXPECT_FALSE(core.state.timeline().contains(job)) << "it does not run yet";
  tell(7, GangStarted{job, 1});
  ASSERT_TRUE(core.state.timeline().contains(job));
  EXPECT_EQ(core.state.timeline().end_of(job), Instant{} + seconds(107));
  tell(9, TaskEnded{job, 1, 0, TaskOutcome::kDone, 0});
  EXPECT_FALSE(core.state.timeline().contains(job));
}

}  // namespace
}  // namespace weft
