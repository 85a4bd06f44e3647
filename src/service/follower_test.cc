#include "service/follower.h"

#include "base/few_files_testing.h"
#include "base/test_folder.h"
#include "service/backend_testing.h"
#include "service/file_watcher.h"
#include "service/info.h"
#include "service/socket_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace weft::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FollowerTest : public testing::Test {
 protected:
  FollowerTest() {
    backend_.output_files = {.output = scratch_ + "/out", .error = scratch_ + "/err"};
    JobSpec spec{.name = "job", .queue = "default"};
    spec.roles.emplace_back();
    job_ = *backend_.submit(spec);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch_ + "/" + name, std::ios::app) << text;
  }
  /// Everything that comes before the next wait or the end; the last step is kept in `step_`.
  std::string drain(Follower& follower) {
    std::string out;
    while ((step_ = follower.next(out)) == FollowStep::kData) {
    }
    return out;
  }
  std::vector<Frame> frames(Follower& follower) {
    FrameReader reader;
    reader.add(drain(follower));
    std::vector<Frame> found;
    Frame frame;
    while (reader.next(frame) == FrameReader::Status::kFrame) found.push_back(frame);
    return found;
  }

  const TestFolder made_;
  const std::string scratch_ = made_.path();
  TestBackend backend_;
  JobId job_{};
  FollowStep step_ = FollowStep::kWait;
};

TEST_F(FollowerTest, OutputComesAsItIsWrittenAndEndsWithTheJob) {
  const auto follower = follow_output(backend_, job_, 0, OutputStream::kOut, OutputUntil::kJobEnd);
  EXPECT_EQ(drain(*follower), "") << "the file is not even there";
  EXPECT_EQ(step_, FollowStep::kWait);
  write("out", "one\n");
  EXPECT_EQ(drain(*follower), "one\n");
  EXPECT_EQ(step_, FollowStep::kWait);
  write("out", "two\n");
  backend_.end(job_, 0, 0);
  EXPECT_EQ(drain(*follower), "two\n");
  EXPECT_EQ(step_, FollowStep::kEnd);
}

TEST_F(FollowerTest, OutputUntilNowDoesNotWait) {
  write("out", std::string(200'000, 'x'));
  const auto follower = follow_output(backend_, job_, 0, OutputStream::kOut, OutputUntil::kNow);
  EXPECT_EQ(drain(*follower).size(), 200'000U);
  EXPECT_EQ(step_, FollowStep::kEnd);
}

TEST_F(FollowerTest, OutputThatCannotBeOpenedJustNowIsNotLost) {
  if (kChecksNeedFiles) GTEST_SKIP() << "not run: the sanitizer needs file descriptors itself";
  write("out", "text");
  backend_.end(job_, 0, 0);
  const auto log = follow_output(backend_, job_, 0, OutputStream::kOut, OutputUntil::kNow);
  const auto attached = follow_attached(backend_, job_);
  {
    const FewFiles shortage(0);
    EXPECT_EQ(drain(*log), "");
    EXPECT_EQ(step_, FollowStep::kWait);
    EXPECT_EQ(frames(*attached).size(), 1U) << "the state, so that the client knows its job";
    EXPECT_EQ(step_, FollowStep::kWait);
  }
  EXPECT_EQ(drain(*log), "text");
  EXPECT_EQ(step_, FollowStep::kEnd);
  const std::vector<Frame> rest = frames(*attached);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].bytes, "text");
  EXPECT_EQ(rest[1].kind, Frame::Kind::kState);
  EXPECT_EQ(step_, FollowStep::kEnd);
}

TEST_F(FollowerTest, AnErrorStreamThatGoesToTheOutputIsEmpty) {
  backend_.output_files.error = backend_.output_files.output;
  write("out", "text");
  EXPECT_EQ(drain(*follow_output(backend_, job_, 0, OutputStream::kErr, OutputUntil::kNow)), "");
  EXPECT_EQ(step_, FollowStep::kEnd);
}

TEST_F(FollowerTest, WhatIsNoRegularFileCountsAsEmpty) {
  backend_.output_files.output = "/dev/zero";
  EXPECT_EQ(drain(*follow_output(backend_, job_, 0, OutputStream::kOut, OutputUntil::kNow)), "");
  EXPECT_EQ(step_, FollowStep::kEnd);
}

TEST_F(FollowerTest, AnAttachedClientGetsTheStateThenBothStreamsAndTheLastStateLast) {
  const auto follower = follow_attached(backend_, job_);
  write("out", "a");
  write("err", "b");
  std::vector<Frame> got = frames(*follower);
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(read_job(got[0].bytes)->state, "running");
  EXPECT_EQ(got[1].bytes, "a");
  EXPECT_EQ(got[2].kind, Frame::Kind::kErr);
  write("err", "c");
  backend_.end(job_, 0, 3);
  got = frames(*follower);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].bytes, "c");
  EXPECT_EQ(read_job(got[1].bytes)->exit_status, 3);
  EXPECT_EQ(step_, FollowStep::kEnd);
}

TEST_F(FollowerTest, AnAttachedClientOfAnEndedJobGetsAllOfItWithTheStateAtBothEnds) {
  write("out", "a");
  backend_.end(job_, 0, 0);
  const auto follower = follow_attached(backend_, job_);
  const std::vector<Frame> got = frames(*follower);
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(got[1].bytes, "a");
  EXPECT_EQ(read_job(got[2].bytes)->state, "done");
  EXPECT_EQ(step_, FollowStep::kEnd);
}

TEST_F(FollowerTest, WhatAFileHeldBeforeTheJobIsNotItsOutput) {
  write("out", "old");
  backend_.output_files.is_begun = false;
  const auto follower = follow_output(backend_, job_, 0, OutputStream::kOut, OutputUntil::kJobEnd);
  EXPECT_EQ(drain(*follower), "") << "it has not even started";
  backend_.output_files.is_begun = true;
  backend_.output_files.output_begin = 3;
  EXPECT_EQ(drain(*follower), "");
  write("out", "new");
  EXPECT_EQ(drain(*follower), "new");
  backend_.output_files.is_begun = false;
  EXPECT_EQ(drain(*follow_output(backend_, job_, 0, OutputStream::kOut, OutputUntil::kNow)), "");
  EXPECT_EQ(step_, FollowStep::kEnd);
}

TEST_F(FollowerTest, AnAttachedClientThatGoesAwayTakesItsJobAlong) {
  follow_attached(backend_, job_)->abandoned();
  EXPECT_EQ(backend_.cancelled.size(), 1U);
  follow_attached(backend_, job_)->abandoned();
  EXPECT_EQ(backend_.cancelled.size(), 1U) << "it had ended already";
}

TEST_F(FollowerTest, EventsStartBehindTheNumberThatWasSeen) {
  Feed feed;
  feed.publish("first");
  feed.publish("second");
  const auto follower = follow_events(backend_, feed, 1);
  EXPECT_EQ(drain(*follower), ": weft\n\nevent: job\nid: 2\ndata: second\n\n");
  feed.publish("third");
  EXPECT_EQ(drain(*follower), "event: job\nid: 3\ndata: third\n\n");
  EXPECT_EQ(step_, FollowStep::kWait);
  backend_.ended = true;
  drain(*follower);
  EXPECT_EQ(step_, FollowStep::kEnd);
}

TEST_F(FollowerTest, AReaderThatWasTooSlowIsToldWhichEventsItMissed) {
  Feed feed;
  const auto follower = follow_events(backend_, feed, 0);
  EXPECT_EQ(drain(*follower), ": weft\n\n");
  for (int i = 1; i <= 4100; ++i) feed.publish("x");
  EXPECT_THAT(drain(*follower),
              testing::StartsWith("event: missed\ndata: {\"from\":1,\"to\":4}\n\nevent: job\nid: 5\n"));
}

TEST(Feed, KeepsTheLastMessagesAndCallsWhoeverListens) {
  Feed feed;
  int calls = 0;
  const uint64_t subscription = feed.subscribe([&] { ++calls; });
  for (int i = 1; i <= 5000; ++i) feed.publish(std::to_string(i));
  EXPECT_EQ(calls, 5000);
  EXPECT_EQ(feed.last(), 5000U);
  EXPECT_EQ(feed.oldest(), 905U);
  EXPECT_EQ(feed.message(905), "905");
  feed.unsubscribe(subscription);
  feed.ring();
  EXPECT_EQ(calls, 5000);
}

TEST(Feed, AListenerMayLeaveWhileItIsCalled) {
  Feed feed;
  uint64_t second = 0;
  int calls = 0;
  feed.subscribe([&] { feed.unsubscribe(second); });
  second = feed.subscribe([&] { ++calls; });
  feed.ring();
  EXPECT_EQ(calls, 0);
}

TEST(Frames, ArePutTogetherFromAnyPieces) {
  const std::string wire = write_frame(Frame::Kind::kOut, "hello") + write_frame(Frame::Kind::kErr, "") +
                           write_frame(Frame::Kind::kState, std::string(70'000, 'x'));
  FrameReader reader;
  std::vector<Frame> found;
  for (const char byte : wire) {
    reader.add({&byte, 1});
    Frame frame;
    while (reader.next(frame) == FrameReader::Status::kFrame) found.push_back(frame);
  }
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].bytes, "hello");
  EXPECT_EQ(found[1].kind, Frame::Kind::kErr);
  EXPECT_EQ(found[2].bytes.size(), 70'000U);
}

TEST(Frames, RubbishIsNoticed) {
  for (const std::string& wire :
       {std::string("\x09\0\0\0\0", 5), std::string("\0\0\0\0\0", 5), std::string("\x01\xff\xff\xff\xff", 5)}) {
    FrameReader reader;
    reader.add(wire);
    Frame frame;
    EXPECT_EQ(reader.next(frame), FrameReader::Status::kMalformed);
  }
}

TEST_F(FollowerTest, AFileThatGrowsIsNewsForItsReadersOnly) {
  FileWatcher watcher;
  write("out", "");
  write("err", "");
  watcher.watch(scratch_ + "/out", 1);
  watcher.watch(scratch_ + "/out", 2);
  watcher.watch(scratch_ + "/err", 3);
  watcher.watch(scratch_ + "/nothing", 4);
  write("out", "more");
  pollfd wait{watcher.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, 60'000), 1);
  EXPECT_THAT(watcher.take_changed(), ElementsAre(1, 2));
  watcher.forget(1);
  write("out", "more");
  ASSERT_EQ(::poll(&wait, 1, 60'000), 1);
  EXPECT_THAT(watcher.take_changed(), ElementsAre(2));
}

TEST_F(FollowerTest, ASocketHasOneServerAndADeadOnesIsReplaced) {
  const std::string path = scratch_ + "/run/weft.sock";
  {
    auto place = SocketPlace::take(path);
    ASSERT_TRUE(place) << place.error().message;
    const auto second = SocketPlace::take(path);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch_ + "/run"));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strcpy(address.sun_path, path.c_str());
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::close(fd);  // as a killed server leaves it
  EXPECT_TRUE(SocketPlace::take(path));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(FollowerTest, AFileThatIsNoSocketIsLeftAlone) {
  write("out", "precious");
  const auto place = SocketPlace::take(scratch_ + "/out");
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().code, ErrorCode::kInvalidInput);
  EXPECT_TRUE(std::filesystem::exists(scratch_ + "/out"));
  EXPECT_FALSE(std::filesystem::exists(scratch_ + "/out.lock"));
  EXPECT_THAT(SocketPlace::take(std::string(200, 'x')).error().message, HasSubstr("the system takes at most 107"));
}

TEST_F(FollowerTest, AJobWhoseClientGoesAwayKeepsItsGrace) {
  follow_attached(backend_, job_)->abandoned();
  EXPECT_THAT(backend_.cancelled, ElementsAre(std::pair{job_, CancelMode::kGraceful}));
}

}  // namespace
}  // namespace weft::service
