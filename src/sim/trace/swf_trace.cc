// The Standard Workload Format 2.2: 18 numbers a line, -1 for what is not known, comments and a header behind ";".
// It counts processors and knows no GPUs: a processor is a GPU here.

#include "base/text.h"
#include "sim/line_reader.h"
#include "sim/trace/formats.h"
#include "sim/trace/job_pack.h"
#include "sim/trace/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace weft::sim {

namespace {

constexpr size_t kFields = 18;
/// From 0; the format counts them from 1.
enum Field : size_t {
  kNumber = 0,
  kSubmit = 1,
  kWait = 2,
  kRunTime = 3,
  kAllocated = 4,
  kRequested = 7,
  kRequestedTime = 8,
  kStatus = 10,
  kUser = 11,
  kExecutable = 13,
  kQueue = 14,
};
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kUnknown = -1;

class SwfRows final : public TraceRows {
 public:
  explicit SwfRows(TextWindow file) : lines_(std::move(file)) {}

  Result<Row> next(TraceJob& job) override {
    do {
      const Result<bool> is_line = lines_.next(line_);
      if (!is_line) return std::unexpected(is_line.error());
      if (!*is_line) return Row::kEnd;
    } while (!split());
    if (count_ != kFields) {
      return lines_.error_at(
          line_.number, 1,
          fmt::format("{} numbers; expected {}: a line of the Standard Workload Format", count_, kFields));
    }
    reset(job);
    const Row row = read(job);
    if (error_) return std::unexpected(*std::exchange(error_, std::nullopt));
    return row;
  }
  bool goes_on() const override { return lines_.goes_on(); }
  const std::string& name() const override { return lines_.name(); }
  int64_t epoch() const override { return epoch_; }
  std::unexpected<Error> error_at(Part part, std::string_view message) const override {
    return error_of(part == Part::kId ? kNumber : (part == Part::kSubmit ? kSubmit : kRunTime), message);
  }

 private:
  std::unexpected<Error> error_of(size_t field, std::string_view message) const {
    return lines_.error_at(line_.number, static_cast<size_t>(fields_[field].data() - line_.text.data()) + 1, message);
  }

  /// False for a line without fields.
  bool split() {
    constexpr std::string_view kBlanks = " \t\r";
    count_ = 0;
    std::string_view rest = line_.text;
    for (;;) {
      const size_t start = rest.find_first_not_of(kBlanks);
      if (start == std::string_view::npos) return count_ > 0;
      rest.remove_prefix(start);
      if (count_ == 0 && rest.front() == ';') {
        read_comment(rest.substr(1));
        return false;
      }
      const std::string_view field = rest.substr(0, rest.find_first_of(kBlanks));
      if (count_ < kFields) fields_[count_] = field;
      ++count_;
      rest.remove_prefix(field.size());
    }
  }

  void read_comment(std::string_view text) {
    constexpr std::string_view kStart = "UnixStartTime:";
    const size_t at = text.find(kStart);
    if (at == std::string_view::npos) return;
    text.remove_prefix(at + kStart.size());
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    text = text.substr(0, text.find_first_of(" \t\r"));
    if (const Result<int64_t> seconds = parse_integer(text, 0, kTraceTimeMax / kSecond)) epoch_ = *seconds;
  }

  /// In units of 1/`unit`; kUnknown * unit for what is not known.
  int64_t number(Field field, int64_t unit) {
    int64_t value = 0;
    const NumberFault fault = read_decimal(fields_[field], unit, value);
    if (fault != NumberFault::kNone && !error_) {
      const std::string_view expected = fault == NumberFault::kTooLarge ? "a smaller number" : "a number";
      error_ = error_of(field, fmt::format("field {}: expected {}, found {}", static_cast<int>(field) + 1, expected,
                                           quote(fields_[field])))
                   .error();
    }
    return value;
  }
  int64_t count(Field field) { return number(field, 1000) / 1000; }

  Row read(TraceJob& job) {
    job.id = fields_[kNumber];
    job.submit.ns = number(kSubmit, kSecond);
    job.run_time.ns = number(kRunTime, kSecond);
    const int64_t requested = count(kRequested);
    const int64_t processors = requested > 0 ? requested : count(kAllocated);
    if (processors > 1'000'000 && !error_)
      error_ = error_of(kRequested, "expected at most 1,000,000 processors").error();
    job.is_gpu_count = 1;
    job.gpus_per_task = static_cast<int32_t>(std::clamp(processors, int64_t{0}, int64_t{1'000'000}));
    if (const int64_t estimate = number(kRequestedTime, kSecond); estimate > 0) job.estimate.ns = estimate;
    if (fields_[kUser] != "-1") job.user = fields_[kUser];
    if (fields_[kExecutable] != "-1") job.name = fields_[kExecutable];
    if (fields_[kQueue] != "-1") job.queue = fields_[kQueue];
    if (const int64_t wait = number(kWait, kSecond); wait >= 0) {
      const Instant start = job.submit + Duration{wait};
      const Instant end = start + job.run_time;
      if (std::max(start, end).ns <= kTraceTimeMax) {
        job.recorded_start = start;
        job.recorded_end = end;
      }
    }
    const int64_t status = count(kStatus);
    constexpr std::array kEnds{TraceEnd::kFailed, TraceEnd::kDone};
    if (status == 0 || status == 1) job.end = kEnds[static_cast<size_t>(status)];
    if (status == 5) job.end = TraceEnd::kCancelled;
    const bool is_part = status >= 2 && status <= 4;  // of a job that has a line for the whole of it, too
    const bool ran = job.run_time.ns != 0 && job.run_time.ns != kUnknown * kSecond;
    return is_part || !ran || processors <= 0 ? Row::kLeftOut : Row::kJob;
  }

  LineReader lines_;
  Line line_;
  std::array<std::string_view, kFields> fields_;
  size_t count_ = 0;
  std::optional<Error> error_;
  int64_t epoch_ = 0;
};

}  // namespace

OpenedRows open_swf_rows(TextWindow file) { return std::make_unique<SwfRows>(std::move(file)); }

}  // namespace weft::sim
