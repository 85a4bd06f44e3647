#include "base/printable.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/output_file.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "policy/registry.h"
#include "sim/saturation/protocol.h"
#include "sim/saturation/report.h"
#include "sim/text_file.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

namespace weft::cli {

namespace {

constexpr int64_t kSeedMax = 2'147'483'646;
constexpr size_t kSeedsMax = 10'000;

struct SaturateOptions {
  std::string nodes;
  std::vector<std::string> pods;
  std::vector<std::string> policies{"fgd"};
  std::string seeds = "42-51";
  std::optional<std::string> recorded;
  std::optional<std::string> json, html, csv;
  std::optional<std::string> jobs;
  bool is_check = false;
  bool is_verbose = false;
};

/// The names in a list such as "fgd,random"; "published" stands for the six of the FGD paper.
Result<std::vector<std::string>> parse_policies(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (const std::string_view name : split(list, ',')) {
      if (name == "published") {
        names.insert(names.end(), {"random", "dotprod", "clustering", "packing", "bestfit", "fgd"});
        continue;
      }
      if (name.empty())
        return fail(ErrorCode::kInvalidInput, "--policy: a name is empty; names such as fgd,random are expected");
      if (auto score = make_node_score(name); !score)
        return fail(ErrorCode::kInvalidInput, fmt::format("--policy: {}", score.error().message));
      names.emplace_back(name);
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) ==
        names.begin() + static_cast<std::ptrdiff_t>(i))
      continue;
    return fail(ErrorCode::kInvalidInput, fmt::format("--policy: '{}' is given twice", names[i]));
  }
  return names;
}

/// "42-51", "7", "1,3,5-9": each once.
Result<std::vector<int64_t>> parse_seeds(const std::string& text) {
  const auto wrong = [&](std::string_view part) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("--seeds: expected numbers and ranges such as 42-51 or 1,3,5-9 (0 to {}), found {}",
                            kSeedMax, quote(part)));
  };
  std::vector<int64_t> seeds;
  for (const std::string_view part : split(text, ',')) {
    const size_t dash = part.find('-');
    const Result<int64_t> low = parse_integer(part.substr(0, dash), 0, kSeedMax);
    const Result<int64_t> high =
        dash == std::string_view::npos ? low : parse_integer(part.substr(dash + 1), 0, kSeedMax);
    if (!low || !high || *high < *low) return wrong(part);
    if (static_cast<size_t>(*high - *low) >= kSeedsMax - std::min(seeds.size(), kSeedsMax)) {
      return fail(ErrorCode::kInvalidInput, fmt::format("--seeds: more than {} seeds", format_count(kSeedsMax)));
    }
    for (int64_t seed = *low; seed <= *high; ++seed) seeds.push_back(seed);
  }
  std::vector<int64_t> sorted = seeds;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) return fail(ErrorCode::kInvalidInput, fmt::format("--seeds: {} is given twice", *twice));
  return seeds;
}

Result<std::vector<sim::Workload>> read_workloads(const std::vector<std::string>& paths) {
  std::vector<sim::Workload> workloads;
  for (const std::string& path : paths) {
    const Result<std::string> content = sim::read_text_file(path);
    if (!content) return std::unexpected(content.error());
    Result<std::vector<sim::OpenbPod>> pods = sim::read_openb_pods(*content, path);
    if (!pods) return std::unexpected(pods.error());
    if (std::ranges::all_of(*pods, [](const sim::OpenbPod& pod) { return pod.gpus == 0; })) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: no pod asks for a GPU: the cluster would never be full", path));
    }
    const std::string name = printable(std::filesystem::path(path).stem().string());
    if (std::ranges::find(workloads, name, &sim::Workload::name) != workloads.end()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("--pods: two lists are called '{}'; results could not be told apart", name));
    }
    workloads.push_back({.name = name, .pods = std::move(*pods)});
  }
  return workloads;
}

Result<sim::CampaignPlan> make_plan(const SaturateOptions& options) {
  sim::CampaignPlan plan;
  Result<std::vector<std::string>> policies = parse_policies(options.policies);
  if (!policies) return std::unexpected(policies.error());
  Result<std::vector<int64_t>> seeds = parse_seeds(options.seeds);
  if (!seeds) return std::unexpected(seeds.error());
  const Result<std::string> content = sim::read_text_file(options.nodes);
  if (!content) return std::unexpected(content.error());
  Result<std::vector<sim::OpenbNode>> nodes = sim::read_openb_nodes(*content, options.nodes);
  if (!nodes) return std::unexpected(nodes.error());
  if (sim::gpu_milli_of(*nodes) == 0)
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}: no node has a GPU: there is nothing to fill", options.nodes));
  Result<std::vector<sim::Workload>> workloads = read_workloads(options.pods);
  if (!workloads) return std::unexpected(workloads.error());
  plan.policies = std::move(*policies);
  plan.seeds = std::move(*seeds);
  plan.nodes = std::move(*nodes);
  plan.workloads = std::move(*workloads);
  const Result<unsigned> threads = parse_threads("--jobs", options.jobs);
  if (!threads) return std::unexpected(threads.error());
  plan.threads = *threads;
  return plan;
}

/// The outputs that were asked for.
std::vector<NamedFile> outputs_of(const SaturateOptions& options) {
  std::vector<NamedFile> outputs;
  if (options.json) outputs.push_back({"--json", *options.json});
  if (options.csv) outputs.push_back({"--csv", *options.csv});
  if (options.html) outputs.push_back({"--html", *options.html});
  return outputs;
}

std::vector<NamedFile> inputs_of(const SaturateOptions& options) {
  std::vector<NamedFile> inputs{{"--nodes", options.nodes}};
  for (const std::string& pods : options.pods) inputs.push_back({"--pods", pods});
  if (options.recorded) {
    for (const char* file : sim::kRecordedFiles) inputs.push_back({"--recorded", *options.recorded + "/" + file});
  }
  return inputs;
}

Result<void> write_reports(const SaturateOptions& options, const sim::SaturationReport& report) {
  if (!takes_standard_output(outputs_of(options))) {
    fmt::print("{}", sim::text_report(report, options.is_verbose ? sim::Detail::kSeeds : sim::Detail::kSummary));
  }
  if (options.json) {
    if (Result<void> written = write_output(*options.json, sim::json_report(report)); !written) return written;
  }
  if (options.csv) {
    if (Result<void> written = write_output(*options.csv, sim::csv_report(report)); !written) return written;
  }
  return options.html ? write_output(*options.html, sim::html_report(report)) : Result<void>();
}

/// How many results are not within tolerance of what was recorded, or have nothing recorded.
int64_t count_apart(const sim::SaturationReport& report) {
  return std::ranges::count_if(report.result.cells, [&](const sim::CampaignCell& cell) {
    const std::optional<sim::Comparison> comparison = sim::compare(report, cell);
    return !comparison || !comparison->is_within();
  });
}

int stop(const Error& error) { return report("saturate", error); }

int run(const SaturateOptions& options) {
  if (options.is_check && !options.recorded)
    return stop(
        {ErrorCode::kInvalidInput, "--check compares with recorded results: give their folder with --recorded"});
  if (Result<void> checked = check_outputs(outputs_of(options), inputs_of(options)); !checked)
    return stop(checked.error());
  const Result<sim::CampaignPlan> plan = make_plan(options);
  if (!plan) return stop(plan.error());
  std::optional<sim::RecordedResults> recorded;
  if (options.recorded) {
    if (options.recorded->empty())
      return stop({ErrorCode::kInvalidInput, "--recorded: the name is empty; a folder is expected"});
    Result<sim::RecordedResults> read = sim::read_recorded(*options.recorded);
    if (!read) return stop(read.error());
    recorded = std::move(*read);
  }
  ProgressLine progress("runs");
  const Result<sim::CampaignResult> result =
      sim::run_campaign(*plan, [&](size_t done, size_t total) { progress.show(done, total); });
  progress.clear();
  if (!result) return stop(result.error());
  const sim::SaturationReport report{.plan = *plan, .result = *result, .recorded = recorded ? &*recorded : nullptr};
  if (Result<void> written = write_reports(options, report); !written) return stop(written.error());
  const int64_t apart = options.is_check ? count_apart(report) : 0;
  if (apart == 0) return kSuccess;
  return stop({ErrorCode::kConflict, fmt::format("--check: {} of {} results are not within tolerance of recorded ones",
                                                 apart, result->cells.size())});
}

}  // namespace

void add_saturate_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<SaturateOptions>();
  CLI::App* command = app.add_subcommand("saturate", "Fill a cluster with pods, and measure what lies in fragments");
  set_place(
      *command, kSimulationGroup,
      "weft saturate --nodes nodes.csv --pods pods.csv --policy fgd,random\n\nThe pods arrive in random order until "
      "they have asked for 130 % of the cluster's GPUs.");
  command->add_option("--nodes", options->nodes, "CSV list of nodes (sn, cpu_milli, memory_mib, gpu, model)")
      ->required()
      ->type_name("FILE");
  command->add_option("--pods", options->pods, "CSV lists of pods (name, cpu_milli, memory_mib, num_gpu, gpu_milli, …)")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--policy", options->policies,
                   "node scores, also several with commas between (fgd); 'published' is the six of the FGD paper")
      ->type_name("NAME");
  command->add_option("--seeds", options->seeds, "random orders to try, as 1,3,5-9 (42-51)")->type_name("RANGE");
  command->add_option("--jobs", options->jobs, "runs at one time (one per core); results do not depend on it")
      ->type_name("N");
  command
      ->add_option("--recorded", options->recorded,
                   "print the published results of this folder (recorded_*.csv) beside ours")
      ->type_name("FOLDER");
  command->add_flag("--check", options->is_check,
                    "with --recorded: exit status 1 unless every mean is within tolerance of the recorded one");
  command->add_flag("--verbose", options->is_verbose, "a row per seed");
  command->add_option("--json", options->json, "write everything as JSON ('-': to standard output)")->type_name("FILE");
  command->add_option("--csv", options->csv, "write every percent of every run as CSV ('-': to standard output)")
      ->type_name("FILE");
  command->add_option("--html", options->html, "write charts and tables as one HTML file")->type_name("FILE");
  command->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace weft::cli
