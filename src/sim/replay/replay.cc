#include "sim/replay/replay.h"

#include "base/bits.h"
#include "base/check.h"
#include "base/printable.h"
#include "base/text.h"
#include "model/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace weft::sim {

namespace {

/// The name of a job that an event brings; null for other events. Such events give out ids in order, also where the job
/// is rejected.
const std::string* name_in(const Event& event) {
  if (event.at >= kNever) return nullptr;  // the core does not hear it
  if (const auto* submitted = std::get_if<JobSubmitted>(&event.body)) return &submitted->job.name;
  if (const auto* adopted = std::get_if<JobAdopted>(&event.body)) return &adopted->job.name;
  return nullptr;
}

}  // namespace

std::string device_ranges(DeviceMask devices) {
  std::string text;
  for (unsigned first = 0; first < kMaxDevicesPerNode;) {
    if ((devices >> first & 1U) == 0) {
      ++first;
      continue;
    }
    unsigned last = first;
    while (last + 1 < kMaxDevicesPerNode && (devices >> (last + 1) & 1U) != 0) ++last;
    if (!text.empty()) text += ',';
    text += last == first ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last + 1;
  }
  return text;
}

std::string place_text(std::string_view node, DeviceMask devices) {
  return fmt::format("{}{}{}", node, devices == 0 ? "" : ":", device_ranges(devices));
}

Result<std::unique_ptr<Replay>> Replay::open(const std::string& path) {
  Result<std::unique_ptr<store::JournalReader>> journal = store::JournalReader::open(path);
  if (!journal) return std::unexpected(journal.error());
  Result<std::unique_ptr<Scheduler>> core = Scheduler::create((*journal)->head().policy);
  if (!core) {
    return fail(core.error().code, fmt::format("{}: its policy: {}", printable(path), core.error().message));
  }
  std::unique_ptr<Replay> replay(new Replay(std::move(*journal), std::move(*core)));
  if (const Result<void> first = replay->read_next(); !first) return std::unexpected(first.error());
  replay->totals_.decision_hash = replay->core_->decision_hash();
  return replay;
}

Result<void> Replay::read_next() {
  const Result<store::JournalReader::Step> step = journal_->next(next_);
  if (!step) return std::unexpected(step.error());
  has_next_ = *step == store::JournalReader::Step::kCall ? 1 : 0;
  return {};
}

// ---- Playing

const Decisions& Replay::tell(const store::RecordedCall& call) {
  switch (call.kind) {
    case store::CallKind::kApply: return core_->apply(call.events);
    case store::CallKind::kAbsorb: return core_->absorb(call.events);
    case store::CallKind::kExpectTasks: core_->expect_tasks(call.tasks); break;
    case store::CallKind::kTryEverybody: core_->try_everybody(); break;
  }
  return nothing_;
}

Result<void> Replay::play() {
  WEFT_CHECK(has_next_ != 0 && !difference_, "there is something to play");
  learn_names(next_.events);
  store::record_decisions(tell(next_), found_);
  compare();
  if (difference_) return {};
  for (const store::RecordedDecision& decision : found_) {
    NumberedDecision numbered{.number = ++totals_.decisions, .decision = decision};
    if (on_decision_) on_decision_(numbered);
    if (last_.size() == kDecisionsKept) last_.pop_front();
    last_.push_back(std::move(numbered));
  }
  ++totals_.calls;
  totals_.events += next_.events.size();
  totals_.decision_hash = core_->decision_hash();
  return read_next();
}

void Replay::compare() {
  if (core_->decision_hash() == next_.decision_hash && found_ == next_.decisions) return;
  const auto [recorded, found] = std::ranges::mismatch(next_.decisions, found_);
  const auto words = [&](auto decision, const std::vector<store::RecordedDecision>& all) {
    return decision == all.end() ? std::string("nothing") : text(*decision);
  };
  ReplayDifference difference{.call = next_.number,
                              .at = next_.at,
                              .decision = totals_.decisions + 1 + static_cast<uint64_t>(found - found_.begin()),
                              .recorded = words(recorded, next_.decisions),
                              .found = words(found, found_)};
  if (recorded == next_.decisions.end() && found == found_.end()) {
    difference.decision = totals_.decisions + (found_.empty() ? 0 : 1);
    difference.recorded = fmt::format("decisions of hash {:016x}", next_.decision_hash);
    difference.found = fmt::format("the same in words, with other amounts (hash {:016x})", core_->decision_hash());
  }
  difference_ = std::move(difference);
}

Result<void> play_until(Replay& replay, const ReplayStop& stop,
                        const std::function<void(uint64_t done, uint64_t all)>& progress) {
  const auto is_there = [&] {
    switch (stop.kind) {
      case ReplayStop::Kind::kEnd: return false;
      case ReplayStop::Kind::kInstant: return replay.upcoming()->at > stop.at;
      case ReplayStop::Kind::kDecision: return replay.totals().decisions >= stop.decision;
    }
    return true;
  };
  while (replay.upcoming() != nullptr && !is_there()) {
    if (const Result<void> played = replay.play(); !played) return played;
    if (replay.difference()) return {};
    if (progress && replay.totals().calls % 1024 == 0) progress(replay.totals().calls, replay.journal().call_count());
  }
  if (stop.kind == ReplayStop::Kind::kDecision && replay.totals().decisions < stop.decision) {
    return fail(ErrorCode::kInvalidInput, fmt::format("there is no decision {}: the last one is {}",
                                                      format_count(static_cast<int64_t>(stop.decision)),
                                                      format_count(static_cast<int64_t>(replay.totals().decisions))));
  }
  return {};
}

Result<std::vector<NumberedDecision>> Replay::read_ahead(size_t count) {
  std::vector<NumberedDecision> ahead;
  uint64_t number = totals_.decisions;
  while (has_next_ != 0 && ahead.size() < count) {
    learn_names(next_.events);
    for (store::RecordedDecision& decision : next_.decisions) {
      if (ahead.size() < count) ahead.push_back({.number = ++number, .decision = std::move(decision)});
    }
    if (const Result<void> read = read_next(); !read) return std::unexpected(read.error());
  }
  has_next_ = 0;
  return ahead;
}

// ---- Names

void Replay::learn_names(const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (const std::string* name = name_in(event)) job_names_.push_back(printable(*name));
  }
}

const std::string& Replay::job_name(JobId job) const {
  static const std::string kNameless;
  return index(job) < job_names_.size() ? job_names_[index(job)] : kNameless;
}

std::string Replay::job_text(JobId job) const {
  const std::string number = fmt::format("{}", index(job));
  const std::string& name = job_name(job);
  return name.empty() || name == number ? "job " + number : fmt::format("job {} ({})", number, name);
}

std::string Replay::node_text(NodeId node) {
  while (node_names_.size() < core_->node_count())
    node_names_.push_back(printable(core_->node(make_id<NodeId>(node_names_.size())).name));
  return index(node) < node_names_.size() ? node_names_[index(node)] : fmt::format("node {}", index(node));
}

std::string Replay::text(const store::RecordedDecision& decision) {
  std::string text = fmt::format("{} {}", to_text(decision.kind), job_text(decision.job));
  switch (decision.kind) {
    case DecisionKind::kAdmit:
    case DecisionKind::kReject: break;
    case DecisionKind::kHold: {
      text += fmt::format(", attempt {}:", decision.attempt);
      constexpr size_t kPlacesMax = 8;
      for (size_t i = 0; i < std::min(decision.places.size(), kPlacesMax); ++i) {
        const store::RecordedPlace& place = decision.places[i];
        text += " " + place_text(node_text(place.node), place.devices);
      }
      if (decision.places.size() > kPlacesMax) text += fmt::format(" and {} more", decision.places.size() - kPlacesMax);
      break;
    }
    case DecisionKind::kStart:
    case DecisionKind::kRelease: text += fmt::format(", attempt {}", decision.attempt); break;
    case DecisionKind::kStop:
      text += fmt::format(", attempt {}", decision.attempt);
      if (decision.task >= 0) text += fmt::format(", task {}", decision.task);
      text += fmt::format(": {}", to_text(decision.cause));
      if (decision.grace > Duration{0}) text += fmt::format(", grace {}", format_duration(decision.grace));
      break;
    case DecisionKind::kEnd: text += fmt::format(": {}", to_text(decision.end_state)); break;
  }
  return text;
}

Result<JobId> find_job(const std::string& path, const std::string& name) {
  const Result<std::unique_ptr<store::JournalReader>> journal = store::JournalReader::open(path);
  if (!journal) return std::unexpected(journal.error());
  std::vector<JobId> called;
  size_t jobs = 0;
  store::RecordedCall call;
  for (;;) {
    const Result<store::JournalReader::Step> step = (*journal)->next(call);
    if (!step) return std::unexpected(step.error());
    if (*step == store::JournalReader::Step::kEnd) break;
    for (const Event& event : call.events) {
      const std::string* job_name = name_in(event);
      if (job_name == nullptr) continue;
      if (*job_name == name) called.push_back(make_id<JobId>(jobs));
      ++jobs;
    }
  }
  if (called.size() == 1) return called.front();
  if (called.size() > 1) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} jobs are called {}: give the number of one, such as {}",
                            format_count(static_cast<int64_t>(called.size())), quote(name), index(called.front())));
  }
  const Result<int64_t> number = parse_integer(name, 0, static_cast<int64_t>(jobs) - 1);
  if (number) return make_id<JobId>(static_cast<size_t>(*number));
  return fail(ErrorCode::kInvalidInput, fmt::format("no job is called {}, nor has that number; there are {}",
                                                    quote(name), format_count(static_cast<int64_t>(jobs))));
}

}  // namespace weft::sim
