#include "scheduler/questions.h"

#include "base/check.h"
#include "scheduler/ceiling.h"
#include "state/transaction.h"

#include <algorithm>

namespace weft {
namespace {

Verdict gate_verdict(const Core& core, JobId job) {
  const JobRecord& record = core.book[job];
  Verdict verdict;
  if (record.has_gate(Gate::kDependency)) {
    verdict.reason = Reason::kDependency;
    verdict.wakes_on = wake_bit(WakeKind::kJobEnded);
    for (const uint32_t number : core.book.after(job)) {
      if (core.state_of(make_id<JobId>(number)) == JobState::kDone) continue;
      verdict.blocker = make_id<JobId>(number);
      break;
    }
  } else if (record.has_gate(Gate::kBeginTime)) {
    verdict.reason = Reason::kBeginTime;
    verdict.until = record.begin;
    verdict.wakes_on = wake_bit(WakeKind::kTime);
  } else if (record.has_gate(Gate::kHeld)) {
    verdict.reason = Reason::kHeld;
    verdict.wakes_on = wake_bit(WakeKind::kJobChanged);
  }
  return verdict;
}

/// A line that was refused: the queue's reason first, then the cluster's, both as they are now.
Verdict line_verdict(Core& core, Line& line, JobId job) {
  const Shape& shape = core.state.shapes()[line.shape];
  const JobRecord& record = core.book[job];
  std::vector<int32_t> counts;
  fill_counts(shape, line.role, counts);
  if (is_set(line.owner) && line.role == kWholeGang) {
    const auto missing = core.gang_check.missing(shape, core.book.counts(record));
    counts.assign(missing.begin(), missing.end());
    if (counts.empty()) return line.verdict;
  }
  const ResourceVector least = Quota::least_charge(core.state, shape, counts);
  const Verdict quota = core.quota.check(core.state, shape, least, record.holds() ? 0 : 1);
  if (!quota.is_yes()) return quota;
  // A node that came but cannot be used yet wakes nobody, and yet ends a never.
  if (line.verdict.is_never && core.ceiling.is_never(line)) return line.verdict;
  const JobId bound_to = record.live > 0 ? job : kNone<JobId>;
  const Verdict fresh =
      core.query_placer.explain(core.state, {.shape_id = line.shape, .job = bound_to, .counts = counts});
  return fresh.is_yes() ? line.verdict : fresh;
}

Verdict quick_no(const Core& core, const JobSpec& spec, const Shape& shape, const ResourceVector& amount) {
  Verdict verdict;
  if (spec.start_no_earlier && *spec.start_no_earlier > core.now) {
    verdict.reason = Reason::kBeginTime;
    verdict.until = *spec.start_no_earlier;
    verdict.wakes_on = wake_bit(WakeKind::kTime);
    return verdict;
  }
  return core.quota.check(core.state, shape, amount, 1);
}

}  // namespace

Verdict present_verdict(Core& core, JobId job) {
  Verdict none;
  if (core.has_ended(job)) {
    none.reason = core.book[job].end_reason;
    none.is_never = core.state_of(job) == JobState::kRejected;
    return none;
  }
  const EntryId entry = core.lines.first_entry(job);
  if (!is_set(entry)) return core.book[job].live == 0 ? gate_verdict(core, job) : none;
  Line& line = core.lines[core.lines.line_of(entry)];
  if (line.is_surplus != 0) return none;  // it runs
  if (line.state == Line::State::kAsleep) return line_verdict(core, line, job);
  if (is_set(core.strict_blocker) && core.strict_blocker != job) {
    none.reason = Reason::kOrder;
    none.blocker = core.strict_blocker;
    none.wakes_on =
        wake_bit(WakeKind::kCapacityFreed) | wake_bit(WakeKind::kNodeAdded) | wake_bit(WakeKind::kJobChanged);
  }
  return none;
}

Result<Verdict> ask_what_if(Core& core, const JobSpec& spec, std::vector<TaskPlacement>* where) {
  Result<Shape> resolved = core.state.resolve(spec);
  if (!resolved) return std::unexpected(std::move(resolved.error()));
  if (where != nullptr) where->clear();
  const ShapeId id = core.state.intern(std::move(*resolved));
  const Shape& shape = core.state.shapes()[id];
  std::vector<int32_t> counts;
  fill_counts(shape, shape.gang == GangRule::kNone ? 0 : kWholeGang, counts);
  const ResourceVector least = Quota::least_charge(core.state, shape, counts);
  Verdict verdict = quick_no(core, spec, shape, least);
  if (!verdict.is_yes()) return verdict;
  GangPlacement placement;
  {
    Transaction txn(core.state);  // rolled back when it goes out of scope
    core.leavers.hide(txn);
    verdict = core.query_placer.place_gang(txn, {.shape_id = id, .counts = counts}, placement);
    core.leavers.reveal(txn);
  }
  if (!verdict.is_yes()) {
    const Verdict ceiling = core.ceiling.judge(spec);
    return ceiling.is_never ? ceiling : verdict;
  }
  ResourceVector charge;
  for (const TaskPlacement& p : placement.tasks) charge = charge + p.charge;
  if (charge != least) verdict = core.quota.check(core.state, shape, charge, 1);
  if (verdict.is_yes() && where != nullptr) *where = placement.tasks;
  return verdict;
}

}  // namespace weft
