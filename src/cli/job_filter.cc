#include "cli/job_filter.h"

#include "base/text.h"
#include "model/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace weft::cli {
namespace {

constexpr std::array kStates{JobState::kPending, JobState::kHolding,   JobState::kStarting,
                             JobState::kRunning, JobState::kReleasing, JobState::kDone,
                             JobState::kFailed,  JobState::kCancelled, JobState::kRejected};

/// The words of a list such as "pending,running".
std::set<std::string> words_of(const std::optional<std::string>& list) {
  if (!list) return {};
  const std::vector<std::string_view> words = split(*list, ',');
  return {words.begin(), words.end()};
}

}  // namespace

bool JobFilter::wants_ended() const {
  return std::ranges::any_of(
      kStates, [&](JobState state) { return is_end_state(state) && states.contains(std::string(to_text(state))); });
}

void JobFilter::apply(std::vector<service::JobInfo>& jobs) const {
  std::erase_if(jobs, [&](const service::JobInfo& job) {
    return (!states.empty() && !states.contains(job.state)) || (!users.empty() && !users.contains(job.user));
  });
  if (last && jobs.size() > *last) jobs.erase(jobs.begin(), jobs.end() - static_cast<std::ptrdiff_t>(*last));
}

Result<JobFilter> read_filter(const QueueOptions& options) {
  JobFilter filter{.states = words_of(options.state), .users = words_of(options.user), .last = std::nullopt};
  for (const std::string& state : filter.states) {
    if (std::ranges::find(kStates, state, [](JobState known) { return to_text(known); }) != kStates.end()) continue;
    std::vector<std::string_view> names;
    for (const JobState known : kStates) names.push_back(to_text(known));
    return fail(ErrorCode::kInvalidInput,
                fmt::format("--state: there is no state {}; expected one of {}", quote(state), fmt::join(names, ", ")));
  }
  if (!options.last) return filter;
  const auto last = parse_integer(*options.last, 1, 1'000'000'000);
  if (!last) return fail(ErrorCode::kInvalidInput, "--last: " + last.error().message);
  filter.last = static_cast<size_t>(*last);
  return filter;
}

}  // namespace weft::cli
