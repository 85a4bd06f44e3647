#pragma once

#include "base/result.h"
#include "base/units.h"
#include "service/api.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace weft::service {

/// A blocking client of the API: one connection per request.
class Client {
 public:
  struct Answer {
    unsigned status = 0;
    std::string body;
    bool is_good() const { return status >= 200 && status < 300; }
  };
  enum class Flow : uint8_t { kGoOn, kStop };
  struct StreamHandlers {
    std::function<Flow(std::string_view)> on_data;
    /// `wake_fd` became readable (a signalfd, say). -1: none.
    int wake_fd = -1;
    std::function<Flow()> on_wake;
    /// The server has done nothing for `idle_time`, be it that no bytes came or that it took none; called again as long
    /// as that lasts. kEndless: never.
    Duration idle_time = kEndless;
    std::function<Flow()> on_idle;
  };

  explicit Client(std::string socket_path) : socket_path_(std::move(socket_path)) {}

  /// Error kUnavailable: no server, or it went away before its answer was whole, or did nothing for `patience`. A
  /// request that was given up may be carried out all the same.
  Result<Answer> request(Method method, std::string_view target, std::string_view body = {},
                         Duration patience = kEndless) const;
  /// Hands the body over piece by piece until it ends or a handler stops it, which it can from the first moment on, be
  /// the server deaf. An answer that is no success comes back whole instead.
  Result<Answer> stream(Method method, std::string_view target, std::string_view body,
                        const StreamHandlers& handlers) const;
  Result<Answer> stream(std::string_view target, const StreamHandlers& handlers) const {
    return stream(Method::kGet, target, {}, handlers);
  }

  const std::string& socket_path() const { return socket_path_; }

 private:
  std::string socket_path_;
};

}  // namespace weft::service
