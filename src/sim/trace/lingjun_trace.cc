// Alibaba Lingjun 2023: job.csv with the times of each job, and worker.csv with a row for each of its workers, whose
// resources stand in it as JSON.

#include "base/text.h"
#include "sim/trace/csv_fields.h"
#include "sim/trace/formats.h"
#include "sim/trace/id_set.h"
#include "sim/trace/job_pack.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace weft::sim {

namespace {

namespace json = boost::json;

enum JobColumn : size_t {
  kJobName,
  kModel,
  kPriority,
  kUserId,
  kWorkspace,
  kSubmitted,
  kRunning,
  kFinished,
  kStopped,
  kMinutesMax,
  kStatus
};
enum WorkerColumn : size_t { kWorkerJob, kWorkerName, kResources };

std::vector<CsvTable::Column> job_columns() {
  constexpr auto kOptional = CsvTable::Presence::kOptional;
  return {{"job_name"},
          {"model", kOptional},
          {"priority", kOptional},
          {"user_id", kOptional},
          {"workspace_id", kOptional},
          {"gmt_job_submitted"},
          {"gmt_job_running"},
          {"gmt_job_finished"},
          {"gmt_job_stopped", kOptional},
          {"job_max_running_time_minutes", kOptional},
          {"status", kOptional}};
}

/// Workers of one kind of a job.
struct Workers {
  int64_t count = 0;
  int64_t gpus = 0;      ///< of all
  int64_t gpus_max = 0;  ///< of one, as is all below
  int64_t cpu_milli_max = 0;
  int64_t memory_bytes_max = 0;
};

struct JobWorkers {
  Workers with_gpus;
  Workers without;
};

struct Resources {
  int64_t gpus = 0;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
};

/// The text of a value that may be written as text or as a number.
std::string text_of(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string().data(), value.get_string().size());
  return json::serialize(value);
}

/// {"nvidia.com/gpu": "8", "cpu": "90", "memory": "900Gi"}; also with single quotes. False: not that.
bool read_resources(std::string_view text, Resources& resources) {
  std::string quoted(text);
  std::ranges::replace(quoted, '\'', '"');
  try {
    json::error_code code;
    const json::value value = json::parse(quoted, code, {}, {.max_depth = 8});
    if (code || !value.is_object()) return false;
    for (const auto& [key, amount] : value.get_object()) {
      const std::string_view name(key.data(), key.size());
      const bool is_gpu = name.ends_with("/gpu");
      if (!is_gpu && name != "cpu" && name != "memory") continue;
      std::string number = text_of(amount);
      if (name == "memory") {
        const Result<int64_t> bytes = parse_bytes(number);
        if (!bytes || *bytes > (int64_t{1} << 60)) return false;
        resources.memory_bytes = *bytes;
        continue;
      }
      const bool is_milli = number.ends_with('m');
      if (is_milli) number.pop_back();
      const Result<double> count = parse_number(number);
      if (!count || *count < 0 || *count > 1e8) return false;
      if (is_gpu) resources.gpus = static_cast<int64_t>(*count);
      if (name == "cpu") resources.cpu_milli = static_cast<int64_t>(is_milli ? *count : *count * 1000);
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

class LingjunRows final : public TraceRows {
 public:
  LingjunRows(std::unique_ptr<CsvFields> jobs, std::unique_ptr<CsvFields> workers)
      : jobs_(std::move(jobs)), workers_(std::move(workers)) {}

  Result<Row> next(TraceJob& job) override {
    while (workers_) {
      if (Result<void> row = read_worker(); !row) return std::unexpected(std::move(row.error()));
    }
    const Result<CsvReader::Step> step = jobs_->next();
    if (!step) return std::unexpected(step.error());
    if (*step == CsvReader::Step::kEnd) return Row::kEnd;
    reset(job);
    const Row row = read(job);
    if (jobs_->has_error()) return jobs_->take_error();
    return row;
  }
  bool goes_on() const override { return workers_ ? workers_->goes_on() : jobs_->goes_on(); }
  const std::string& name() const override { return jobs_->name(); }
  Clock clock() const override { return Clock::kUnix; }
  std::unexpected<Error> error_at(Part part, std::string_view message) const override {
    return jobs_->error_at(part == Part::kId ? kJobName : (part == Part::kSubmit ? kSubmitted : kFinished), message);
  }

 private:
  Result<void> read_worker() {
    CsvFields& table = *workers_;
    const Result<CsvReader::Step> step = table.next();
    if (!step) return std::unexpected(step.error());
    if (*step == CsvReader::Step::kEnd) {
      workers_.reset();
      return {};
    }
    // A worker that was started again has another row.
    std::string id(table.text(kWorkerJob));
    JobWorkers& job = workers_of_[id];
    id += '\n';
    id += table.text(kWorkerName);
    if (!table.is_empty(kWorkerName) && !names_.add(id)) return {};
    Resources resources;
    if (!table.is_empty(kResources) && !read_resources(table.text(kResources), resources)) {
      return table.error_at(kResources,
                            fmt::format("RES: expected resources such as {{\"nvidia.com/gpu\": \"8\"}}, found {}",
                                        quote(table.text(kResources))));
    }
    Workers& workers = resources.gpus > 0 ? job.with_gpus : job.without;
    ++workers.count;
    workers.gpus += resources.gpus;
    workers.gpus_max = std::max(workers.gpus_max, resources.gpus);
    workers.cpu_milli_max = std::max(workers.cpu_milli_max, resources.cpu_milli);
    workers.memory_bytes_max = std::max(workers.memory_bytes_max, resources.memory_bytes);
    return {};
  }

  Row read(TraceJob& job) {
    CsvFields& table = *jobs_;
    job.id = table.text(kJobName);
    job.model = table.text(kModel);
    job.user = table.text(kUserId);
    job.queue = table.text(kWorkspace);
    constexpr int64_t kPriorityMax = 1'000'000'000;
    if (!table.is_empty(kPriority))
      job.priority = static_cast<int32_t>(table.rounded(kPriority, {.low = -kPriorityMax, .high = kPriorityMax}));
    if (!table.is_empty(kMinutesMax)) {
      const int64_t minutes_max = table.rounded(kMinutesMax, {.low = 0, .high = 10'000'000});
      if (minutes_max > 0) job.limit = job.estimate = minutes(minutes_max);
    }
    const std::string_view status = table.text(kStatus);
    if (status == "Succeeded") job.end = TraceEnd::kDone;
    if (status == "Failed") job.end = TraceEnd::kFailed;
    if (status == "Stopped") job.end = TraceEnd::kCancelled;
    const size_t end = table.is_empty(kFinished) ? kStopped : kFinished;
    if (table.is_empty(kSubmitted) || table.is_empty(kRunning) || table.is_empty(end) || status == "Running")
      return Row::kLeftOut;
    job.submit.ns = table.date_time(kSubmitted);
    job.recorded_start.ns = table.date_time(kRunning);
    job.recorded_end.ns = table.date_time(end);
    job.run_time = job.recorded_end - job.recorded_start;
    const auto found = workers_of_.find(job.id);
    const bool asks = found != workers_of_.end() && read_workers(found->second, job);
    return asks && job.run_time != Duration{0} ? Row::kJob : Row::kLeftOut;
  }

  /// A master without GPUs beside workers with GPUs is passed over. False: nothing is asked for.
  static bool read_workers(const JobWorkers& all, TraceJob& job) {
    const Workers& workers = all.with_gpus.count > 0 ? all.with_gpus : all.without;
    if (workers.gpus > kGpus.high) return false;
    const bool is_even = workers.gpus == workers.gpus_max * workers.count;
    job.tasks = is_even ? static_cast<int32_t>(workers.count) : 1;
    job.gpus_per_task = static_cast<int32_t>(is_even ? workers.gpus_max : workers.gpus);
    job.is_gpu_count = is_even ? 0 : 1;
    job.cpu_milli = workers.cpu_milli_max;
    job.memory_bytes = workers.memory_bytes_max;
    return workers.gpus > 0 || workers.cpu_milli_max > 0;
  }

  std::unique_ptr<CsvFields> jobs_;
  std::unique_ptr<CsvFields> workers_;  ///< none: read
  IdSet names_;
  std::unordered_map<std::string, JobWorkers> workers_of_;  ///< only looked into, never walked through
};

Result<std::unique_ptr<CsvFields>> table_of(TextWindow file, std::vector<CsvTable::Column> columns) {
  Result<CsvTable> table = CsvTable::open(CsvReader(std::move(file)), columns, CsvTable::Unknown::kIgnored);
  if (!table) return std::unexpected(std::move(table.error()));
  return std::make_unique<CsvFields>(std::move(*table), std::move(columns));
}

}  // namespace

OpenedRows open_lingjun_rows(LingjunTables tables) {
  auto jobs = table_of(std::move(tables.jobs), job_columns());
  if (!jobs) return std::unexpected(std::move(jobs.error()));
  auto workers =
      table_of(std::move(tables.workers), {{"job_name"}, {"worker_name", CsvTable::Presence::kOptional}, {"RES"}});
  if (!workers) return std::unexpected(std::move(workers.error()));
  return std::make_unique<LingjunRows>(std::move(*jobs), std::move(*workers));
}

}  // namespace weft::sim
