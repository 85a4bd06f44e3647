#include "sim/trace/trace_reader.h"

#include "base/text.h"
#include "sim/byte_source.h"
#include "sim/trace/checked_rows.h"
#include "sim/trace/formats.h"
#include "sim/trace/recognise.h"
#include "sim/trace/sorted_jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

namespace weft::sim {

namespace {

constexpr std::array<std::pair<TraceFormat, std::string_view>, 13> kNames{{{TraceFormat::kAuto, "auto"},
                                                                           {TraceFormat::kOpenb, "openb"},
                                                                           {TraceFormat::kPhilly, "philly"},
                                                                           {TraceFormat::kTiresias, "tiresias"},
                                                                           {TraceFormat::kMuri, "muri"},
                                                                           {TraceFormat::kHelios, "helios"},
                                                                           {TraceFormat::kPhillyLog, "philly-log"},
                                                                           {TraceFormat::kPai, "pai"},
                                                                           {TraceFormat::kLingjun, "lingjun"},
                                                                           {TraceFormat::kSwf, "swf"},
                                                                           {TraceFormat::kSacct, "sacct"},
                                                                           {TraceFormat::kWeftCsv, "weft"},
                                                                           {TraceFormat::kWeftYaml, "weft"}}};

/// Counts what is read of another.
class CountedSource final : public ByteSource {
 public:
  CountedSource(std::unique_ptr<ByteSource> source, std::shared_ptr<uint64_t> bytes)
      : source_(std::move(source)), bytes_(std::move(bytes)) {}
  Result<size_t> read(char* into, size_t size) override {
    const Result<size_t> count = source_->read(into, size);
    if (count) *bytes_ += *count;
    return count;
  }
  const std::string& name() const override { return source_->name(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::shared_ptr<uint64_t> bytes_;
};

/// A trace that is given as it is read, from a file whose size is known.
class MeasuredTrace final : public TraceReader {
 public:
  MeasuredTrace(std::unique_ptr<TraceReader> trace, std::shared_ptr<uint64_t> bytes, uint64_t size)
      : trace_(std::move(trace)), bytes_(std::move(bytes)), size_(size) {}
  Result<Step> next(TraceJob& job) override { return trace_->next(job); }
  const TraceNotes& notes() const override { return trace_->notes(); }
  double share_given() const override { return static_cast<double>(*bytes_) / static_cast<double>(size_); }

 private:
  std::unique_ptr<TraceReader> trace_;
  std::shared_ptr<uint64_t> bytes_;
  uint64_t size_;
};

/// Gives jobs as they come.
class StreamedTrace final : public TraceReader {
 public:
  explicit StreamedTrace(CheckedRows rows) : rows_(std::move(rows)) {}
  Result<Step> next(TraceJob& job) override { return rows_.next(job); }
  const TraceNotes& notes() const override { return rows_.notes(); }

 private:
  CheckedRows rows_;
};

/// Reads all before it gives the first.
class SortedTrace final : public TraceReader {
 public:
  explicit SortedTrace(CheckedRows rows) : rows_(std::move(rows)) {}

  Result<Step> next(TraceJob& job) override {
    if (!is_read_) {
      is_read_ = true;
      read_all(job);
    }
    if (failure_) return std::unexpected(*failure_);
    if (!jobs_.next(job)) return Step::kEnd;
    move_to_epoch(job);
    return Step::kJob;
  }
  const TraceNotes& notes() const override { return rows_.notes(); }
  double share_given() const override {
    return jobs_.size() == 0 ? 0 : static_cast<double>(jobs_.given()) / static_cast<double>(jobs_.size());
  }

 private:
  void read_all(TraceJob& job) {
    for (;;) {
      const Result<Step> step = rows_.next(job);
      if (!step) failure_ = step.error();
      if (!step || *step == Step::kEnd) break;
      jobs_.add(job);
    }
    if (failure_) return;
    jobs_.sort();
    constexpr int64_t kSecond = 1'000'000'000;
    if (rows_.rows().clock() == TraceRows::Clock::kUnix) rows_.notes().epoch = jobs_.first_submit().ns / kSecond;
    if (rows_.rows().clock() == TraceRows::Clock::kUnix) moved_ = seconds(rows_.notes().epoch);
  }
  void move_to_epoch(TraceJob& job) const {
    job.submit = job.submit - moved_;
    for (Instant* instant : {&job.deadline, &job.recorded_start, &job.recorded_end}) {
      if (*instant != kNever) *instant = *instant - moved_;
    }
  }

  CheckedRows rows_;
  SortedJobs jobs_;
  Duration moved_{0};
  std::optional<Error> failure_;
  bool is_read_ = false;
};

bool is_folder_format(TraceFormat format) { return format == TraceFormat::kPai || format == TraceFormat::kLingjun; }

bool is_streamed(TraceFormat format) {
  switch (format) {
    case TraceFormat::kTiresias:
    case TraceFormat::kMuri:
    case TraceFormat::kSwf:
    case TraceFormat::kWeftCsv:
    case TraceFormat::kWeftYaml: return true;
    default: return false;
  }
}

OpenedRows open_rows(TextWindow file, TraceFormat format) {
  switch (format) {
    case TraceFormat::kOpenb: return open_openb_rows(std::move(file));
    case TraceFormat::kPhilly: return open_philly_rows(std::move(file));
    case TraceFormat::kTiresias: return open_tiresias_rows(std::move(file));
    case TraceFormat::kMuri: return open_muri_rows(std::move(file));
    case TraceFormat::kHelios: return open_helios_rows(std::move(file));
    case TraceFormat::kPhillyLog: return open_philly_log_rows(std::move(file));
    case TraceFormat::kSwf: return open_swf_rows(std::move(file));
    case TraceFormat::kSacct: return open_sacct_rows(std::move(file));
    case TraceFormat::kWeftYaml: return open_weft_yaml_rows(std::move(file));
    default: return open_weft_csv_rows(std::move(file));
  }
}

}  // namespace

std::string_view trace_format_name(TraceFormat format) {
  return std::ranges::find(kNames, format, &std::pair<TraceFormat, std::string_view>::first)->second;
}

Result<TraceFormat> parse_trace_format(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [format, known] : kNames) {
    if (known == name) return format;
    if (names.empty() || names.back() != known) names.push_back(known);
  }
  const std::string_view meant = nearest(name, names);
  return fail(ErrorCode::kInvalidInput,
              fmt::format("unknown format {}; {}expected one of {}", quote(name),
                          meant.empty() ? "" : fmt::format("did you mean '{}'? ", meant), fmt::join(names, ", ")));
}

Result<std::unique_ptr<TraceReader>> open_trace(OpenedRows rows, TraceFormat format, BadRows bad_rows) {
  if (!rows) return std::unexpected(std::move(rows.error()));
  using Order = CheckedRows::Order;
  if (is_streamed(format)) {
    return std::make_unique<StreamedTrace>(CheckedRows(std::move(*rows), format, bad_rows, Order::kBySubmission));
  }
  return std::make_unique<SortedTrace>(CheckedRows(std::move(*rows), format, bad_rows, Order::kAny));
}

Result<std::unique_ptr<TraceReader>> open_trace(std::unique_ptr<ByteSource> source, const TraceOptions& options) {
  Result<std::unique_ptr<ByteSource>> bytes = unpacked(std::move(source));
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  TextWindow file(std::move(*bytes));
  TraceFormat format = options.format;
  // "weft" is the name of both: the first line says which.
  const bool is_open = format == TraceFormat::kAuto || format == TraceFormat::kWeftCsv;
  const Result<TraceFormat> recognised = is_open ? recognise_trace(file) : format;
  if (format == TraceFormat::kAuto && !recognised) return std::unexpected(recognised.error());
  if (format == TraceFormat::kAuto || (recognised && *recognised == TraceFormat::kWeftYaml)) format = *recognised;
  if (is_folder_format(format)) {
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: the format {} is a folder of tables; expected the folder",
                                                      file.name(), trace_format_name(format)));
  }
  return open_trace(open_rows(std::move(file), format), format, options.bad_rows);
}

namespace {

Result<std::unique_ptr<TraceReader>> open_trace_file(const std::string& path, const TraceOptions& options) {
  Result<std::unique_ptr<ByteSource>> bytes = open_plain_bytes(path);
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  auto count = std::make_shared<uint64_t>(0);
  Result<std::unique_ptr<TraceReader>> trace =
      open_trace(std::make_unique<CountedSource>(std::move(*bytes), count), options);
  std::error_code code;
  const uint64_t size = std::filesystem::file_size(path, code);
  if (!trace || code || size == 0 || !is_streamed((*trace)->notes().format)) return trace;
  return std::make_unique<MeasuredTrace>(std::move(*trace), std::move(count), size);
}

}  // namespace

Result<std::unique_ptr<TraceReader>> open_trace(const std::string& path, const TraceOptions& options) {
  std::error_code code;
  if (!std::filesystem::is_directory(path, code) ||
      (options.format != TraceFormat::kAuto && !is_folder_format(options.format))) {
    return open_trace_file(path, options);
  }
  const Result<TraceFormat> format =
      options.format == TraceFormat::kAuto ? recognise_trace_folder(path) : options.format;
  if (!format) return std::unexpected(format.error());
  return open_trace(*format == TraceFormat::kPai ? open_pai_folder(path) : open_lingjun_folder(path), *format,
                    options.bad_rows);
}

Result<std::vector<TraceJob>> read_trace(const std::string& path, const TraceOptions& options, TraceNotes* notes) {
  Result<std::unique_ptr<TraceReader>> reader = open_trace(path, options);
  if (!reader) return std::unexpected(std::move(reader.error()));
  std::vector<TraceJob> jobs;
  TraceJob job;
  for (;;) {
    const Result<TraceReader::Step> step = (*reader)->next(job);
    if (!step) return std::unexpected(step.error());
    if (*step == TraceReader::Step::kEnd) break;
    jobs.push_back(job);
  }
  if (notes != nullptr) *notes = (*reader)->notes();
  return jobs;
}

}  // namespace weft::sim
