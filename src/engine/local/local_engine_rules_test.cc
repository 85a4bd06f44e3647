#include "engine/local/file_descriptor.h"
#include "engine/local/lease.h"
#include "engine/local/local_engine_testing.h"
#include "engine/local/process_handle.h"

#include <gmock/gmock.h>

#include <csignal>
#include <sys/wait.h>
#include <thread>

// Rules about who has which device, and about asking a task to end, one by one.

namespace weft::local {
namespace {

using testing::HasSubstr;

TaskPlacement share_of(DeviceMask devices) {
  return {.node = NodeId{0}, .kind = DeviceNeedKind::kMilli, .devices = devices, .milli = 500};
}

/// The one process right below this one.
pid_t only_supervisor() {
  const std::vector<Process> below = descendants_of(::getpid());
  return below.empty() ? -1 : below.front().pid;
}

TEST_F(LocalEngineTest, ADeviceMayBeSharedByThoseWhoAskForSharesOnly) {
  hold(JobId{1}, shell("true"), {share_of(0b100)});
  hold(JobId{2}, shell("true"), {share_of(0b100)});
  EXPECT_EQ(all<HoldAccepted>().size(), 2U);
  hold(JobId{3}, shell("true"), {on_devices(0b100)});
  ASSERT_EQ(all<HoldRefused>().size(), 1U);
  EXPECT_EQ(all<HoldRefused>()[0].reason, "it was given GPU 2, which job 1 still has");
  hold(JobId{4}, shell("true"), {on_devices(0b1000)});
  hold(JobId{5}, shell("true"), {share_of(0b1000)});
  ASSERT_EQ(all<HoldRefused>().size(), 2U);
  EXPECT_EQ(all<HoldRefused>()[1].reason, "it was given GPU 3, which job 4 still has");
  for (const JobId job : {JobId{1}, JobId{2}, JobId{4}})
    command({.kind = DecisionKind::kRelease, .job = job, .attempt = 1});
}

TEST_F(LocalEngineTest, ADeviceThatTheNodeLacksIsNotHeld) {
  hold(kJob, shell("true"), {on_devices(0b1'0000'0000)});
  ASSERT_EQ(all<HoldRefused>().size(), 1U);
  EXPECT_EQ(all<HoldRefused>()[0].reason, "it was given a device that the node lacks");
  EXPECT_TRUE(engine_->is_idle());
}

TEST_F(LocalEngineTest, ARunThatWasReleasedIsNotShown) {
  hold(kJob, shell("true"), {on_devices(0b1)});
  EXPECT_EQ(engine_->tasks(kJob).size(), 1U);
  command({.kind = DecisionKind::kRelease, .job = kJob, .attempt = 1});
  EXPECT_TRUE(engine_->tasks(kJob).empty());
  EXPECT_TRUE(engine_->is_idle());
}

TEST_F(LocalEngineTest, TheOutputOfASecondRunStandsBehindThatOfTheFirst) {
  const JobSpec spec = shell("echo word");
  run(kJob, spec, {on_devices(0b1)});
  wait_for_end();
  hold(kJob, spec, {on_devices(0b1)}, 2);
  start(kJob, 2);
  wait_until([&] { return ends().size() == 2; });
  EXPECT_EQ(engine_->files(kJob, 0)->output_begin, 0) << "where the output of the job begins, not of its last run";
  EXPECT_EQ(output(), "word\nword\n");
}

TEST_F(LocalEngineTest, ATaskHasASessionOfItsOwnAndSoHasItsSupervisor) {
  run(kJob, shell("cut -d' ' -f6 /proc/$$/stat >session; echo $$ >self; echo >up; sleep 1000"), {on_devices(0)});
  wait_for_word();
  EXPECT_EQ(read_file(scratch_ + "/session"), read_file(scratch_ + "/self"));
  const pid_t supervisor = only_supervisor();
  EXPECT_EQ(::getsid(supervisor), supervisor) << "a Ctrl-C at the server's terminal is none of its business";
}

TEST_F(LocalEngineTest, ATaskGetsTheLimitOfOpenFilesThatTheServerBeganWith) {
  make_engine({.jobs_directory = scratch_, .open_files_soft_max = 100, .now = [] { return Instant{1}; }});
  run(kJob, shell("ulimit -S -n"), {on_devices(0)});
  wait_for_end();
  EXPECT_EQ(output(), "100\n");
}

TEST_F(LocalEngineTest, TheLeaseIsOfTheSupervisorAndNotOfTheTask) {
  auto lease = Lease::take(scratch_ + "/lease", hours(1), [](size_t) { FAIL() << "nobody has it"; });
  ASSERT_TRUE(lease) << lease.error().message;
  make_engine({.jobs_directory = scratch_, .lease_fd = lease->fd(), .now = [] { return Instant{1}; }});
  run(kJob, shell("for file in /proc/$$/fd/*; do readlink $file; done"), {on_devices(0)});
  wait_for_end();
  EXPECT_THAT(output(), HasSubstr("/dev/null"));
  EXPECT_THAT(output(), testing::Not(HasSubstr("/lease")));
}

TEST_F(LocalEngineTest, ALeaseLetsTasksEndByThemselvesWhilePatienceLasts) {
  const std::string path = scratch_ + "/lease";
  {
    auto first = Lease::take(path, hours(1), [](size_t) { FAIL() << "nobody has it"; });
    ASSERT_TRUE(first) << first.error().message;
    make_engine({.jobs_directory = scratch_, .lease_fd = first->fd(), .now = [] { return Instant{1}; }});
    run(kJob, shell("trap 'sleep 0.3; touch saved; exit 5' TERM; echo >up; while :; do sleep 0.05; done"),
        {on_devices(0b1)});
    wait_for_word();
  }
  stop(kJob, hours(1));
  const auto second = Lease::take(path, hours(1), [](size_t tasks) { EXPECT_EQ(tasks, 1U); });
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(std::filesystem::exists(scratch_ + "/saved"));
  EXPECT_EQ(wait_for_end().exit_status, 5);
}

TEST_F(LocalEngineTest, ASupervisorCountsAsDeafOnlyWhenTheGraceIsOver) {
  make_engine({.jobs_directory = scratch_, .deaf_after = milliseconds(10), .now = [] { return Instant{1}; }});
  run(kJob, shell("trap 'sleep 0.5; exit 5' TERM; echo >up; while :; do sleep 0.05; done"), {on_devices(0b1)});
  wait_for_word();
  stop(kJob, seconds(30));
  EXPECT_EQ(wait_for_end().exit_status, 5);
}

TEST_F(LocalEngineTest, ALaterStopMakesTheGraceNoLonger) {
  make_engine({.jobs_directory = scratch_, .deaf_after = hours(1), .now = [] { return Instant{1}; }});
  run(kJob, shell("trap '' TERM; echo >up; while :; do sleep 1000; done"), {on_devices(0b1)});
  wait_for_word();
  stop(kJob, milliseconds(50));
  stop(kJob, hours(1));
  EXPECT_EQ(wait_for_end().exit_status, 128 + SIGKILL);
}

TEST_F(LocalEngineTest, AStopOfOneTaskLeavesItsPeersAlone) {
  JobSpec spec = shell("echo >up; if [ $WEFT_TASK = 0 ]; then read x <go; else exec sleep 1000; fi");
  spec.roles[0].count = 2;
  ASSERT_EQ(::mkfifo((scratch_ + "/go").c_str(), 0600), 0);
  const FileDescriptor go(::open((scratch_ + "/go").c_str(), O_RDWR | O_CLOEXEC));
  run(kJob, spec, {on_devices(0b01), on_devices(0b10)});
  wait_for_word();
  command({.kind = DecisionKind::kStop, .job = kJob, .attempt = 1, .task = 1, .grace = seconds(30)});
  EXPECT_EQ(wait_for_end().task, 1);
  EXPECT_EQ(ends().front().outcome, TaskOutcome::kStopped);
  ASSERT_EQ(::write(go.get(), "\n", 1), 1);
  wait_until([&] { return ends().size() == 2; });
  EXPECT_EQ(ends().back().outcome, TaskOutcome::kDone);
}

TEST_F(LocalEngineTest, AStoppedProcessIsWokenToHearThatItShouldEnd) {
  run(kJob, shell("trap 'exit 5' TERM; echo >up; kill -STOP $$; while :; do sleep 0.05; done"), {on_devices(0b1)});
  wait_for_word();
  const pid_t pid = engine_->tasks(kJob).at(0).pid;
  const auto state = [pid] { return find_process(pid).value_or(Process{}).state; };
  while (state() == 'S' || state() == 'R') std::this_thread::yield();
  ASSERT_EQ(state(), 'T');
  stop(kJob, seconds(30));
  EXPECT_EQ(wait_for_end().exit_status, 5);
}

TEST_F(LocalEngineTest, WhatATaskStartsWhileItEndsIsLeftInPeace) {
  // The orphan's end, in the middle of the saving, makes its supervisor look around once more.
  run(kJob,
      shell("trap 'sh -c \"sleep 0.6; touch saved\"; exit 5' TERM; "
            "(sh -c 'trap \"sleep 0.2; exit\" TERM; echo >up; while :; do sleep 0.05; done' &); "
            "while :; do sleep 0.05; done"),
      {on_devices(0b1)});
  wait_for_word();
  stop(kJob, seconds(30));
  EXPECT_EQ(wait_for_end().exit_status, 5);
  EXPECT_TRUE(std::filesystem::exists(scratch_ + "/saved"));
}

TEST_F(LocalEngineTest, AProcessIsAskedToEndOnce) {
  run(kJob,
      shell("n=0; trap 'n=$((n+1))' TERM; (sleep 1000 &); echo >up; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; "
            "echo $n"),
      {on_devices(0b1)});
  wait_for_word();
  stop(kJob, seconds(30));
  wait_for_end();
  EXPECT_EQ(output(), "1\n");
}

TEST_F(LocalEngineTest, AProcessThatIsLeftBehindInTheGraceIsAskedToEndToo) {
  run(kJob,
      shell("mkfifo r; trap '(sh -c \"trap \\\"touch asked; exit\\\" TERM; echo >r; while :; do sleep 0.05; done\" &); "
            "read x <r; exit 5' TERM; echo >up; while :; do sleep 0.05; done"),
      {on_devices(0b1)});
  wait_for_word();
  stop(kJob, seconds(30));
  EXPECT_EQ(wait_for_end().exit_status, 5);
  EXPECT_TRUE(std::filesystem::exists(scratch_ + "/asked"));
}

TEST_F(LocalEngineTest, AStartWhoseSupervisorIsKilledFails) {
  hold(kJob, shell("touch ran"), {on_devices(0b1)});
  Decisions decisions;
  decisions.list = {{.kind = DecisionKind::kStart, .job = kJob, .attempt = 1}};
  engine_->execute(decisions);
  ::kill(only_supervisor(), SIGKILL);
  wait_until([&] { return !all<StartFailed>().empty() || !all<GangStarted>().empty(); });
  EXPECT_EQ(all<StartFailed>().size(), 1U);
  EXPECT_TRUE(all<GangStarted>().empty());
  EXPECT_FALSE(std::filesystem::exists(scratch_ + "/ran"));
}

TEST_F(LocalEngineTest, ASupervisorThatHangsWhenItShouldGoFailsTheStart) {
  make_engine({.jobs_directory = scratch_, .start_timeout = milliseconds(300), .deaf_after = hours(1), .now = [] {
                 return Instant{1};
               }});
  hold(kJob, shell("touch ran"), {on_devices(0b1)});
  Decisions decisions;
  decisions.list = {{.kind = DecisionKind::kStart, .job = kJob, .attempt = 1}};
  engine_->execute(decisions);
  pollfd wait{engine_->wait_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, 60'000), 1);  // it is ready, or late already
  ::kill(only_supervisor(), SIGSTOP);
  wait_until([&] { return !all<StartFailed>().empty(); });
  EXPECT_THAT(all<StartFailed>().front().reason, HasSubstr("it did not start within"));
  EXPECT_FALSE(std::filesystem::exists(scratch_ + "/ran"));
}

TEST_F(LocalEngineTest, ATaskWhoseEngineIsGoneIsAskedToEnd) {
  run(kJob, shell("trap 'touch saved; exit 5' TERM; echo >up; while :; do sleep 0.05; done"), {on_devices(0b1)});
  wait_for_word();
  const pid_t supervisor = only_supervisor();
  const FileDescriptor handle = open_process(supervisor);
  make_engine({.jobs_directory = scratch_, .now = [] { return Instant{1}; }});  // closes what the last one had open
  pollfd wait{handle.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, 60'000), 1) << "it goes on for nobody";
  EXPECT_EQ(::waitpid(supervisor, nullptr, 0), supervisor);
  EXPECT_TRUE(std::filesystem::exists(scratch_ + "/saved"));
}

}  // namespace
}  // namespace weft::local
