#include "sim/report/run_report.h"

#include "base/text.h"
#include "sim/report/run_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace weft::sim {

namespace {

/// A policy that is a file goes by the file's name.
std::string short_name(const std::string& name) {
  if (name.find('/') == std::string::npos) return name;
  const std::string stem = std::filesystem::path(name).stem().string();
  return stem.empty() ? name : stem;
}

}  // namespace

PictureLimits picture_limits(size_t runs) {
  const size_t n = std::max<size_t>(runs, 1);
  return {.steps = std::clamp<size_t>(8000 / n, 150, 1000),
          .cdf_points = std::clamp<size_t>(4800 / n, 100, 400),
          .nodes = n <= 4 ? size_t{64} : size_t{32},
          .bars = std::clamp<size_t>(20000 / n, 200, 4000)};
}

RunReport make_run_report(const RunOutcome& outcome, const PictureLimits& limits) {
  return {.facts = {.policy = outcome.policy,
                    .placement = outcome.placement,
                    .trace = outcome.trace,
                    .cluster = outcome.cluster,
                    .rules = outcome.rules,
                    .past = outcome.past,
                    .seed = outcome.seed,
                    .nodes = outcome.nodes.size(),
                    .gpus = static_cast<double>(outcome.total_gpu_milli) / 1000,
                    .events = outcome.events,
                    .decisions = outcome.decisions,
                    .decision_hash = outcome.decision_hash,
                    .wall_seconds = outcome.wall_seconds,
                    .read_seconds = outcome.read_seconds},
          .metrics = measure(outcome),
          .picture = draw(outcome, limits)};
}

std::string cluster_text(const RunFacts& facts) {
  return fmt::format("{} with {} GPUs", format_count(static_cast<int64_t>(facts.nodes), "node"),
                     number_text(facts.gpus));
}

std::string run_label(const RunReport& report, std::span<const RunReport> reports) {
  std::string label = short_name(report.facts.policy);
  const auto differs = [&](std::string RunFacts::* fact) {
    return std::ranges::any_of(reports, [&](const RunReport& other) {
      return other.facts.trace == report.facts.trace && other.facts.policy == report.facts.policy &&
             other.facts.*fact != report.facts.*fact;
    });
  };
  for (std::string RunFacts::* fact : {&RunFacts::placement, &RunFacts::rules, &RunFacts::cluster}) {
    if (differs(fact)) label += " " + short_name(report.facts.*fact);
  }
  return label;
}

std::string trace_label(const RunReport& report, std::span<const RunReport> reports) {
  const auto file_name = [](const RunReport& of) { return std::filesystem::path(of.facts.trace).filename().string(); };
  const std::string name = file_name(report);
  const bool is_shared = std::ranges::any_of(reports, [&](const RunReport& other) {
    return other.facts.trace != report.facts.trace && file_name(other) == name;
  });
  return name.empty() || is_shared ? report.facts.trace : name;
}

double ratio_to(double value, double first) {
  if (value == first) return std::isnan(value) ? kUnknown : 1;
  return first > 0 ? value / first : kUnknown;
}

std::vector<std::vector<const RunReport*>> by_trace(std::span<const RunReport> reports) {
  std::vector<std::vector<const RunReport*>> groups;
  for (const RunReport& report : reports) {
    const auto same = std::ranges::find_if(
        groups, [&](const auto& group) { return group.front()->facts.trace == report.facts.trace; });
    if (same != groups.end()) {
      same->push_back(&report);
    } else {
      groups.push_back({&report});
    }
  }
  return groups;
}

}  // namespace weft::sim
