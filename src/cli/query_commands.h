#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

// What the commands that ask a server do. Each prints, and returns the exit status.

enum class Format : uint8_t { kText, kJson };

struct QueueOptions {
  enum class Which : uint8_t { kLive, kAll } which = Which::kLive;
  enum class Repeat : uint8_t { kOnce, kWatch } repeat = Repeat::kOnce;
  Format format = Format::kText;
  std::vector<std::string> jobs;     ///< empty: any
  std::optional<std::string> state;  ///< a list such as "pending,running"
  std::optional<std::string> user;
  std::optional<std::string> last;  ///< the most
};

/// The path of a job that is named by its number or @; an Error for any other word, which must not become a path.
Result<std::string> job_target(const std::string& word);

int queue_command(const QueueOptions& options);

/// JSON: one object a line.
int show_command(const std::vector<std::string>& jobs, Format format);
int why_command(const std::string& job, Format format);
int nodes_command(Format format);
int cluster_command(Format format);

struct LogOptions {
  std::string job;
  std::optional<std::string> task;  ///< nothing: 0
  enum class Stream : uint8_t { kBoth, kOut, kErr } stream = Stream::kBoth;
  enum class Follow : uint8_t { kNo, kYes } follow = Follow::kNo;
};
int log_command(const LogOptions& options);

struct CancelOptions {
  std::vector<std::string> jobs;
  enum class Which : uint8_t { kListed, kAll } which = Which::kListed;
  enum class How : uint8_t { kGraceful, kKill } how = How::kGraceful;
};
int cancel_command(const CancelOptions& options);

/// The status of the job for a single one; for several 0 when all ended well, else 1.
int wait_command(const std::vector<std::string>& jobs);

}  // namespace weft::cli
