// What `sacct --parsable2` prints: columns as they were asked for, with | between them and no quotes. Jobs only; their
// steps (1234.batch, 1234.0) are passed over.

#include "base/text.h"
#include "sim/trace/csv_rows.h"
#include "sim/trace/formats.h"
#include "sim/trace/job_pack.h"
#include "sim/trace/node_shares.h"
#include "sim/trace/numbers.h"
#include "sim/trace/slurm_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace weft::sim {

namespace {

enum Column : size_t {
  kJobId,
  kJobIdRaw,
  kJobName,
  kUser,
  kAccount,
  kPartition,
  kState,
  kSubmit,
  kStart,
  kEnd,
  kElapsed,
  kElapsedRaw,
  kTimelimit,
  kTimelimitRaw,
  kReqTres,
  kAllocTres,
  kReqGres,
  kAllocGres,
  kReqNodes,
  kAllocNodes,
  kNNodes,
  kReqCpus,
  kAllocCpus,
  kNCpus,
  kReqMem,
};
constexpr std::array<std::string_view, 25> kNames{"JobID",     "JobIDRaw",   "JobName",   "User",         "Account",
                                                  "Partition", "State",      "Submit",    "Start",        "End",
                                                  "Elapsed",   "ElapsedRaw", "Timelimit", "TimelimitRaw", "ReqTRES",
                                                  "AllocTRES", "ReqGRES",    "AllocGRES", "ReqNodes",     "AllocNodes",
                                                  "NNodes",    "ReqCPUS",    "AllocCPUS", "NCPUS",        "ReqMem"};

class SacctRows final : public TraceRows, private CsvFields {
 public:
  SacctRows(CsvTable table, std::vector<CsvTable::Column> columns)
      : CsvFields(std::move(table), std::move(columns)),
        id_(has_column(kJobId) ? kJobId : kJobIdRaw),
        elapsed_(has_column(kElapsedRaw) ? kElapsedRaw : (has_column(kElapsed) ? kElapsed : kEnd)) {}

  /// Are there columns enough for a trace?
  Result<void> check_columns() const {
    const auto missing = [&](std::string_view what) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{}:1:1: no column {}; sacct prints it with --format", CsvFields::name(), what));
    };
    if (!has_column(kJobId) && !has_column(kJobIdRaw)) return missing("JobID or JobIDRaw");
    if (!has_column(kSubmit)) return missing("Submit");
    if (elapsed_ == kEnd && !(has_column(kStart) && has_column(kEnd)))
      return missing("Elapsed or ElapsedRaw (or Start and End)");
    constexpr std::array kResources{kReqTres, kAllocTres, kReqGres, kAllocGres, kReqCpus, kAllocCpus, kNCpus};
    if (std::ranges::none_of(kResources, [&](Column column) { return has_column(column); }))
      return missing("ReqTRES or AllocTRES (or ReqGRES, AllocGRES, ReqCPUS, AllocCPUS or NCPUS)");
    return {};
  }

  Result<Row> next(TraceJob& job) override {
    do {
      const Result<CsvReader::Step> step = CsvFields::next();
      if (!step) return std::unexpected(step.error());
      if (*step == CsvReader::Step::kEnd) return Row::kEnd;
    } while (text(id_).contains('.'));
    reset(job);
    const Row row = read(job);
    if (has_error()) return take_error();
    return row;
  }
  bool goes_on() const override { return CsvFields::goes_on(); }
  const std::string& name() const override { return CsvFields::name(); }
  Clock clock() const override { return Clock::kUnix; }
  std::unexpected<Error> error_at(Part part, std::string_view message) const override {
    return CsvFields::error_at(part == Part::kId ? id_ : (part == Part::kSubmit ? kSubmit : elapsed_), message);
  }

 private:
  static bool is_word_for_nothing(std::string_view text) {
    return text.empty() || text == "Unknown" || text == "None" || text == "N/A";
  }
  bool has_time(size_t column) const { return !is_word_for_nothing(text(column)); }

  Row read(TraceJob& job) {
    job.id = text(id_);
    job.name = text(kJobName);
    job.user = text(kUser);
    job.queue = is_empty(kPartition) ? text(kAccount) : text(kPartition);
    job.submit.ns = date_time(kSubmit);
    const SlurmState state = has_column(kState) ? read_slurm_state(text(kState)) : SlurmState::kDone;
    if (state == SlurmState::kUnknownWord)
      wrong(kState, fmt::format("expected a state of Slurm, found {}", quote(text(kState))));
    if (has_column(kState)) job.end = end_of(state);
    if (has_time(kStart)) job.recorded_start.ns = date_time(kStart);
    if (has_time(kEnd)) job.recorded_end.ns = date_time(kEnd);
    const bool asks = read_resources(job);
    read_limit(job);
    if (state == SlurmState::kNotEnded) return Row::kLeftOut;
    const bool ran = read_run_time(job);
    return ran && asks ? Row::kJob : Row::kLeftOut;
  }

  bool read_run_time(TraceJob& job) {
    if (elapsed_ == kEnd) {
      if (!has_time(kStart) || !has_time(kEnd)) return false;
      job.run_time = job.recorded_end - job.recorded_start;
    } else if (elapsed_ == kElapsedRaw) {
      if (is_word_for_nothing(text(kElapsedRaw))) return false;
      job.run_time.ns = decimal(kElapsedRaw);
    } else {
      if (is_word_for_nothing(text(kElapsed))) return false;
      const std::optional<Duration> elapsed = read_slurm_time(text(kElapsed));
      if (!elapsed || *elapsed == kEndless)
        wrong(kElapsed, fmt::format("expected days-hours:minutes:seconds, found {}", quote(text(kElapsed))));
      job.run_time = elapsed.value_or(Duration{0});
    }
    return job.run_time != Duration{0};
  }

  /// What the user said and what Slurm holds him to are one.
  void read_limit(TraceJob& job) {
    const bool is_raw = has_column(kTimelimitRaw);  // in minutes
    const Column column = is_raw ? kTimelimitRaw : kTimelimit;
    const std::string_view limit = text(column);
    if (is_word_for_nothing(limit) || limit == "INVALID" || limit == "UNLIMITED" || limit == "Partition_Limit") return;
    if (is_raw) {
      job.limit = minutes(rounded(column, {.low = 0, .high = kTraceTimeMax / minutes(1).ns}));
    } else {
      const std::optional<Duration> time = read_slurm_time(limit);
      if (!time) wrong(column, fmt::format("expected days-hours:minutes:seconds, found {}", quote(limit)));
      job.limit = time.value_or(kEndless);
    }
    if (job.limit == Duration{0}) job.limit = kEndless;
    job.estimate = job.limit;
  }

  /// Of these columns the first that says something; 0: none does.
  template <size_t count>
  int64_t first_of(const std::array<Column, count>& columns) {
    for (const Column column : columns) {
      if (is_empty(column)) continue;
      const int64_t value = integer(column, {.low = 0, .high = 1'000'000'000});
      if (value > 0) return value;
    }
    return 0;
  }

  /// False: it asks for nothing.
  bool read_resources(TraceJob& job) {
    SlurmResources resources;
    const Column tres = is_empty(kReqTres) ? kAllocTres : kReqTres;
    if (!read_slurm_resources(text(tres), resources))
      wrong(tres, fmt::format("expected a list such as cpu=8,gres/gpu=4,mem=64G,node=1, found {}", quote(text(tres))));
    if (resources.nodes == 0) resources.nodes = first_of(std::array{kReqNodes, kAllocNodes, kNNodes});
    resources.nodes = std::max(resources.nodes, int64_t{1});
    if (resources.cpus == 0) resources.cpus = first_of(std::array{kReqCpus, kAllocCpus, kNCpus});
    if (resources.gpus == 0) read_gres(resources);
    if (resources.memory_bytes == 0) read_memory(resources);
    if (resources.gpus > kGpus.high || resources.nodes > kGpus.high) {
      wrong(tres, fmt::format("expected at most {} GPUs and nodes", format_count(kGpus.high)));
      return false;
    }
    share_over_nodes({.nodes = resources.nodes,
                      .gpus = resources.gpus,
                      .cpu_milli = resources.cpus * 1000,
                      .memory_bytes = resources.memory_bytes},
                     job);
    job.gpu_models = std::move(resources.gpu_models);
    return resources.gpus > 0 || resources.cpus > 0;
  }

  void read_gres(SlurmResources& resources) {
    const Column gres = is_empty(kReqGres) ? kAllocGres : kReqGres;
    if (!read_slurm_gres(text(gres), resources))
      wrong(gres, fmt::format("expected a list such as gpu:4 or gpu:a100:4, found {}", quote(text(gres))));
    resources.gpus *= resources.nodes;
  }

  /// "64G" of the job, "64Gn" of each node, "4Gc" of each CPU.
  void read_memory(SlurmResources& resources) {
    std::string_view memory = text(kReqMem);
    if (is_word_for_nothing(memory) || memory == "0" || memory == "?") return;
    int64_t times = 1;
    if (memory.ends_with('n')) times = resources.nodes;
    if (memory.ends_with('c')) times = std::max(resources.cpus, int64_t{1});
    if (memory.ends_with('n') || memory.ends_with('c')) memory.remove_suffix(1);
    const std::optional<int64_t> bytes = read_slurm_memory(memory);
    if (!bytes || *bytes > (int64_t{1} << 60) / times) {
      wrong(kReqMem, fmt::format("expected memory such as 64G, found {}", quote(text(kReqMem))));
      return;
    }
    resources.memory_bytes = *bytes * times;
  }

  size_t id_;
  size_t elapsed_;
};

}  // namespace

OpenedRows open_sacct_rows(TextWindow file) {
  std::vector<CsvTable::Column> columns;
  for (const std::string_view name : kNames) columns.push_back({name, CsvTable::Presence::kOptional});
  CsvReader reader(std::move(file), {.separator = '|', .quotes = CsvDialect::Quotes::kNone});
  Result<CsvTable> table = CsvTable::open(std::move(reader), columns, CsvTable::Unknown::kIgnored);
  if (!table) return std::unexpected(std::move(table.error()));
  auto rows = std::make_unique<SacctRows>(std::move(*table), std::move(columns));
  if (Result<void> checked = rows->check_columns(); !checked) return std::unexpected(std::move(checked.error()));
  return rows;
}

}  // namespace weft::sim
