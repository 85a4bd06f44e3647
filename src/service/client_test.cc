#include "service/client.h"

#include "base/test_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace weft::service {
namespace {

using testing::HasSubstr;

/// A server that hangs: it listens, and never accepts.
class DeafServerTest : public testing::Test {
 protected:
  DeafServerTest() {
    address_.sun_family = AF_UNIX;
    std::strcpy(address_.sun_path, path_.c_str());
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address_), sizeof(address_)), 0);
    EXPECT_EQ(::listen(fd_, 0), 0);
  }
  ~DeafServerTest() override {
    ::close(fd_);
    ::close(full_);
    ::close(wake_);
  }

  /// No room for a connection is left; one more can only wait.
  void fill() const { EXPECT_EQ(::connect(full_, reinterpret_cast<const sockaddr*>(&address_), sizeof(address_)), 0); }
  /// A stream whose client is told to stop before it begins.
  Result<Client::Answer> stopped_stream(std::string_view body) {
    return client_.stream(Method::kPost, "/v1/jobs?attach=1", body,
                          {.on_data = [](std::string_view) { return Client::Flow::kGoOn; },
                           .wake_fd = wake_,
                           .on_wake =
                               [this] {
                                 ++wakes_;
                                 return Client::Flow::kStop;
                               }});
  }

  const TestFolder made_;
  const std::string path_ = made_.path() + "/socket";
  sockaddr_un address_{};
  const int fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int full_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int wake_ = ::eventfd(1, EFD_CLOEXEC);
  const Client client_{path_};
  int wakes_ = 0;
};

TEST_F(DeafServerTest, ARequestIsGivenUpWhenPatienceEnds) {
  const auto answer = client_.request(Method::kGet, "/v1/jobs", {}, milliseconds(20));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr(path_ + " does not answer"));
}

TEST_F(DeafServerTest, ARequestThatIsNotEvenTakenIsGivenUpToo) {
  const auto large = client_.request(Method::kPost, "/v1/jobs", std::string(4'000'000, ' '), milliseconds(20));
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("does not answer"));
}

TEST_F(DeafServerTest, AConnectionThatIsNotTakenIsGivenUpToo) {
  fill();
  const auto answer = client_.request(Method::kGet, "/v1/jobs", {}, milliseconds(20));
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("does not answer"));
}

TEST_F(DeafServerTest, AStreamCanBeStoppedBeforeItHasBegun) {
  EXPECT_TRUE(stopped_stream("{}"));
  EXPECT_EQ(wakes_, 1);
}

TEST_F(DeafServerTest, AStreamCanBeStoppedWhileItsRequestIsNotTaken) {
  EXPECT_TRUE(stopped_stream(std::string(4'000'000, ' ')));
  EXPECT_EQ(wakes_, 1);
}

TEST_F(DeafServerTest, AStreamCanBeStoppedWhileItsConnectionIsNotTaken) {
  fill();
  EXPECT_TRUE(stopped_stream("{}"));
  EXPECT_EQ(wakes_, 1);
}

TEST(Client, SaysWhenNobodyListens) {
  const auto answer = Client("/no/such/socket").request(Method::kGet, "/v1/jobs");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("no weft server is listening on /no/such/socket"));
}

}  // namespace
}  // namespace weft::service
