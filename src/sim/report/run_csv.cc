#include "sim/report/run_csv.h"

#include "sim/csv.h"

#include <fmt/format.h>

#include <iterator>

namespace weft::sim {

namespace {

constexpr size_t kPartBytes = size_t{64} << 10;

void add_seconds(std::string& out, Duration duration) {
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t whole = duration.ns / kSecond, rest = duration.ns % kSecond;
  if (rest == 0) {
    fmt::format_to(std::back_inserter(out), "{}", whole);
    return;
  }
  fmt::format_to(std::back_inserter(out), "{}{}.{:09}", duration.ns < 0 ? "-" : "", whole < 0 ? -whole : whole,
                 rest < 0 ? -rest : rest);
  out.erase(out.find_last_not_of('0') + 1);
}

void add_row(std::string& out, const JobOutcome& job) {
  const auto cell = [&](Duration value) {
    add_seconds(out, value);
    out += ',';
  };
  const bool has_start = job.start != kNever;
  const bool has_end = has_start && job.end != kNever;
  fmt::format_to(std::back_inserter(out), "{},{},", csv_text(job.id), job.gpus);
  cell(job.submit - Instant{});
  if (has_start) add_seconds(out, job.start - Instant{});
  out += ',';
  if (has_end) add_seconds(out, job.end - Instant{});
  out += ',';
  cell(job.executed);
  if (has_end) add_seconds(out, job.jct());
  out += ',';
  if (has_end) add_seconds(out, job.waited());
  fmt::format_to(std::back_inserter(out), ",{}\n", job.preempts);
}

}  // namespace

std::string seconds_text(Duration duration) {
  std::string out;
  add_seconds(out, duration);
  return out;
}

Result<void> write_jobs_csv(const RunOutcome& outcome, const TextSink& sink) {
  std::string part = "job_id,num_gpu,submit_time,start_time,end_time,executed_time,jct,pending_time,preempts\n";
  for (const JobOutcome& job : outcome.jobs) {
    add_row(part, job);
    if (part.size() < kPartBytes) continue;
    if (Result<void> taken = sink(part); !taken) return taken;
    part.clear();
  }
  return part.empty() ? Result<void>() : sink(part);
}

}  // namespace weft::sim
