#include "engine/local/local_engine_testing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <csignal>

namespace weft::local {
namespace {

using testing::HasSubstr;

TEST_F(LocalEngineTest, HoldStartAndEndAreEachAnsweredOnce) {
  run(kJob, shell("echo hello; echo trouble >&2; exit 3"), {on_devices(0b11)});
  EXPECT_EQ(wait_for_end().exit_status, 3);
  EXPECT_EQ(ends().front().outcome, TaskOutcome::kFailed);
  EXPECT_EQ(all<HoldAccepted>().size(), 1U);
  EXPECT_EQ(all<GangStarted>().size(), 1U);
  EXPECT_EQ(ends().size(), 1U);
  EXPECT_EQ(output(), "hello\n");
  EXPECT_EQ(error_output(), "trouble\n");
  EXPECT_EQ(engine_->tasks(kJob).at(0).exit_status, 3);
}

TEST_F(LocalEngineTest, AJobIsToldItsDevicesAndWhoItIs) {
  JobSpec spec = shell(
      "echo $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER $WEFT_JOB_ID $WEFT_JOB_NAME $WEFT_TASK $OMP_NUM_THREADS "
      "${RANK-none}");
  spec.roles[0].cpu_milli = 3500;
  run(kJob, spec, {on_devices(0b1010)});
  wait_for_end();
  EXPECT_EQ(output(), "1,3 PCI_BUS_ID 7 test 0 3 none\n");
}

TEST_F(LocalEngineTest, ASignalBecomesTheStatusThatShellsGive) {
  run(kJob, shell("kill -SEGV $$"), {on_devices(0)});
  EXPECT_EQ(wait_for_end().exit_status, 128 + SIGSEGV);
}

TEST_F(LocalEngineTest, ACommandThatDoesNotExistEndsWith127AndSaysSo) {
  JobSpec spec = shell("");
  spec.launch.command = {"no-such-command", "x"};
  run(kJob, spec, {on_devices(0)});
  EXPECT_EQ(wait_for_end().exit_status, 127);
  EXPECT_EQ(error_output(), "weft: no-such-command: command not found\n");
}

TEST_F(LocalEngineTest, AFileThatIsNoProgramEndsWith126) {
  JobSpec spec = shell("");
  spec.launch.command = {scratch_};
  run(kJob, spec, {on_devices(0)});
  EXPECT_EQ(wait_for_end().exit_status, 126);
}

TEST_F(LocalEngineTest, AScriptRunsFromItsCopyWithItsArguments) {
  JobSpec spec = shell("");
  spec.launch.command = {"train.sh", "a b", "c"};
  spec.launch.script = "#!/bin/sh\nprintf '%s|' \"$@\"; pwd\n";
  run(kJob, spec, {on_devices(0)});
  EXPECT_EQ(wait_for_end().exit_status, 0);
  EXPECT_EQ(output(), "a b|c|" + scratch_ + "\n");
}

TEST_F(LocalEngineTest, AGangStartsTogetherAndKnowsItsRanks) {
  JobSpec spec = shell("echo $RANK/$WORLD_SIZE $CUDA_VISIBLE_DEVICES $WEFT_TASK_GPUS");
  spec.roles[0].count = 3;
  spec.launch.output_path = "rank-%t-of-%j.out";
  run(kJob, spec, {on_devices(0b1), on_devices(0b100), on_devices(0b10)});
  wait_until([&] { return ends().size() == 3; });
  EXPECT_EQ(all<GangStarted>().size(), 1U);
  EXPECT_EQ(read_file(scratch_ + "/rank-0-of-7.out"), "0/3 0,2,1 0\n");
  EXPECT_EQ(read_file(scratch_ + "/rank-1-of-7.out"), "1/3 0,2,1 2\n");
  EXPECT_EQ(read_file(scratch_ + "/rank-2-of-7.out"), "2/3 0,2,1 1\n");
}

TEST_F(LocalEngineTest, WhenOneTaskOfAGangCannotStartNoneRuns) {
  JobSpec spec = shell("touch ran-$WEFT_TASK");
  spec.roles[0].count = 3;
  spec.launch.output_path = "sub-%t/out";  // of the three folders one is missing
  std::filesystem::create_directory(scratch_ + "/sub-0");
  std::filesystem::create_directory(scratch_ + "/sub-1");
  run(kJob, spec, {on_devices(0), on_devices(0), on_devices(0)});
  wait_until([&] { return !all<StartFailed>().empty(); });
  EXPECT_THAT(all<StartFailed>().front().reason, HasSubstr("/sub-2/out: No such file or directory"));
  EXPECT_TRUE(engine_->is_idle() || descendants_of(::getpid()).empty());
  EXPECT_TRUE(all<GangStarted>().empty());
  EXPECT_TRUE(ends().empty());
  for (const char* rank : {"0", "1", "2"}) EXPECT_FALSE(std::filesystem::exists(scratch_ + "/ran-" + rank));
}

TEST_F(LocalEngineTest, AWorkingDirectoryThatIsGoneIsAFailureToStart) {
  JobSpec spec = shell("true");
  spec.launch.working_directory = "/no/such/place";
  run(kJob, spec, {on_devices(0)});
  wait_until([&] { return !all<StartFailed>().empty(); });
  EXPECT_EQ(all<StartFailed>().front().reason, "cannot enter the directory /no/such/place: No such file or directory");
}

TEST_F(LocalEngineTest, AStopLetsACommandCleanUpBehindItself) {
  run(kJob, shell("trap 'sleep 0.1; touch saved; exit 5' TERM; echo > up; while :; do sleep 0.05; done"),
      {on_devices(0b1)});
  wait_for_word();
  stop(kJob, seconds(30));
  const TaskEnded end = wait_for_end();
  EXPECT_EQ(end.outcome, TaskOutcome::kStopped);
  EXPECT_EQ(end.exit_status, 5);
  EXPECT_TRUE(std::filesystem::exists(scratch_ + "/saved"));
}

TEST_F(LocalEngineTest, WhatIgnoresTermIsKilledWhenTheGraceIsOver) {
  run(kJob, shell("trap '' TERM; echo > up; while :; do sleep 1000; done"), {on_devices(0b1)});
  wait_for_word();
  stop(kJob, milliseconds(50));
  EXPECT_EQ(wait_for_end().exit_status, 128 + SIGKILL);
}

TEST_F(LocalEngineTest, AProcessThatForkedTwiceIntoASessionOfItsOwnIsEndedToo) {
  run(kJob, shell("(setsid sh -c 'trap \"\" TERM HUP; echo > up; while :; do sleep 1000; done' &); sleep 1000"),
      {on_devices(0b1)});
  wait_for_word();
  stop(kJob, milliseconds(50));
  wait_for_end();
  EXPECT_EQ(descendants_of(::getpid()).size(), 0U);
}

TEST_F(LocalEngineTest, ATaskHasNotEndedWhileAProcessOfItIsLeft) {
  run(kJob,
      shell("mkfifo r; (setsid sh -c 'trap \"touch ended; exit\" TERM; echo > r; while :; do sleep 0.05; done' &); "
            "read x < r"),
      {on_devices(0b1)});
  const TaskEnded end = wait_for_end();
  EXPECT_TRUE(std::filesystem::exists(scratch_ + "/ended"));
  EXPECT_EQ(end.outcome, TaskOutcome::kDone) << "the command itself ended well";
}

TEST_F(LocalEngineTest, AJobThatWaitsForItsLastPipeLosesNoOutput) {
  run(kJob, shell("exec 3>&1; { sleep 0.2; cat >&3; } <<X &\nlast words\nX"), {on_devices(0)});
  EXPECT_EQ(wait_for_end().exit_status, 0);
  EXPECT_EQ(output(), "last words\n");
}

TEST_F(LocalEngineTest, WhenASupervisorIsKilledItsProcessesAreSweptUp) {
  run(kJob, shell("trap '' TERM; setsid sleep 1000 & echo > up; sleep 1000"), {on_devices(0b1)});
  wait_for_word();
  const std::vector<Process> below = descendants_of(::getpid());
  ASSERT_GE(below.size(), 3U);
  ASSERT_EQ(below.front().parent, ::getpid()) << "the first one is the supervisor";
  ::kill(below.front().pid, SIGKILL);
  EXPECT_EQ(wait_for_end().exit_status, 128 + SIGKILL);
  EXPECT_EQ(descendants_of(::getpid()).size(), 0U);
}

TEST_F(LocalEngineTest, ADeviceIsNeverHeldTwice) {
  hold(JobId{1}, shell("true"), {on_devices(0b0110)});
  hold(JobId{2}, shell("true"), {on_devices(0b0100)});
  ASSERT_EQ(all<HoldRefused>().size(), 1U);
  EXPECT_EQ(all<HoldRefused>().front().reason, "it was given GPU 2, which job 1 still has");
  command({.kind = DecisionKind::kRelease, .job = JobId{1}, .attempt = 1});
  hold(JobId{2}, shell("true"), {on_devices(0b0100)}, 2);
  EXPECT_EQ(all<HoldAccepted>().size(), 2U);
  command({.kind = DecisionKind::kRelease, .job = JobId{2}, .attempt = 2});
}

TEST_F(LocalEngineTest, ACommandGivenTwiceHasTheEffectOfOne) {
  const JobSpec spec = shell("echo once");
  hold(kJob, spec, {on_devices(0b1)});
  hold(kJob, spec, {on_devices(0b1)});
  start(kJob);
  start(kJob);
  wait_for_end();
  start(kJob);
  EXPECT_EQ(all<HoldAccepted>().size(), 1U);
  EXPECT_EQ(all<GangStarted>().size(), 1U);
  EXPECT_EQ(ends().size(), 1U);
  EXPECT_EQ(output(), "once\n");
}

TEST_F(LocalEngineTest, AStopBeforeTheStartIsAnsweredByStartFailed) {
  hold(kJob, shell("touch ran"), {on_devices(0b1)});
  Decisions decisions;
  decisions.list = {{.kind = DecisionKind::kStart, .job = kJob, .attempt = 1},
                    {.kind = DecisionKind::kStop, .job = kJob, .attempt = 1}};
  engine_->execute(decisions);
  wait_until([&] { return !all<StartFailed>().empty(); });
  EXPECT_TRUE(ends().empty());
  EXPECT_FALSE(std::filesystem::exists(scratch_ + "/ran"));
}

TEST_F(LocalEngineTest, AnUnknownJobIsRefused) {
  command({.kind = DecisionKind::kHold, .job = JobId{99}, .attempt = 1}, {on_devices(0b1)});
  EXPECT_EQ(all<HoldRefused>().size(), 1U);
  start(JobId{98});
  EXPECT_EQ(all<StartFailed>().size(), 1U);
}

TEST_F(LocalEngineTest, KillDoesNotWaitForTheGrace) {
  run(kJob, shell("trap '' TERM; echo > up; while :; do sleep 1000; done"), {on_devices(0b1)});
  wait_for_word();
  stop(kJob, hours(1));
  engine_->kill_job(kJob);
  EXPECT_EQ(wait_for_end().exit_status, 128 + SIGKILL);
}

}  // namespace
}  // namespace weft::local
