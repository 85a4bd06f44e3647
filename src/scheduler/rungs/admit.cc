#include "scheduler/rungs/admit.h"

namespace weft {

void AdmitRung::run() {
  for (size_t i = 0; i < core_.arrivals.size(); ++i) {
    const JobId job = core_.arrivals[i];
    if (!core_.has_ended(job)) admit(job);
    lifecycle_.settle();
  }
  core_.arrivals.clear();
}

void AdmitRung::admit(JobId job) {
  core_.log.admit(job);
  JobRecord& record = core_.book[job];
  record.gates = static_cast<uint8_t>(record.gates & ~gate_bit(Gate::kNotAdmitted));
  if (record.live == 0 && !close_gates(job)) return lifecycle_.cancel(job);
  if (record.live > 0 && core_.elects()) core_.elect.adopted.push_back(job);
  lifecycle_.sync_lines(job);
  // Said at once, not when its turn comes: a job that can never run is not tried before the cluster has grown.
  for (EntryId e = core_.lines.first_entry(job); is_set(e); e = core_.lines.next_entry(e)) {
    const LineId id = core_.lines.line_of(e);
    Line& line = core_.lines[id];
    if (line.state != Line::State::kAwake || line.is_judged != 0 || !core_.ceiling.is_never(line)) continue;
    Verdict verdict = core_.ceiling.explain(line);
    verdict.wakes_on = wake_bit(WakeKind::kNodeAdded);
    core_.lines.sleep(id, verdict);
  }
}

/// Begin time and dependencies. False when one of those it comes after has ended badly: then it never starts.
bool AdmitRung::close_gates(JobId job) {
  JobRecord& record = core_.book[job];
  if (record.begin > core_.now) {
    record.gates |= gate_bit(Gate::kBeginTime);
    core_.timers.add({.due = record.begin, .job = job, .kind = TimerKind::kBegin});
  }
  for (const uint32_t number : core_.book.after(job)) {
    const JobId before = make_id<JobId>(number);
    if (core_.state_of(before) == JobState::kDone) continue;
    if (core_.has_ended(before)) return false;
    core_.book.add_dependent(before, job);
    ++record.dependencies_open;
    record.gates |= gate_bit(Gate::kDependency);
  }
  return true;
}

}  // namespace weft
