#include "service/server.h"

#include "base/test_folder.h"
#include "service/api.h"
#include "service/backend_testing.h"
#include "service/client.h"
#include "service/info.h"
#include "service/job_request.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace weft::service {
namespace {

using testing::HasSubstr;

/// A server on a thread of its own, and clients on this one. The backend is touched by the server's thread only, once
/// it runs.
class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    backend_.output_files = {.output = scratch_ + "/out", .error = scratch_ + "/err"};
    const auto listening = server_.listen();
    EXPECT_TRUE(listening) << listening.error().message;
    thread_ = std::thread([this] { context_.run(); });
  }
  ~ServerTest() override {
    on_server([this] { server_.close(); });
    on_server([this] { context_.stop(); });
    thread_.join();
    EXPECT_FALSE(std::filesystem::exists(scratch_ + "/socket"));
  }

  void on_server(std::function<void()> action) { boost::asio::post(context_, std::move(action)); }
  int connected() const {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strcpy(address.sun_path, (scratch_ + "/socket").c_str());
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }
  /// Sends `bytes` and returns what comes back first.
  static std::string ask(int fd, const std::string& bytes) {
    EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    char buffer[4096];
    const ssize_t size = ::recv(fd, buffer, sizeof(buffer), 0);
    return {buffer, size > 0 ? static_cast<size_t>(size) : 0};
  }
  /// Sends `bytes` as they are and returns all that comes back until the server closes.
  std::string raw(const std::string& bytes) const {
    const int fd = connected();
    EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    ::shutdown(fd, SHUT_WR);
    std::string answer;
    char buffer[4096];
    for (ssize_t size = 0; (size = ::recv(fd, buffer, sizeof(buffer), 0)) > 0;)
      answer.append(buffer, static_cast<size_t>(size));
    ::close(fd);
    return answer;
  }

  static constexpr const char* kJob = R"({"command":["x"],"directory":"/"})";

  const TestFolder made_;
  const std::string scratch_ = made_.path();
  TestBackend backend_;
  Api api_{backend_, ::geteuid(), defaults_for(8000, 16 * kGiB, 4)};
  boost::asio::io_context context_;
  Server server_{context_, api_, scratch_ + "/socket"};
  Client client_{scratch_ + "/socket"};
  std::thread thread_;
};

TEST_F(ServerTest, TheSocketIsItsOwnersAlone) {
  struct stat status{};
  ASSERT_EQ(::stat((scratch_ + "/socket").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(ServerTest, RequestsAndErrorsGoThroughTheSocket) {
  const auto created = client_.request(Method::kPost, "/v1/jobs", kJob);
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_EQ(created->status, 201U);
  EXPECT_EQ(read_job(created->body)->id, 0);
  const auto missing = client_.request(Method::kGet, "/v1/jobs/5");
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->status, 404U);
  EXPECT_EQ(read_error(missing->body)->message, "there is no job 5");
}

TEST_F(ServerTest, AStreamFollowsTheFileUntilTheJobEnds) {
  client_.request(Method::kPost, "/v1/jobs", kJob);
  std::ofstream(scratch_ + "/out") << "one\n";
  std::string seen;
  const auto answer = client_.stream("/v1/jobs/0/output?follow=1", {.on_data = [&](std::string_view bytes) {
                                       seen += bytes;
                                       if (seen == "one\n") std::ofstream(scratch_ + "/out", std::ios::app) << "two\n";
                                       if (seen == "one\ntwo\n")
                                         on_server([this] {
                                           backend_.end(JobId{0}, 0, 0);
                                           api_.job_changed(JobId{0});
                                         });
                                       return Client::Flow::kGoOn;
                                     }});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200U);
  EXPECT_EQ(seen, "one\ntwo\n");
}

TEST_F(ServerTest, AStreamThatIsRefusedGivesTheError) {
  const auto answer =
      client_.stream("/v1/jobs/0/output?follow=1", {.on_data = [](std::string_view) { return Client::Flow::kGoOn; }});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 404U);
  EXPECT_EQ(read_error(answer->body)->message, "there is no job 0");
}

TEST_F(ServerTest, AClientIsWokenByItsOwnDescriptor) {
  client_.request(Method::kPost, "/v1/jobs", kJob);
  const int wake = ::eventfd(1, EFD_CLOEXEC);
  const auto answer =
      client_.stream("/v1/jobs/0/output?follow=1", {.on_data = [](std::string_view) { return Client::Flow::kGoOn; },
                                                    .wake_fd = wake,
                                                    .on_wake = [] { return Client::Flow::kStop; }});
  EXPECT_TRUE(answer);
  ::close(wake);
}

TEST_F(ServerTest, AnAttachedClientThatHangsUpTakesItsJobAlong) {
  client_.request(Method::kPost, "/v1/jobs", kJob);
  client_.stream("/v1/jobs/0/attach", {.on_data = [](std::string_view) { return Client::Flow::kStop; }});
  std::string seen;
  client_.stream("/v1/events?after=0", {.on_data =
                                            [&](std::string_view bytes) {
                                              seen += bytes;
                                              // The test's backend tells nobody of what a cancellation does; a server
                                              // does so after each event.
                                              on_server([this] { api_.job_changed(JobId{0}); });
                                              return seen.find("cancelled") == std::string::npos ? Client::Flow::kGoOn
                                                                                                 : Client::Flow::kStop;
                                            },
                                        .idle_time = milliseconds(20),
                                        .on_idle =
                                            [&] {
                                              on_server([this] { api_.job_changed(JobId{0}); });
                                              return Client::Flow::kGoOn;
                                            }});
  EXPECT_THAT(seen, HasSubstr("cancelled"));
}

TEST_F(ServerTest, SubmittingAndFollowingAreOneRequest) {
  FrameReader frames;
  int64_t job = -1;
  const auto answer = client_.stream(Method::kPost, "/v1/jobs?attach=1", kJob, {.on_data = [&](std::string_view bytes) {
                                       frames.add(bytes);
                                       Frame frame;
                                       if (frames.next(frame) != FrameReader::Status::kFrame)
                                         return Client::Flow::kGoOn;
                                       job = read_job(frame.bytes)->id;
                                       return Client::Flow::kStop;  // hangs up, and the job goes with it
                                     }});
  ASSERT_TRUE(answer);
  EXPECT_EQ(job, 0);
  std::string state;
  while (state != "cancelled") state = read_job(client_.request(Method::kGet, "/v1/jobs/0")->body)->state;
  const auto refused = client_.stream(Method::kPost, "/v1/jobs?attach=1", "rubbish",
                                      {.on_data = [](std::string_view) { return Client::Flow::kGoOn; }});
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 400U);
  EXPECT_EQ(client_.request(Method::kPost, "/v1/jobs?detach=1", kJob)->status, 400U);
}

TEST_F(ServerTest, TheSenderOfTooMuchSeesTheAnswer) {
  const auto answer = client_.request(Method::kPost, "/v1/jobs", std::string(40'000'000, 'x'));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413U);
}

TEST_F(ServerTest, RubbishGetsAnAnswerAndCostsOnlyItsOwnConnection) {
  EXPECT_THAT(raw("rubbish\r\n\r\n"), HasSubstr("400"));
  EXPECT_THAT(raw("GET /v1/jobs HTTP/1.1\r\nContent-Length: x\r\n\r\n"), HasSubstr("400"));
  EXPECT_THAT(raw("POST /v1/jobs HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"), HasSubstr("413"));
  const std::string long_path = raw("GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\n\r\n");
  EXPECT_THAT(long_path, HasSubstr("431"));
  EXPECT_THAT(long_path, HasSubstr("the header of the request is larger than 65536 bytes"));
  EXPECT_THAT(raw("GET /v1/jobs HTTP/1.1\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n"), HasSubstr("431"));
  EXPECT_EQ(raw(""), "");
  raw("GET /v1/jobs HTTP/1.1\r\n");  // the end comes too early
  const auto answer = client_.request(Method::kGet, "/v1/jobs");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, R"({"jobs":[]})");
}

TEST_F(ServerTest, OneConnectionMayCarrySeveralRequests) {
  const std::string one = "GET /v1/queues HTTP/1.1\r\nHost: weft\r\n\r\n";
  const std::string answers = raw(one + one + one);
  size_t count = 0;
  for (size_t at = answers.find("HTTP/1.1 200"); at != std::string::npos; at = answers.find("HTTP/1.1 200", at + 1))
    ++count;
  EXPECT_EQ(count, 3U);
}

TEST_F(ServerTest, ASecondServerOnTheSocketIsRefused) {
  Server second(context_, api_, scratch_ + "/socket");
  const auto listening = second.listen();
  ASSERT_FALSE(listening);
  EXPECT_EQ(listening.error().code, ErrorCode::kConflict);
}

TEST_F(ServerTest, WithAllConnectionsTakenTheNextOneWaitsForAnEnd) {
  std::promise<void> is_limited;
  on_server([&] {
    server_.limit_connections(2);
    is_limited.set_value();
  });
  is_limited.get_future().wait();
  const int first = connected();
  const int second = connected();
  const std::string request = "GET /v1/queues HTTP/1.1\r\nHost: weft\r\n\r\n";
  EXPECT_THAT(ask(first, request), HasSubstr("200"));
  EXPECT_THAT(ask(second, request), HasSubstr("200"));
  const int third = connected();
  EXPECT_EQ(::send(third, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  for (int i = 0; i < 5; ++i) EXPECT_THAT(ask(first, request), HasSubstr("200"));
  pollfd answer{third, POLLIN, 0};
  EXPECT_EQ(::poll(&answer, 1, 0), 0) << "it should not be served yet";
  ::close(second);
  EXPECT_THAT(ask(third, ""), HasSubstr("200"));
  ::close(third);
  ::close(first);
  EXPECT_TRUE(client_.request(Method::kGet, "/v1/queues"));
}

TEST_F(ServerTest, ALargeScriptGetsThrough) {
  const std::string script(4 * kMiB, '\n');  // two bytes each as JSON writes them
  const std::string body = write_job_request({.command = {"x"}, .script = script, .directory = "/"});
  const auto answer = client_.request(Method::kPost, "/v1/jobs", body);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 201U) << answer->body;
}

TEST_F(ServerTest, TheSenderOfTooMuchMaySendItAll) {
  const std::string head = "POST /v1/jobs HTTP/1.1\r\nContent-Length: 40000000\r\n\r\n";
  // raw() checks that every byte could be sent.
  EXPECT_THAT(raw(head + std::string(40'000'000, 'x')), HasSubstr("413"));
}

TEST_F(ServerTest, AStreamIsTheLastThingOnItsConnection) {
  client_.request(Method::kPost, "/v1/jobs", kJob);
  const std::string answers =
      raw("GET /v1/jobs/0/output HTTP/1.1\r\nHost: weft\r\n\r\n"
          "GET /v1/queues HTTP/1.1\r\nHost: weft\r\n\r\n");
  EXPECT_THAT(answers, testing::StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answers, HasSubstr("Connection: close"));
  EXPECT_EQ(answers.find("HTTP/1.1", 1), std::string::npos) << "it said that it would close";
}

}  // namespace
}  // namespace weft::service
