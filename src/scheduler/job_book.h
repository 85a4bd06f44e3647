#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "model/decision.h"
#include "model/job.h"
#include "model/shape.h"
#include "model/verdict.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// What keeps a job out of the lines: bits of JobRecord::gates.
enum class Gate : uint8_t { kDependency = 1, kBeginTime = 2, kHeld = 4, kNotAdmitted = 8 };
constexpr uint8_t gate_bit(Gate gate) { return static_cast<uint8_t>(gate); }

/// What becomes of a job once everything it holds has come back.
enum class Intent : uint8_t { kNone, kCancel, kFail, kRestart, kTimeLimit };

/// How many tasks of one role are where. Pending ones are the rest.
struct RoleCounts {
  int32_t held = 0;
  int32_t running = 0;
  int32_t releasing = 0;
  int32_t done = 0;
  int32_t first_pending = 0;  ///< no task of the role below this index is pending
  bool operator==(const RoleCounts&) const = default;
};

/// The columns of a job that no placement and no policy reads.
struct JobRecord {
  std::string name;
  Instant begin;  ///< may start from here on
  Instant ended = kNever;
  Instant stale_due = kNever;  ///< set while the gang is below its minimum: then it is stopped whole
  Instant limit_due = kNever;  ///< set while it runs under a time limit
  Duration grace{0};
  Duration stale_after{0};
  Duration time_limit = kEndless;
  Duration patience{0};              ///< it waits so long before others may be stopped for it
  uint8_t saves = 0;                 ///< it makes checkpoints
  Duration checkpoint_every{0};      ///< 0: only when told to stop
  Instant checkpoint_last = kNever;  ///< one that is known of
  Duration restore{0};               ///< to begin again from a checkpoint
  uint32_t role_names = 0;           ///< JobBook::role_names()
  uint32_t first_role = 0;           ///< rows of JobBook::counts()
  uint16_t role_count = 0;
  uint8_t gates = 0;
  uint8_t is_unelected = 0;  ///< it was stopped because others were chosen to run
  Intent intent = Intent::kNone;
  StopCause loss_cause = StopCause::kNone;  ///< why the gang is below its minimum
  Reason end_reason = Reason::kNone;        ///< why the scheduler gave it up
  uint32_t first_dependent = UINT32_MAX;
  uint32_t dependencies_open = 0;
  int32_t wish = INT32_MAX;       ///< how many tasks its user wants
  uint32_t live = 0;              ///< tasks that are somewhere
  uint32_t leaving = 0;           ///< of them, those that are told to stop and whose places are planned on already
  uint32_t attempts_holding = 0;  ///< or waiting to
  uint32_t attempts_starting = 0;
  uint32_t refusals = 0;  ///< holds and starts refused in a row
  int32_t level = 0;      ///< of service, see JobOrder::sinks()
  Instant deadline = kNever;
  // Service: wall time in which every minimum ran.
  Duration executed{0};  ///< up to `running_since`, or in all while it does not run
  Instant running_since = kNever;
  Duration left = kEndless;  ///< when `executed_then` had been executed: the estimate, or what was reported last
  Duration executed_then{0};
  int64_t turn = 0;  ///< elect mode: decides among equal ranks; 0: none given yet
  int32_t retries_left = 0;
  int32_t exit_status = 0;  ///< of the first task that failed

  Duration executed_by(Instant now) const {
    return running_since == kNever ? executed : executed + (now - running_since);
  }
  /// What is lost of a run since `started` if it is stopped now.
  Duration lost_by(Instant now, Instant started) const {
    if (saves == 0) return now - started;
    if (checkpoint_every.ns <= 0) return Duration{0};
    const Instant base = checkpoint_last == kNever ? started : std::max(started, checkpoint_last);
    return Duration{std::max<int64_t>((now - base).ns, 0) % checkpoint_every.ns};
  }
  bool has_gate(Gate gate) const { return (gates & gate_bit(gate)) != 0; }
  /// Something is charged to its queue.
  bool holds() const { return live > leaving; }
};

/// The records of all jobs, the counts of their roles, who waits for whom, and the attempt that each task row belongs
/// to. Rows of ended jobs stay (for views), their counts are used again.
class JobBook {
 public:
  /// The next job's record, told of at `now`. `shape` may be null: a job that is rejected.
  JobRecord& add(const JobSpec& spec, const Shape* shape, Instant now, Instant begin);
  /// The job needs no counts any more.
  void retire(JobId job);

  JobRecord& operator[](JobId job) { return records_[index(job)]; }
  const JobRecord& operator[](JobId job) const { return records_[index(job)]; }
  size_t size() const { return records_.size(); }

  std::span<RoleCounts> counts(const JobRecord& record) {
    return std::span(counts_).subspan(record.first_role, record.role_count);
  }
  std::span<const RoleCounts> counts(const JobRecord& record) const {
    return std::span(counts_).subspan(record.first_role, record.role_count);
  }

  /// `dependent` waits for `job`.
  void add_dependent(JobId job, JobId dependent);
  /// Calls `visit(JobId)` for those that wait for `job`, last come first, and forgets them.
  template <typename Visit>
  void drain_dependents(JobId job, Visit&& visit) {
    uint32_t link = records_[index(job)].first_dependent;
    records_[index(job)].first_dependent = UINT32_MAX;
    while (link != UINT32_MAX) {
      const Dependent row = dependents_[link];
      free_dependents_.push_back(link);
      visit(row.job);
      link = row.next;
    }
  }

  /// The jobs that must end well before `job` may start; empty for most.
  std::span<const uint32_t> after(JobId job) const;
  void set_after(JobId job, std::vector<uint32_t> jobs) { after_[job] = std::move(jobs); }

  uint32_t& attempt_of(TaskId task) { return attempt_of_task_[index(task)]; }
  uint32_t attempt_of(TaskId task) const { return attempt_of_task_[index(task)]; }
  void resize_tasks(size_t tasks) {
    if (tasks > attempt_of_task_.size()) attempt_of_task_.resize(tasks, 0);
  }

  std::span<const std::string> role_names(const JobRecord& record) const { return role_names_[record.role_names]; }

  /// In words why the job was rejected or given up; empty for all others.
  const std::string& remark(JobId job) const;
  void set_remark(JobId job, std::string why) { remarks_[job] = std::move(why); }

 private:
  struct Dependent {
    JobId job = kNone<JobId>;
    uint32_t next = UINT32_MAX;
  };

  uint32_t intern_role_names(const std::vector<RoleSpec>& roles);
  uint32_t claim_counts(uint16_t roles);

  std::vector<JobRecord> records_;
  std::vector<RoleCounts> counts_;
  std::vector<std::vector<uint32_t>> free_counts_;  ///< by number of roles
  std::vector<Dependent> dependents_;
  std::vector<uint32_t> free_dependents_;
  std::vector<uint32_t> attempt_of_task_;  ///< by TaskId
  std::vector<std::vector<std::string>> role_names_;
  std::map<std::vector<std::string>, uint32_t, std::less<>> role_name_ids_;
  std::map<JobId, std::string> remarks_;
  std::map<JobId, std::vector<uint32_t>> after_;
};

}  // namespace weft
