#pragma once

// What must hold of every trace, whatever its bytes are. Used by the fuzzers of the readers.

#include "base/check.h"
#include "base/text.h"
#include "sim/byte_source.h"
#include "sim/trace/numbers.h"
#include "sim/trace/trace_reader.h"
#include "sim/trace/trace_writer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace weft::fuzz {

struct Outcome {
  std::vector<sim::TraceJob> jobs;
  std::string error;  ///< empty: none
  bool operator==(const Outcome&) const = default;
};

inline void check_message(const std::string& message) {
  WEFT_CHECK(message.starts_with("t") && message.size() < 4000 && is_utf8(message),
             "a message is text, and names the file");
  for (const char c : message) WEFT_CHECK(static_cast<unsigned char>(c) >= 0x20, "a message is one line");
}

inline void check_job(const sim::TraceJob& job) {
  WEFT_CHECK(!job.id.empty(), "a job has an id");
  WEFT_CHECK(job.run_time > Duration{0} && job.run_time.ns <= sim::kTraceTimeMax, "a job runs, and not for ever");
  WEFT_CHECK(job.tasks >= 1 && job.gpus_per_task >= 0 && job.gpu_milli >= 0 && job.gpu_milli < 1000,
             "counts are in range");
  WEFT_CHECK(job.gpu_milli == 0 || job.gpus_per_task == 0, "a share is of one GPU");
  WEFT_CHECK(job.is_gpu_count == 0 || job.tasks == 1, "GPUs anywhere are of one task");
  WEFT_CHECK(job.cpu_milli >= 0 && job.memory_bytes >= 0, "sizes are sizes");
  WEFT_CHECK(job.estimate > Duration{0} || job.estimate == Duration{0}, "an estimate is no negative time");
}

inline Outcome drain(Result<std::unique_ptr<sim::TraceReader>> reader) {
  Outcome outcome;
  if (!reader) {
    outcome.error = reader.error().message;
    check_message(outcome.error);
    return outcome;
  }
  std::unordered_set<std::string> ids;
  sim::TraceJob job;
  for (;;) {
    const Result<sim::TraceReader::Step> step = (*reader)->next(job);
    if (!step) {
      outcome.error = step.error().message;
      check_message(outcome.error);
      break;
    }
    if (*step == sim::TraceReader::Step::kEnd) break;
    check_job(job);
    WEFT_CHECK(ids.insert(job.id).second, "an id stands once");
    WEFT_CHECK(outcome.jobs.empty() || outcome.jobs.back().submit <= job.submit, "jobs come by submission");
    outcome.jobs.push_back(job);
  }
  const sim::TraceNotes& notes = (*reader)->notes();
  WEFT_CHECK(!outcome.error.empty() || notes.rows == outcome.jobs.size(), "the notes count the jobs");
  WEFT_CHECK(!outcome.error.empty() || !outcome.jobs.empty(), "a trace without jobs is an error");
  WEFT_CHECK((notes.skipped == 0) == notes.first_skipped.empty(), "the first bad row is told");
  if (!notes.first_skipped.empty()) check_message(notes.first_skipped);
  return outcome;
}

/// What was read is read back equal from weft's own CSV.
inline void check_round_trip(const Outcome& outcome) {
  if (outcome.jobs.empty() || !outcome.error.empty()) return;
  const std::string csv = sim::trace_csv(outcome.jobs);
  const Outcome again = drain(sim::open_trace(sim::bytes_of(csv, "t"), {.format = sim::TraceFormat::kWeftCsv}));
  WEFT_CHECK(again == outcome, "a trace survives weft's CSV");
}

/// Reads the bytes in one piece and in small ones, with bad rows refused and skipped.
inline void check_trace(std::string_view text, sim::TraceFormat format) {
  constexpr size_t kWhole = size_t{1} << 20;
  const auto read = [&](size_t piece, sim::BadRows bad_rows) {
    return drain(sim::open_trace(sim::bytes_of(text, "t", piece), {.format = format, .bad_rows = bad_rows}));
  };
  const Outcome refused = read(kWhole, sim::BadRows::kRefuse);
  WEFT_CHECK(refused == read(7, sim::BadRows::kRefuse), "a trace is the same however its bytes come");
  const Outcome skipped = read(kWhole, sim::BadRows::kSkip);
  WEFT_CHECK(skipped == read(3, sim::BadRows::kSkip), "a trace is the same however its bytes come");
  WEFT_CHECK(!refused.error.empty() || refused == skipped, "of a good trace nothing is skipped");
  check_round_trip(skipped);
}

}  // namespace weft::fuzz
