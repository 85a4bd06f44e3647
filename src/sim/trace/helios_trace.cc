// Helios' cluster_log.csv: the accounts of four Slurm clusters.

#include "sim/trace/csv_rows.h"
#include "sim/trace/formats.h"
#include "sim/trace/node_shares.h"
#include "sim/trace/slurm_words.h"

namespace weft::sim {

namespace {

class HeliosRows final : public CsvRows {
 public:
  enum Column : size_t {
    kJobId,
    kUser,
    kVc,
    kJobName,
    kGpuNum,
    kCpuNum,
    kNodeNum,
    kState,
    kSubmitTime,
    kStartTime,
    kEndTime,
    kDuration,
  };
  using CsvRows::CsvRows;
  Clock clock() const override { return Clock::kUnix; }

 private:
  bool has_time(size_t column) const { return !is_empty(column) && text(column) != "None"; }

  Row read(TraceJob& job) override {
    job.id = text(kJobId);
    job.user = text(kUser);
    job.queue = text(kVc);
    job.name = text(kJobName);
    constexpr IntegerRange kCount{.low = 0, .high = 100'000'000};
    const JobTotals totals{
        .nodes = is_empty(kNodeNum) ? 1 : rounded(kNodeNum, kGpus),
        .gpus = rounded(kGpuNum, kGpus),
        .cpu_milli = is_empty(kCpuNum) ? 0 : rounded(kCpuNum, kCount) * 1000,
    };
    share_over_nodes(totals, job);
    job.submit.ns = date_time(kSubmitTime);
    const SlurmState state = read_slurm_state(text(kState));
    job.end = end_of(state);
    const bool asks = totals.gpus > 0 || totals.cpu_milli > 0;
    if (!asks || !has_time(kStartTime) || !has_time(kEndTime) || state == SlurmState::kNotEnded) return Row::kLeftOut;
    job.recorded_start.ns = date_time(kStartTime);
    job.recorded_end.ns = date_time(kEndTime);
    job.run_time = is_empty(kDuration) ? job.recorded_end - job.recorded_start : Duration{decimal(kDuration)};
    return job.run_time == Duration{0} ? Row::kLeftOut : Row::kJob;
  }
};

}  // namespace

OpenedRows open_helios_rows(TextWindow file) {
  constexpr auto kOptional = CsvTable::Presence::kOptional;
  const CsvRows::Layout layout{.columns = {{"job_id"},
                                           {"user", kOptional},
                                           {"vc", kOptional},
                                           {"jobname", kOptional},
                                           {"gpu_num"},
                                           {"cpu_num", kOptional},
                                           {"node_num", kOptional},
                                           {"state", kOptional},
                                           {"submit_time"},
                                           {"start_time"},
                                           {"end_time"},
                                           {"duration", kOptional}},
                               .id = HeliosRows::kJobId,
                               .submit = HeliosRows::kSubmitTime,
                               .run_time = HeliosRows::kDuration};
  return open_csv_rows<HeliosRows>(CsvReader(std::move(file)), layout);
}

}  // namespace weft::sim
