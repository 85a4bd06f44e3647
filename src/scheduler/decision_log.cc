#include "scheduler/decision_log.h"

namespace weft {
namespace {

template <typename T>
uint64_t as_word(T value) {
  return static_cast<uint64_t>(value);
}

/// The task by its index in the job: the row depends on which rows were free.
void add_placement(RunningHash& hash, const TaskPlacement& p, TaskId first_task) {
  hash.add(as_word(index(p.task) - index(first_task)));
  hash.add(as_word(index(p.node)));
  hash.add(as_word(p.kind) | as_word(p.numa_zone) << 8 | as_word(p.mig_profile) << 16 | as_word(p.mig_start) << 24);
  hash.add(p.devices);
  hash.add(as_word(p.milli));
  hash.add(as_word(p.memory_bytes));
  hash.add(as_word(p.charge.gpu_units));
  hash.add(as_word(p.charge.cpu_milli));
  hash.add(as_word(p.charge.memory_bytes));
}

void add_verdict(RunningHash& hash, const Verdict& v) {
  hash.add(as_word(v.reason) | as_word(v.is_never ? 1 : 0) << 8 | as_word(v.unit) << 16 | as_word(v.wakes_on) << 32);
  hash.add(as_word(v.have));
  hash.add(as_word(v.need));
}

}  // namespace

void DecisionLog::begin() { decisions_.clear(); }

void DecisionLog::append(const Decision& decision) {
  hash_.add(as_word(decision.at.ns));
  hash_.add(as_word(decision.kind) | as_word(decision.cause) << 8 | as_word(decision.end_state) << 16);
  hash_.add(as_word(index(decision.job)) | as_word(decision.attempt) << 32);
  hash_.add(as_word(decision.task));
  hash_.add(as_word(decision.grace.ns));
  hash_.add(as_word(decision.placement_count));
  for (const TaskPlacement& p : decisions_.placements_of(decision)) add_placement(hash_, p, decision.first_task);
  if (decision.kind == DecisionKind::kReject) add_verdict(hash_, decisions_.verdicts[decision.verdict]);
  decisions_.list.push_back(decision);
  ++count_;
}

void DecisionLog::admit(JobId job) { append({.at = now_, .kind = DecisionKind::kAdmit, .job = job}); }

void DecisionLog::reject(JobId job, const Verdict& verdict) {
  decisions_.verdicts.push_back(verdict);
  append({.at = now_,
          .kind = DecisionKind::kReject,
          .end_state = JobState::kRejected,
          .job = job,
          .verdict = static_cast<uint32_t>(decisions_.verdicts.size() - 1)});
}

void DecisionLog::hold(JobId job, uint32_t attempt, TaskId first_task, std::span<const TaskPlacement> placements) {
  const auto first = static_cast<uint32_t>(decisions_.placements.size());
  decisions_.placements.insert(decisions_.placements.end(), placements.begin(), placements.end());
  append({.at = now_,
          .kind = DecisionKind::kHold,
          .job = job,
          .attempt = attempt,
          .first_placement = first,
          .placement_count = static_cast<uint32_t>(placements.size()),
          .first_task = first_task});
}

void DecisionLog::start(JobId job, uint32_t attempt) {
  append({.at = now_, .kind = DecisionKind::kStart, .job = job, .attempt = attempt});
}

void DecisionLog::release(JobId job, uint32_t attempt) {
  append({.at = now_, .kind = DecisionKind::kRelease, .job = job, .attempt = attempt});
}

void DecisionLog::stop(const StopOrder& order) {
  append({.at = now_,
          .kind = DecisionKind::kStop,
          .cause = order.cause,
          .job = order.job,
          .attempt = order.attempt,
          .task = order.task,
          .grace = order.grace});
}

void DecisionLog::end(JobId job, JobState end_state) {
  append({.at = now_, .kind = DecisionKind::kEnd, .end_state = end_state, .job = job});
}

}  // namespace weft
