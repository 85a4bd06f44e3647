#include "sim/trace/weft_fields.h"

#include "base/text.h"
#include "sim/trace/numbers.h"
#include "sim/word_list.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <utility>

namespace weft::sim {

namespace {

constexpr int64_t kSecond = 1'000'000'000;

bool read_seconds(std::string_view text, int64_t low, int64_t& nanoseconds) {
  int64_t value = 0;
  if (read_decimal(text, kSecond, value) != NumberFault::kNone || value < low) return false;
  nanoseconds = value;
  return true;
}

template <typename Number>
bool read_whole(std::string_view text, int64_t low, int64_t high, Number& number) {
  const Result<int64_t> value = parse_integer(text, low, high);
  if (value) number = static_cast<Number>(*value);
  return value.has_value();
}

template <std::string TraceJob::* member>
constexpr WeftField text_of(std::string_view name) {
  return {.name = name,
          .expected = "a text",
          .kind = WeftField::Kind::kText,
          .read =
              [](std::string_view text, TraceJob& job) {
                job.*member = text;
                return true;
              },
          .write = [](const TraceJob& job, std::string& out) { out += job.*member; }};
}

template <Duration TraceJob::* member>
constexpr WeftField duration_of(std::string_view name) {
  return {.name = name,
          .expected = "a number of seconds, 0 or more",
          .read = [](std::string_view text, TraceJob& job) { return read_seconds(text, 0, (job.*member).ns); },
          .write =
              [](const TraceJob& job, std::string& out) {
                if (job.*member != TraceJob{}.*member) append_seconds((job.*member).ns, out);
              }};
}

template <Instant TraceJob::* member>
constexpr WeftField instant_of(std::string_view name) {
  return {
      .name = name,
      .expected = "a number of seconds",
      .read = [](std::string_view text, TraceJob& job) { return read_seconds(text, -kTraceTimeMax, (job.*member).ns); },
      .write =
          [](const TraceJob& job, std::string& out) {
            if (job.*member != TraceJob{}.*member) append_seconds((job.*member).ns, out);
          }};
}

template <auto member, int64_t low, int64_t high>
constexpr WeftField whole_of(std::string_view name, std::string_view expected) {
  return {.name = name,
          .expected = expected,
          .read = [](std::string_view text, TraceJob& job) { return read_whole(text, low, high, job.*member); },
          .write =
              [](const TraceJob& job, std::string& out) {
                if (job.*member != TraceJob{}.*member) fmt::format_to(std::back_inserter(out), "{}", job.*member);
              }};
}

constexpr std::array<std::pair<std::string_view, TraceEnd>, 3> kEnds{
    {{"done", TraceEnd::kDone}, {"failed", TraceEnd::kFailed}, {"cancelled", TraceEnd::kCancelled}}};

bool read_end(std::string_view text, TraceJob& job) {
  for (const auto& [word, end] : kEnds) {
    if (word == text) job.end = end;
  }
  return job.end != TraceEnd::kNotTold;
}

void write_end(const TraceJob& job, std::string& out) {
  for (const auto& [word, end] : kEnds) {
    if (end == job.end) out += word;
  }
}

bool read_gpu_models(std::string_view text, TraceJob& job) {
  read_words(text, '|', job.gpu_models);
  return !job.gpu_models.empty();
}

void write_gpu_models(const TraceJob& job, std::string& out) {
  for (const std::string& model : job.gpu_models) {
    if (&model != &job.gpu_models.front()) out += '|';
    out += model;
  }
}

constexpr int64_t kCountMax = 1'000'000;
constexpr int64_t kLargest = int64_t{1} << 60;

constexpr std::array kFields{
    text_of<&TraceJob::id>("id"),
    // Always written, also where it is 0, as it is in TraceJob{}.
    WeftField{
        .name = "submit",
        .expected = "a number of seconds",
        .read = [](std::string_view text, TraceJob& job) { return read_seconds(text, -kTraceTimeMax, job.submit.ns); },
        .write = [](const TraceJob& job, std::string& out) { append_seconds(job.submit.ns, out); }},
    WeftField{.name = "run_time",
              .expected = "a number of seconds",
              .read = [](std::string_view text,
                         TraceJob& job) { return read_seconds(text, -kTraceTimeMax, job.run_time.ns); },
              .write = [](const TraceJob& job, std::string& out) { append_seconds(job.run_time.ns, out); }},
    whole_of<&TraceJob::gpus_per_task, 0, kCountMax>("gpus", "a number from 0 to 1,000,000"),
    whole_of<&TraceJob::tasks, 1, kCountMax>("tasks", "a number from 1 to 1,000,000"),
    whole_of<&TraceJob::is_gpu_count, 0, 1>("gpus_anywhere", "0 or 1"),
    whole_of<&TraceJob::gpu_milli, 0, 999>("gpu_milli", "a number from 0 to 999"),
    WeftField{.name = "gpu_models",
              .expected = "names of models with | between them",
              .kind = WeftField::Kind::kText,
              .read = read_gpu_models,
              .write = write_gpu_models},
    whole_of<&TraceJob::cpu_milli, 0, kLargest>("cpu_milli", "a whole number, 0 or more"),
    whole_of<&TraceJob::memory_bytes, 0, kLargest>("memory_bytes", "a whole number, 0 or more"),
    text_of<&TraceJob::name>("name"),
    text_of<&TraceJob::user>("user"),
    text_of<&TraceJob::queue>("queue"),
    text_of<&TraceJob::model>("model"),
    whole_of<&TraceJob::priority, -2'000'000'000, 2'000'000'000>("priority",
                                                                 "a number from -2,000,000,000 to 2,000,000,000"),
    duration_of<&TraceJob::estimate>("estimate"),
    duration_of<&TraceJob::limit>("limit"),
    instant_of<&TraceJob::deadline>("deadline"),
    whole_of<&TraceJob::iterations, 0, kLargest>("iterations", "a whole number, 0 or more"),
    duration_of<&TraceJob::iteration_time>("iteration_time"),
    WeftField{.name = "end", .expected = "done, failed or cancelled", .read = read_end, .write = write_end},
    instant_of<&TraceJob::recorded_start>("recorded_start"),
    instant_of<&TraceJob::recorded_end>("recorded_end"),
};

static_assert(kFields[kWeftIdField].name == "id" && kFields[kWeftSubmitField].name == "submit" &&
              kFields[kWeftRunTimeField].name == "run_time");

}  // namespace

std::span<const WeftField> weft_fields() { return kFields; }

std::string_view weft_job_fault(const TraceJob& job) {
  if (job.gpu_milli > 0 && job.gpus_per_task > 0) return "gpu_milli is a share of one GPU; expected no gpus beside it";
  if (job.is_gpu_count != 0 && job.tasks != 1) return "gpus_anywhere is for one task; expected no more tasks";
  return {};
}

}  // namespace weft::sim
