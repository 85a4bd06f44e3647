#include "sim/saturation/report.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <cmath>

namespace weft::sim {

namespace {

namespace json = boost::json;
using Columns = std::array<SaturationColumn, kPercents>;

json::value number(double value) {
  return std::isfinite(value) ? json::value(std::round(value * 1e6) / 1e6) : json::value(nullptr);
}

/// One array per measure, by percent arrived; null where nothing was recorded.
json::object columns_json(const Columns& columns) {
  json::array allocation, ratio, amount;
  for (const SaturationColumn& column : columns) {
    allocation.push_back(number(column.allocation));
    ratio.push_back(number(column.fragment_ratio));
    amount.push_back(number(column.fragment_amount));
  }
  return {{"allocation_percent", std::move(allocation)},
          {"fragment_ratio_percent", std::move(ratio)},
          {"fragment_amount_percent", std::move(amount)}};
}

json::object run_json(const SaturationRun& run) {
  json::object object = columns_json(run.columns);
  object["seed"] = run.seed;
  object["pods_arrived"] = run.arrived;
  object["pods_placed"] = run.placed;
  object["seconds"] = number(run.seconds);
  object["pods_per_second"] =
      run.seconds > 0 ? number(static_cast<double>(run.arrived) / run.seconds) : json::value(nullptr);
  object["decision_hash"] = fmt::format("{:016x}", run.decision_hash);
  return object;
}

json::value comparison_json(const SaturationReport& report, const CampaignCell& cell) {
  const std::optional<Comparison> comparison = compare(report, cell);
  if (!comparison) return nullptr;
  json::object object = columns_json(comparison->recorded);
  object["allocation_off"] = number(comparison->allocation_off);
  object["fragment_ratio_off"] = number(comparison->fragment_ratio_off);
  object["is_within"] = comparison->is_within();
  return object;
}

json::object cell_json(const SaturationReport& report, const CampaignCell& cell) {
  json::array seeds;
  for (const SaturationRun& run : cell.runs) seeds.push_back(run_json(run));
  json::object object{{"workload", report.plan.workloads[cell.workload].name},
                      {"policy", report.plan.policies[cell.policy]},
                      {"pods_per_second", number(cell.summary.pods_per_second)},
                      {"seconds", number(cell.summary.seconds)},
                      {"mean", columns_json(cell.summary.mean)},
                      {"deviation", columns_json(cell.summary.deviation)},
                      {"seeds", std::move(seeds)}};
  if (report.recorded != nullptr) object["recorded"] = comparison_json(report, cell);
  return object;
}

}  // namespace

std::string json_report(const SaturationReport& report) {
  json::array percents, cells;
  for (size_t percent = 0; percent < kPercents; ++percent) percents.push_back(percent);
  for (const CampaignCell& cell : report.result.cells) cells.push_back(cell_json(report, cell));
  const json::object object{{"nodes", report.plan.nodes.size()},
                            {"gpus", gpu_milli_of(report.plan.nodes) / 1000},
                            {"inflation_ratio", report.plan.ratio},
                            {"arrived_percent", std::move(percents)},
                            {"results", std::move(cells)}};
  return json::serialize(object) + "\n";
}

}  // namespace weft::sim
