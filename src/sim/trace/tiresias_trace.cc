// The CSV of Tiresias' simulator, in seconds, and Muri's, which adds columns and counts in milliseconds.

#include "sim/trace/csv_rows.h"
#include "sim/trace/formats.h"

namespace weft::sim {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMillisecond = 1'000'000;

class TiresiasRows : public CsvRows {
 public:
  enum Column : size_t { kJobId, kNumGpu, kSubmitTime, kIterations, kModelName, kDuration, kIterationTime, kPriority };
  using CsvRows::CsvRows;

 protected:
  Row read_in_units(TraceJob& job, int64_t unit) {
    job.id = text(kJobId);
    job.model = text(kModelName);
    job.tasks = 1;
    job.is_gpu_count = 1;
    job.gpus_per_task = static_cast<int32_t>(integer(kNumGpu, {.low = 1, .high = kGpus.high}));
    job.submit.ns = decimal(kSubmitTime, unit);
    job.run_time.ns = decimal(kDuration, unit);
    if (!is_empty(kIterations)) job.iterations = integer(kIterations, {.low = 0, .high = int64_t{1} << 53});
    return Row::kJob;
  }

 private:
  Row read(TraceJob& job) override { return read_in_units(job, kSecond); }
};

class MuriRows final : public TiresiasRows {
 public:
  using TiresiasRows::TiresiasRows;

 private:
  Row read(TraceJob& job) override {
    const Row row = read_in_units(job, kMillisecond);
    job.iteration_time.ns = decimal(kIterationTime, kMillisecond);
    if (job.iteration_time < Duration{0}) wrong(kIterationTime, "expected 0 or more");
    if (!is_empty(kPriority))
      job.priority = static_cast<int32_t>(integer(kPriority, {.low = -1'000'000'000, .high = 1'000'000'000}));
    return row;
  }
};

CsvRows::Layout layout(CsvTable::Presence more) {
  constexpr auto kOptional = CsvTable::Presence::kOptional;
  return {.columns = {{"job_id"},
                      {"num_gpu"},
                      {"submit_time"},
                      {"iterations", kOptional},
                      {"model_name", kOptional},
                      {"duration"},
                      {"iteration_time", more},
                      {"priority", kOptional}},
          .id = TiresiasRows::kJobId,
          .submit = TiresiasRows::kSubmitTime,
          .run_time = TiresiasRows::kDuration};
}

}  // namespace

OpenedRows open_tiresias_rows(TextWindow file) {
  return open_csv_rows<TiresiasRows>(CsvReader(std::move(file)), layout(CsvTable::Presence::kOptional));
}

OpenedRows open_muri_rows(TextWindow file) {
  return open_csv_rows<MuriRows>(CsvReader(std::move(file)), layout(CsvTable::Presence::kRequired));
}

}  // namespace weft::sim
