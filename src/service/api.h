#pragma once

#include "service/backend.h"
#include "service/feed.h"
#include "service/follower.h"
#include "service/job_request.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace weft::service {

enum class Method : uint8_t { kGet, kPost, kDelete, kOther };

struct Request {
  Method method = Method::kGet;
  std::string target;  ///< path and query: "/v1/jobs/3/output?follow=1"
  std::string body;
  uid_t peer = 0;  ///< who asks, by the kernel's word
};

struct Reply {
  unsigned status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::unique_ptr<Follower> follower;  ///< set: the body comes piece by piece and `body` is empty
};

/// The name of a user, or the number where there is no name.
std::string user_name(uid_t uid);

/// The HTTP API without HTTP: a request in, a reply out. docs/guide/commands.md lists the paths.
class Api {
 public:
  /// `owner` is the user that the server runs as: besides root nobody else is served.
  Api(Backend& backend, uid_t owner, const JobDefaults& defaults)
      : backend_(backend),
        owner_(owner),
        owner_name_(user_name(owner)),
        root_name_(user_name(0)),
        defaults_(defaults) {}

  Reply handle(const Request& request);

  /// To be called for every job whose state may have changed.
  void job_changed(JobId job);
  Feed& feed() { return feed_; }

 private:
  struct Path;

  Reply route(const Request& request, const Path& path);
  Reply route_job(const Request& request, const Path& path);
  Reply submit(const Request& request, const Path& path);
  Reply list_jobs(const Path& path);
  Reply cancel(JobId job, const Path& path);
  Reply output(JobId job, const Path& path);
  Result<JobId> find_job(std::string_view word, uid_t peer) const;

  /// Requires: the user is served.
  const std::string& name_of(uid_t peer) const { return peer == owner_ ? owner_name_ : root_name_; }

  Backend& backend_;
  uid_t owner_;
  // Looked up once: without file descriptors the system would not tell, and jobs would be somebody else's.
  std::string owner_name_;
  std::string root_name_;
  JobDefaults defaults_;
  Feed feed_;
  std::vector<std::optional<JobState>> told_;  ///< by JobId: the state that the feed was last told
};

}  // namespace weft::service
