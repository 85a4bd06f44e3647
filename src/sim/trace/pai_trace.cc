// Alibaba PAI 2020: tables without header rows. A job has tasks (roles), and a task equal instances; what a job is here
// is its task with the most GPUs. What it asks for in the way of models stands in a third table, which may be missing.

#include "sim/trace/csv_fields.h"
#include "sim/trace/formats.h"
#include "sim/trace/job_pack.h"
#include "sim/word_list.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace weft::sim {

namespace {

enum JobColumn : size_t { kJobName, kInstId, kUser, kStatus, kStartTime, kEndTime };
enum TaskColumn : size_t {
  kTaskJob,
  kTaskName,
  kInstNum,
  kTaskStatus,
  kTaskStart,
  kTaskEnd,
  kPlanCpu,
  kPlanMem,
  kPlanGpu,
  kGpuType
};
enum TagColumn : size_t { kTagInst, kTagUser, kTypeSpec, kGroup, kWorkload };

/// Of a job: its largest task, and when the first of them started.
struct Tasks {
  Instant first_start = kNever;
  int64_t instances = 0;
  int64_t gpu_milli = 0;  ///< of one instance, as is all below
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
};

struct Tags {
  std::string gpu_models;
  std::string group;
  std::string workload;
};

std::unique_ptr<CsvFields> table_of(TextWindow file, std::vector<CsvTable::Column> columns) {
  CsvTable table = CsvTable::without_header(CsvReader(std::move(file)), columns.size());
  return std::make_unique<CsvFields>(std::move(table), std::move(columns));
}

class PaiRows final : public TraceRows {
 public:
  PaiRows(std::unique_ptr<CsvFields> jobs, std::unique_ptr<CsvFields> tasks, std::unique_ptr<CsvFields> tags)
      : jobs_(std::move(jobs)), tasks_(std::move(tasks)), tags_(std::move(tags)) {}

  Result<Row> next(TraceJob& job) override {
    while (tasks_) {
      if (Result<void> row = read_task(); !row) return std::unexpected(std::move(row.error()));
    }
    while (tags_) {
      if (Result<void> row = read_tags(); !row) return std::unexpected(std::move(row.error()));
    }
    const Result<CsvReader::Step> step = next_row(*jobs_);
    if (!step) return std::unexpected(step.error());
    if (*step == CsvReader::Step::kEnd) return Row::kEnd;
    reset(job);
    const Row row = read(job);
    if (jobs_->has_error()) return jobs_->take_error();
    return row;
  }
  bool goes_on() const override { return tasks_ ? tasks_->goes_on() : (tags_ ? tags_->goes_on() : jobs_->goes_on()); }
  const std::string& name() const override { return jobs_->name(); }
  std::unexpected<Error> error_at(Part part, std::string_view message) const override {
    return jobs_->error_at(part == Part::kId ? kJobName : (part == Part::kSubmit ? kStartTime : kEndTime), message);
  }

 private:
  /// Passes over a first row of names, where somebody put one.
  static Result<CsvReader::Step> next_row(CsvFields& table) {
    Result<CsvReader::Step> step = table.next();
    const bool is_header = step && *step == CsvReader::Step::kRow && table.index() == 0 &&
                           (table.text(0) == "job_name" || table.text(0) == "inst_id");
    return is_header ? table.next() : step;
  }

  Result<void> read_task() {
    CsvFields& table = *tasks_;
    const Result<CsvReader::Step> step = next_row(table);
    if (!step) return std::unexpected(step.error());
    if (*step == CsvReader::Step::kEnd) {
      tasks_.reset();
      return {};
    }
    Tasks task{.instances = table.is_empty(kInstNum) ? 1 : table.rounded(kInstNum, {.low = 0, .high = kGpus.high})};
    constexpr int64_t kPercent = 1000;  // thousandths of a percent
    constexpr int64_t kMost = 100'000'000;
    if (!table.is_empty(kPlanGpu)) task.gpu_milli = table.decimal(kPlanGpu, kPercent) / 100;
    if (!table.is_empty(kPlanCpu)) task.cpu_milli = table.decimal(kPlanCpu, kPercent) / 100;
    if (!table.is_empty(kPlanMem)) task.memory_bytes = gibibytes(table.decimal(kPlanMem));
    if (!table.is_empty(kTaskStart)) task.first_start.ns = table.decimal(kTaskStart);
    if (task.gpu_milli < 0 || task.gpu_milli > kMost) table.wrong(kPlanGpu, "expected a share of GPUs in percent");
    if (task.cpu_milli < 0 || task.cpu_milli > kMost) table.wrong(kPlanCpu, "expected CPUs in percent");
    if (task.memory_bytes < 0) table.wrong(kPlanMem, "expected memory in GB");
    if (table.has_error()) return table.take_error();
    Tasks& known = tasks_of_[std::string(table.text(kTaskJob))];
    const Instant first_start = std::min(known.first_start, task.first_start);
    const auto size = [](const Tasks& t) { return std::pair(t.instances * t.gpu_milli, t.instances * t.cpu_milli); };
    if (known.instances == 0 || size(task) > size(known)) known = task;
    known.first_start = first_start;
    return {};
  }

  /// Of billionths of a GiB: what the trace calls GB is that, as 29.296875 of them are 30,000 MiB.
  static int64_t gibibytes(int64_t billionths) {
    constexpr int64_t kBillion = 1'000'000'000;
    constexpr int64_t kGibibytesMax = 1'000'000'000;
    return std::min(billionths / kBillion, kGibibytesMax) * kGiB + billionths % kBillion * kGiB / kBillion;
  }

  Result<void> read_tags() {
    CsvFields& table = *tags_;
    const Result<CsvReader::Step> step = next_row(table);
    if (!step) return std::unexpected(step.error());
    if (*step == CsvReader::Step::kEnd) {
      tags_.reset();
      return {};
    }
    tags_of_.try_emplace(std::string(table.text(kTagInst)), std::string(table.text(kTypeSpec)),
                         std::string(table.text(kGroup)), std::string(table.text(kWorkload)));
    return {};
  }

  Row read(TraceJob& job) {
    CsvFields& table = *jobs_;
    job.id = table.text(kJobName);
    job.user = table.text(kUser);
    if (table.text(kStatus) == "Terminated") job.end = TraceEnd::kDone;
    if (table.text(kStatus) == "Failed") job.end = TraceEnd::kFailed;
    if (table.is_empty(kStartTime)) return Row::kLeftOut;
    job.submit.ns = table.decimal(kStartTime);
    if (const auto tags = tags_of_.find(std::string(table.text(kInstId))); tags != tags_of_.end()) {
      job.name = tags->second.group;
      job.model = tags->second.workload;
      read_words(tags->second.gpu_models, '|', job.gpu_models);
    }
    const auto tasks = tasks_of_.find(job.id);
    if (job.end == TraceEnd::kNotTold || table.is_empty(kEndTime) || tasks == tasks_of_.end()) return Row::kLeftOut;
    const Tasks& task = tasks->second;
    if (task.first_start == kNever || task.instances == 0 || (task.gpu_milli == 0 && task.cpu_milli == 0))
      return Row::kLeftOut;
    job.tasks = static_cast<int32_t>(task.instances);
    const bool is_share = task.gpu_milli < 1000;
    job.gpu_milli = is_share ? static_cast<int32_t>(task.gpu_milli) : 0;
    job.gpus_per_task = is_share ? 0 : static_cast<int32_t>((task.gpu_milli + 999) / 1000);
    job.cpu_milli = task.cpu_milli;
    job.memory_bytes = task.memory_bytes;
    job.recorded_start = task.first_start;
    job.recorded_end.ns = table.decimal(kEndTime);
    job.run_time = job.recorded_end - job.recorded_start;
    return job.run_time == Duration{0} ? Row::kLeftOut : Row::kJob;
  }

  std::unique_ptr<CsvFields> jobs_;
  std::unique_ptr<CsvFields> tasks_;  ///< none: read
  std::unique_ptr<CsvFields> tags_;   ///< none: read, or not there
  // Only looked into, never walked through.
  std::unordered_map<std::string, Tasks> tasks_of_;
  std::unordered_map<std::string, Tags> tags_of_;
};

}  // namespace

OpenedRows open_pai_rows(PaiTables tables) {
  auto jobs =
      table_of(std::move(tables.jobs), {{"job_name"}, {"inst_id"}, {"user"}, {"status"}, {"start_time"}, {"end_time"}});
  auto tasks = table_of(std::move(tables.tasks), {{"job_name"},
                                                  {"task_name"},
                                                  {"inst_num"},
                                                  {"status"},
                                                  {"start_time"},
                                                  {"end_time"},
                                                  {"plan_cpu"},
                                                  {"plan_mem"},
                                                  {"plan_gpu"},
                                                  {"gpu_type"}});
  std::unique_ptr<CsvFields> tags;
  if (tables.tags)
    tags = table_of(std::move(*tables.tags), {{"inst_id"}, {"user"}, {"gpu_type_spec"}, {"group"}, {"workload"}});
  return std::make_unique<PaiRows>(std::move(jobs), std::move(tasks), std::move(tags));
}

}  // namespace weft::sim
