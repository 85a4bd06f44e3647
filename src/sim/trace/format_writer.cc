#include "sim/trace/format_writer.h"

#include "base/check.h"
#include "base/text.h"
#include "sim/csv.h"
#include "sim/trace/numbers.h"
#include "sim/trace/trace_writer.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <iterator>
#include <unordered_map>

namespace weft::sim {

namespace {

constexpr int64_t kSecond = 1'000'000'000;

class WeftWriter final : public FormatWriter {
 public:
  explicit WeftWriter(int64_t epoch) : writer_(epoch) {}
  Result<void> write(const TraceJob& job, std::string& out) override {
    writer_.write(job, out);
    return {};
  }

 private:
  TraceCsvWriter writer_;
};

/// A format whose jobs ask for a number of GPUs.
class CountWriter : public FormatWriter {
 public:
  explicit CountWriter(TraceFormat format) : format_(format) {}
  Result<void> write(const TraceJob& job, std::string& out) final {
    if (job.gpu_milli > 0 || job.gpu_count() == 0) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("job {} asks for {}, which the format {} cannot tell; expected weft", quote(job.id),
                              job.gpu_milli > 0 ? "a share of a GPU" : "no GPU", trace_format_name(format_)));
    }
    if (written_ == 0) header(out);
    row(job, written_++, out);
    return {};
  }

 private:
  virtual void header(std::string& out) = 0;
  virtual void row(const TraceJob& job, uint64_t place, std::string& out) = 0;

  TraceFormat format_;
  uint64_t written_ = 0;
};

class TiresiasWriter final : public CountWriter {
 public:
  TiresiasWriter() : CountWriter(TraceFormat::kTiresias) {}

 private:
  void header(std::string& out) override {
    out += "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n";
  }
  void row(const TraceJob& job, uint64_t place, std::string& out) override {
    if (place == 0) last_ = job.submit;
    fmt::format_to(std::back_inserter(out), "{},{},", place + 1, job.gpu_count());
    append_seconds(job.submit.ns, out);
    fmt::format_to(std::back_inserter(out), ",{},{},", job.iterations, csv_text(job.model));
    append_seconds(job.run_time.ns, out);
    out += ',';
    append_seconds((job.submit - last_).ns, out);
    out += '\n';
    last_ = job.submit;
  }

  Instant last_;
};

class PhillyWriter final : public CountWriter {
 public:
  explicit PhillyWriter(int64_t epoch) : CountWriter(TraceFormat::kPhilly), epoch_(epoch) {}

 private:
  void header(std::string& out) override { out += "timestamp,duration,num_gpus,gpu_time,cluster\n"; }
  void row(const TraceJob& job, uint64_t /*place*/, std::string& out) override {
    using std::chrono::days;
    const std::chrono::sys_time<std::chrono::nanoseconds> since_epoch{std::chrono::nanoseconds(job.submit.ns)};
    const auto at = std::chrono::floor<std::chrono::seconds>(since_epoch) + std::chrono::seconds(epoch_);
    const auto midnight = std::chrono::floor<days>(at);
    const std::chrono::year_month_day date(midnight);
    const std::chrono::hh_mm_ss time(at - midnight);
    fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02} {:02}:{:02}:{:02},", int{date.year()},
                   unsigned{date.month()}, unsigned{date.day()}, time.hours().count(), time.minutes().count(),
                   time.seconds().count());
    append_seconds(job.run_time.ns, out);
    fmt::format_to(std::back_inserter(out), ",{},{:.1f},{}\n", job.gpu_count(),
                   job.run_time.seconds() * static_cast<double>(job.gpu_count()), csv_text(job.queue));
  }

  int64_t epoch_;
};

/// Texts as numbers from 1, in the order in which they come; -1: none.
class Numbering {
 public:
  int64_t of(const std::string& text) {
    if (text.empty()) return -1;
    return numbers_.try_emplace(text, static_cast<int64_t>(numbers_.size()) + 1).first->second;
  }

 private:
  std::unordered_map<std::string, int64_t> numbers_;
};

class SwfWriter final : public CountWriter {
 public:
  explicit SwfWriter(int64_t epoch) : CountWriter(TraceFormat::kSwf), epoch_(epoch) {}

 private:
  void header(std::string& out) override {
    fmt::format_to(std::back_inserter(out), "; Version: 2.2\n; UnixStartTime: {}\n; Note: a processor is a GPU\n",
                   epoch_);
  }
  void row(const TraceJob& job, uint64_t place, std::string& out) override {
    constexpr std::array kStatus{-1, 1, 0, 5};  // by TraceEnd
    fmt::format_to(std::back_inserter(out), "{} ", place + 1);
    append_seconds(job.submit.ns, out);
    out += " -1 ";
    append_seconds(job.run_time.ns, out);
    fmt::format_to(std::back_inserter(out), " {} -1 -1 {} ", job.gpu_count(), job.gpu_count());
    append_seconds(job.estimate < kEndless ? job.estimate.ns : -kSecond, out);
    fmt::format_to(std::back_inserter(out), " -1 {} {} -1 {} {} -1 -1 -1\n", kStatus[static_cast<size_t>(job.end)],
                   users_.of(job.user), names_.of(job.name), queues_.of(job.queue));
  }

  int64_t epoch_;
  Numbering users_, names_, queues_;
};

constexpr std::array kWritten{TraceFormat::kWeftCsv, TraceFormat::kTiresias, TraceFormat::kPhilly, TraceFormat::kSwf};

}  // namespace

std::span<const TraceFormat> written_formats() { return kWritten; }

std::unique_ptr<FormatWriter> make_format_writer(TraceFormat format, int64_t epoch) {
  switch (format) {
    case TraceFormat::kTiresias: return std::make_unique<TiresiasWriter>();
    case TraceFormat::kPhilly: return std::make_unique<PhillyWriter>(epoch);
    case TraceFormat::kSwf: return std::make_unique<SwfWriter>(epoch);
    default: WEFT_CHECK(format == TraceFormat::kWeftCsv, "the format can be written");
  }
  return std::make_unique<WeftWriter>(epoch);
}

}  // namespace weft::sim
