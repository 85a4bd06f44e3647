#include "base/few_files_testing.h"
#include "engine/local/lease.h"
#include "engine/local/local_engine_testing.h"

#include <gmock/gmock.h>

#include <csignal>
#include <sys/file.h>

// What a machine and its users do to tasks that is not in the plan.

namespace weft::local {
namespace {

using testing::HasSubstr;

pid_t supervisor_of_only_task() {
  const std::vector<Process> below = descendants_of(::getpid());
  return below.empty() ? -1 : below.front().pid;
}

TEST_F(LocalEngineTest, AnOutputPipeThatNobodyReadsFailsTheStartAtOnce) {
  JobSpec spec = shell("true");
  spec.launch.output_path = "up-unread";
  ASSERT_EQ(::mkfifo((scratch_ + "/up-unread").c_str(), 0600), 0);
  run(kJob, spec, {on_devices(0)});
  wait_until([&] { return !all<StartFailed>().empty(); });
  EXPECT_THAT(all<StartFailed>().front().reason, HasSubstr("/up-unread: nobody reads from that pipe"));
}

TEST_F(LocalEngineTest, AnOutputPipeWithAReaderIsWrittenTo) {
  JobSpec spec = shell("echo word");
  spec.launch.output_path = "up";  // the fixture reads it
  run(kJob, spec, {on_devices(0)});
  EXPECT_EQ(wait_for_end().exit_status, 0);
  char word[8] = "";
  EXPECT_EQ(::read(up_, word, sizeof(word)), 5);
}

TEST_F(LocalEngineTest, ASupervisorThatWasStoppedCannotKeepItsTaskAlive) {
  make_engine({.jobs_directory = scratch_, .deaf_after = milliseconds(100), .now = [] { return Instant{1}; }});
  run(kJob, shell("trap '' TERM; setsid sleep 1000 & echo > up; sleep 1000"), {on_devices(0b1)});
  wait_for_word();
  ::kill(supervisor_of_only_task(), SIGSTOP);
  stop(kJob, milliseconds(50));
  EXPECT_EQ(wait_for_end().outcome, TaskOutcome::kStopped);
  EXPECT_EQ(descendants_of(::getpid()).size(), 0U);
}

TEST_F(LocalEngineTest, AStartThatIsStoppedEndsAlsoWhenItsSupervisorHangs) {
  make_engine({.jobs_directory = scratch_, .deaf_after = milliseconds(100), .now = [] { return Instant{1}; }});
  hold(kJob, shell("touch ran"), {on_devices(0b1)});
  Decisions decisions;
  decisions.list = {{.kind = DecisionKind::kStart, .job = kJob, .attempt = 1}};
  engine_->execute(decisions);
  ::kill(supervisor_of_only_task(), SIGSTOP);
  stop(kJob, hours(1));
  wait_until([&] { return !all<StartFailed>().empty(); });
  EXPECT_FALSE(std::filesystem::exists(scratch_ + "/ran"));
  EXPECT_TRUE(engine_->is_idle());
}

TEST_F(LocalEngineTest, AStartWaitsWhileFileDescriptorsAreShort) {
  {
    const FewFiles few(2);
    run(JobId{1}, shell("true"), {on_devices(0b01)});
    run(JobId{2}, shell("true"), {on_devices(0b10)});
    for (int i = 0; i < 3; ++i) {
      pollfd wait{engine_->wait_fd(), POLLIN, 0};
      ::poll(&wait, 1, 60'000);
      engine_->poll(events_);
    }
    EXPECT_TRUE(all<StartFailed>().empty()) << all<StartFailed>().front().reason;
    EXPECT_TRUE(all<GangStarted>().empty());
  }
  wait_until([&] { return ends().size() == 2; });
  EXPECT_EQ(all<GangStarted>().size(), 2U);
  EXPECT_TRUE(all<StartFailed>().empty());
}

TEST_F(LocalEngineTest, AShortageThatLastsFailsTheStartAndSaysWhatWasMissing) {
  make_engine({.jobs_directory = scratch_, .start_timeout = milliseconds(300), .now = [] { return Instant{1}; }});
  const FewFiles few(2);
  JobSpec spec = shell("touch ran");
  spec.roles[0].count = 2;
  run(kJob, spec, {on_devices(0b01), on_devices(0b10)});
  wait_until([&] { return !all<StartFailed>().empty(); });
  EXPECT_THAT(all<StartFailed>().front().reason, HasSubstr("Too many open files"));
  EXPECT_TRUE(engine_->is_idle());
  EXPECT_FALSE(std::filesystem::exists(scratch_ + "/ran"));
}

TEST_F(LocalEngineTest, ItIsKnownWhereTheOutputOfAJobBegins) {
  std::ofstream(scratch_ + "/log") << "old";
  JobSpec spec = shell("echo new");
  spec.launch.output_path = "log";
  hold(kJob, spec, {on_devices(0)});
  EXPECT_FALSE(engine_->files(kJob, 0)->is_begun);
  start(kJob);
  wait_for_end();
  EXPECT_TRUE(engine_->files(kJob, 0)->is_begun);
  EXPECT_EQ(engine_->files(kJob, 0)->output_begin, 3);
}

TEST_F(LocalEngineTest, ALeaseWaitsForTheTasksOfTheLastServerAndEndsThemWhenPatienceIsOver) {
  const std::string path = scratch_ + "/lease";
  {
    auto first = Lease::take(path, hours(1), [](size_t) { FAIL() << "nobody has it"; });
    ASSERT_TRUE(first) << first.error().message;
    make_engine({.jobs_directory = scratch_, .lease_fd = first->fd(), .now = [] { return Instant{1}; }});
    run(kJob, shell("trap '' TERM; setsid sleep 1000 & echo > up; sleep 1000"), {on_devices(0b1)});
    wait_for_word();
  }
  size_t told = 0;
  const auto second = Lease::take(path, milliseconds(50), [&](size_t tasks) { told = tasks; });
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(told, 1U);
  for (const Process& process : descendants_of(::getpid())) EXPECT_EQ(process.state, 'Z');
  EXPECT_EQ(wait_for_end().exit_status, 128 + SIGKILL);
}

TEST_F(LocalEngineTest, ALeaseThatNoTaskHoldsIsAConflict) {
  const std::string path = scratch_ + "/lease";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  const auto lease = Lease::take(path, {0}, [](size_t tasks) { EXPECT_EQ(tasks, 0U); });
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().code, ErrorCode::kConflict);
  ::close(fd);
}

}  // namespace
}  // namespace weft::local
