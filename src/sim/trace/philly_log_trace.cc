// Philly's cluster_job_log: a JSON list of jobs with all their attempts.

#include "base/text.h"
#include "sim/trace/formats.h"
#include "sim/trace/job_pack.h"
#include "sim/trace/json_objects.h"
#include "sim/trace/numbers.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace weft::sim {

namespace {

namespace json = boost::json;

class PhillyLogRows final : public TraceRows {
 public:
  explicit PhillyLogRows(TextWindow file) : objects_(std::move(file)) {}

  Result<Row> next(TraceJob& job) override {
    const Result<bool> is_object = objects_.next(text_);
    if (!is_object) return std::unexpected(is_object.error());
    if (!*is_object) return Row::kEnd;
    json::value value;
    try {
      json::error_code code;
      json::parser parser({}, {.max_depth = 32});
      const size_t taken = parser.write_some({text_.data(), text_.size()}, code);
      if (code) return objects_.error_at(taken, fmt::format("this is not JSON: {}", code.message()));
      value = parser.release();
    } catch (const std::exception& error) {
      return objects_.error_at(0, fmt::format("this cannot be read as JSON: {}", error.what()));
    }
    reset(job);
    const Row row = read(value.get_object(), job);
    if (error_) return std::unexpected(*std::exchange(error_, std::nullopt));
    return row;
  }
  bool goes_on() const override { return objects_.goes_on(); }
  const std::string& name() const override { return objects_.name(); }
  Clock clock() const override { return Clock::kUnix; }
  std::unexpected<Error> error_at(Part part, std::string_view message) const override {
    return error_of(part == Part::kId ? "jobid" : (part == Part::kSubmit ? "submitted_time" : "attempts"), message);
  }

 private:
  std::unexpected<Error> error_of(std::string_view key, std::string_view message) const {
    return objects_.error_at(place_of_key(text_, key), message);
  }
  void wrong(std::string_view key, std::string_view message) {
    if (!error_) error_ = error_of(key, fmt::format("{}: {}", key, message)).error();
  }

  /// Text, or nothing where there is null or no such key.
  std::string_view text_of(const json::object& object, std::string_view key) {
    const json::value* const value = object.if_contains({key.data(), key.size()});
    if (value == nullptr || value->is_null()) return {};
    if (!value->is_string()) {
      wrong(key, "expected a text");
      return {};
    }
    return {value->get_string().data(), value->get_string().size()};
  }

  /// Of a time that the log may not have.
  std::optional<Instant> instant_of(const json::object& object, std::string_view key, std::string_view outer_key) {
    const json::value* const value = object.if_contains({key.data(), key.size()});
    if (value == nullptr || value->is_null()) return std::nullopt;
    const std::string_view text =
        value->is_string() ? std::string_view(value->get_string().data(), value->get_string().size()) : "";
    if (value->is_string() && (text.empty() || text == "None")) return std::nullopt;
    const std::optional<int64_t> instant = read_date_time(text);
    if (!instant) {
      wrong(outer_key, fmt::format("{}expected a time such as 2017-10-09 07:01:55, found {}",
                                   key == outer_key ? "" : fmt::format("{}: ", key), quote(text)));
      return std::nullopt;
    }
    return Instant{*instant};
  }

  /// The list behind `key`; null: there is none.
  const json::array* list_of(const json::object& object, std::string_view key, std::string_view outer_key) {
    const json::value* const value = object.if_contains({key.data(), key.size()});
    if (value == nullptr || value->is_null()) return nullptr;
    if (value->is_array()) return &value->get_array();
    wrong(outer_key, key == outer_key ? "expected a list" : fmt::format("{}: expected a list", key));
    return nullptr;
  }

  Row read(const json::object& object, TraceJob& job) {
    job.id = text_of(object, "jobid");
    job.user = text_of(object, "user");
    job.queue = text_of(object, "vc");
    const std::string_view status = text_of(object, "status");
    if (status == "Pass") job.end = TraceEnd::kDone;
    if (status == "Failed") job.end = TraceEnd::kFailed;
    if (status == "Killed") job.end = TraceEnd::kCancelled;
    const std::optional<Instant> submit = instant_of(object, "submitted_time", "submitted_time");
    job.submit = submit.value_or(Instant{0});
    if (!submit) wrong("submitted_time", "expected the time of the submission");
    job.is_gpu_count = 1;
    const json::array* const attempts = list_of(object, "attempts", "attempts");
    if (attempts == nullptr) return Row::kLeftOut;
    bool has_ended = true;
    int64_t gpus = 0;
    for (const json::value& attempt : *attempts) {
      if (!attempt.is_object()) {
        wrong("attempts", "expected a list of objects");
        break;
      }
      has_ended = read_attempt(attempt.get_object(), job);
      gpus = std::max(gpus, gpus_of(attempt.get_object()));
    }
    job.gpus_per_task = static_cast<int32_t>(gpus);
    return !has_ended || gpus == 0 || job.run_time == Duration{0} ? Row::kLeftOut : Row::kJob;
  }

  /// Adds its time to the job's. False: it has no end.
  bool read_attempt(const json::object& attempt, TraceJob& job) {
    const std::optional<Instant> start = instant_of(attempt, "start_time", "attempts");
    const std::optional<Instant> end = instant_of(attempt, "end_time", "attempts");
    if (start && job.recorded_start == kNever) job.recorded_start = *start;
    if (end) job.recorded_end = *end;
    if (start && end) {
      if (*end < *start) wrong("attempts", "an attempt ends before it starts");
      job.run_time.ns = std::min((job.run_time + (*end - *start)).ns, kTraceTimeMax);
    }
    return end.has_value();
  }

  int64_t gpus_of(const json::object& attempt) {
    int64_t gpus = 0;
    const json::array* const detail = list_of(attempt, "detail", "attempts");
    if (detail == nullptr) return 0;
    for (const json::value& host : *detail) {
      if (!host.is_object()) {
        wrong("attempts", "detail: expected a list of objects");
        return 0;
      }
      const json::array* const devices = list_of(host.get_object(), "gpus", "attempts");
      if (devices != nullptr) gpus += static_cast<int64_t>(devices->size());
    }
    return gpus;
  }

  JsonObjects objects_;
  std::string_view text_;
  std::optional<Error> error_;
};

}  // namespace

OpenedRows open_philly_log_rows(TextWindow file) { return std::make_unique<PhillyLogRows>(std::move(file)); }

}  // namespace weft::sim
