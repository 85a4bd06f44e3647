// Pods of Alibaba's GPU cluster of 2023. A pod list without times (there are such) is no trace.

#include "sim/trace/csv_rows.h"
#include "sim/trace/formats.h"
#include "sim/word_list.h"

#include <fmt/format.h>

namespace weft::sim {

namespace {

class OpenbRows final : public CsvRows {
 public:
  enum Column : size_t {
    kName,
    kCpuMilli,
    kMemoryMib,
    kNumGpu,
    kGpuMilli,
    kGpuSpec,
    kPodPhase,
    kCreationTime,
    kDeletionTime,
    kScheduledTime,
  };
  using CsvRows::CsvRows;

 private:
  Row read(TraceJob& job) override {
    job.id = text(kName);
    job.cpu_milli = integer(kCpuMilli, {.low = 0, .high = 100'000'000});
    job.memory_bytes = integer(kMemoryMib, {.low = 0, .high = int64_t{1} << 30}) * kMiB;
    read_gpus(job);
    read_words(text(kGpuSpec), '|', job.gpu_models);
    job.submit.ns = decimal(kCreationTime);
    const bool has_start = !is_empty(kScheduledTime);
    const Instant start = has_start ? Instant{decimal(kScheduledTime)} : job.submit;
    if ((text(kPodPhase) == "Pending" && !has_start) || is_empty(kDeletionTime)) return Row::kLeftOut;
    job.recorded_end.ns = decimal(kDeletionTime);
    job.run_time = job.recorded_end - start;
    if (has_start) job.recorded_start = start;
    if (text(kPodPhase) == "Succeeded") job.end = TraceEnd::kDone;
    if (text(kPodPhase) == "Failed") job.end = TraceEnd::kFailed;
    const bool asks = job.gpus_per_task > 0 || job.gpu_milli > 0 || job.cpu_milli > 0 || job.memory_bytes > 0;
    return asks ? Row::kJob : Row::kLeftOut;
  }

  void read_gpus(TraceJob& job) {
    const int64_t gpus = integer(kNumGpu, {.low = 0, .high = 1024});
    const int64_t milli = integer(kGpuMilli, {.low = 0, .high = 1000});
    if (gpus == 0 && milli != 0) wrong(kGpuMilli, fmt::format("expected 0 where num_gpu is 0, found {}", milli));
    if (gpus > 0 && milli == 0) wrong(kGpuMilli, "expected 1 to 1,000 where num_gpu is not 0, found 0");
    if (gpus > 1 && milli != 1000)
      wrong(kGpuMilli, fmt::format("expected 1,000 where num_gpu is over 1, found {}", milli));
    const bool is_share = gpus == 1 && milli < 1000;
    job.gpus_per_task = is_share ? 0 : static_cast<int32_t>(gpus);
    job.gpu_milli = is_share ? static_cast<int32_t>(milli) : 0;
  }
};

}  // namespace

OpenedRows open_openb_rows(TextWindow file) {
  constexpr auto kOptional = CsvTable::Presence::kOptional;
  const CsvRows::Layout layout{.columns = {{"name"},
                                           {"cpu_milli"},
                                           {"memory_mib"},
                                           {"num_gpu"},
                                           {"gpu_milli"},
                                           {"gpu_spec", kOptional},
                                           {"pod_phase", kOptional},
                                           {"creation_time"},
                                           {"deletion_time"},
                                           {"scheduled_time", kOptional}},
                               .id = OpenbRows::kName,
                               .submit = OpenbRows::kCreationTime,
                               .run_time = OpenbRows::kDeletionTime};
  return open_csv_rows<OpenbRows>(CsvReader(std::move(file)), layout);
}

}  // namespace weft::sim
