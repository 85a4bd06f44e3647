#include "sim/saturation/campaign.h"

#include "sim/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace weft::sim {

namespace {

/// The measures of a column, to treat them alike.
constexpr std::array kMeasures{&SaturationColumn::allocation, &SaturationColumn::fragment_ratio,
                               &SaturationColumn::fragment_amount};

/// Requires: runs.
void summarise_column(const std::vector<SaturationRun>& runs, size_t percent, SaturationSummary& summary) {
  uint32_t samples = std::numeric_limits<uint32_t>::max();
  for (const SaturationRun& run : runs) samples = std::min(samples, run.columns[percent].samples);
  summary.mean[percent].samples = samples;
  const auto count = static_cast<double>(runs.size());
  for (const auto measure : kMeasures) {
    double sum = 0;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const SaturationRun& run : runs) {
      const double value = run.columns[percent].*measure;
      sum += value;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    const double mean = sum / count;
    double squares = 0;
    for (const SaturationRun& run : runs) {
      const double off = run.columns[percent].*measure - mean;
      squares += off * off;
    }
    summary.mean[percent].*measure = mean;
    summary.deviation[percent].*measure = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
    summary.low[percent].*measure = low;
    summary.high[percent].*measure = high;
  }
}

}  // namespace

SaturationSummary summarise(const std::vector<SaturationRun>& runs) {
  SaturationSummary summary;
  if (runs.empty()) return summary;
  for (size_t percent = 0; percent < kPercents; ++percent) summarise_column(runs, percent, summary);
  double seconds = 0, arrived = 0;
  for (const SaturationRun& run : runs) {
    seconds += run.seconds;
    arrived += static_cast<double>(run.arrived);
  }
  summary.seconds = seconds / static_cast<double>(runs.size());
  summary.pods_per_second = seconds > 0 ? arrived / seconds : 0;
  return summary;
}

Result<CampaignResult> run_campaign(const CampaignPlan& plan, const ProgressReport& report) {
  const size_t per_cell = plan.seeds.size();
  const size_t total = plan.workloads.size() * plan.policies.size() * per_cell;
  std::vector<SaturationInput> inputs;
  for (const Workload& workload : plan.workloads) inputs.push_back({.nodes = plan.nodes, .pods = workload.pods});
  std::vector<std::optional<Result<SaturationRun>>> runs(total);
  const auto work = [&](size_t i) {
    const size_t cell = i / per_cell;
    const SaturationOptions options{
        .policy = plan.policies[cell % plan.policies.size()], .seed = plan.seeds[i % per_cell], .ratio = plan.ratio};
    runs[i] = saturate(inputs[cell / plan.policies.size()], options);
    return runs[i]->has_value();
  };
  const size_t first_failed = run_side_by_side(total, plan.threads, work, report);
  if (first_failed < total) {
    const Error& error = runs[first_failed]->error();
    return fail(error.code, fmt::format("{}: {}", plan.workloads[first_failed / per_cell / plan.policies.size()].name,
                                        error.message));
  }
  CampaignResult result;
  for (size_t first = 0; first < total; first += per_cell) {
    CampaignCell cell{.workload = first / per_cell / plan.policies.size(),
                      .policy = first / per_cell % plan.policies.size()};
    for (size_t i = first; i < first + per_cell; ++i) cell.runs.push_back(**runs[i]);
    cell.summary = summarise(cell.runs);
    result.cells.push_back(std::move(cell));
  }
  return result;
}

}  // namespace weft::sim
