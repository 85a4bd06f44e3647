// The reduced Philly CSV: a row is a job without a name, so its place in the file is its id.

#include "sim/trace/csv_rows.h"
#include "sim/trace/formats.h"

#include <array>
#include <charconv>

namespace weft::sim {

namespace {

class PhillyRows final : public CsvRows {
 public:
  enum Column : size_t { kTimestamp, kDuration, kNumGpus, kCluster };
  using CsvRows::CsvRows;
  bool makes_ids() const override { return true; }
  Clock clock() const override { return Clock::kUnix; }

 private:
  Row read(TraceJob& job) override {
    std::array<char, 24> digits{};
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), index());
    job.id.assign(digits.data(), written.ptr);
    job.queue = text(kCluster);
    job.is_gpu_count = 1;
    job.gpus_per_task = static_cast<int32_t>(integer(kNumGpus, {.low = 1, .high = kGpus.high}));
    job.submit.ns = date_time(kTimestamp);
    job.run_time.ns = decimal(kDuration);
    return Row::kJob;
  }
};

}  // namespace

OpenedRows open_philly_rows(TextWindow file) {
  const CsvRows::Layout layout{
      .columns = {{"timestamp"}, {"duration"}, {"num_gpus"}, {"cluster", CsvTable::Presence::kOptional}},
      .id = PhillyRows::kTimestamp,
      .submit = PhillyRows::kTimestamp,
      .run_time = PhillyRows::kDuration};
  return open_csv_rows<PhillyRows>(CsvReader(std::move(file)), layout);
}

}  // namespace weft::sim
