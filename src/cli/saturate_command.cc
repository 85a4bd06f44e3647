#include "base/text.h"
#include "cli/commands.h"
#include "policy/registry.h"
#include "sim/csv.h"
#include "sim/saturation/report.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <unistd.h>

namespace weft::cli {

namespace {

constexpr int64_t kSeedMax = 2'147'483'646;
constexpr size_t kSeedsMax = 10'000;

struct SaturateOptions {
  std::string nodes;
  std::vector<std::string> pods;
  std::vector<std::string> policies{"fgd"};
  std::string seeds = "42-51";
  std::string recorded;
  std::string json, html, csv;
  int jobs = 0;
  bool is_check = false;
  bool is_verbose = false;
};

/// The names in a list such as "fgd,random"; "published" stands for the six of the FGD paper.
Result<std::vector<std::string>> parse_policies(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (size_t start = 0; start <= list.size();) {
      const size_t end = std::min(list.find(',', start), list.size());
      const std::string name = list.substr(start, end - start);
      start = end + 1;
      if (name == "published") {
        names.insert(names.end(), {"random", "dotprod", "clustering", "packing", "bestfit", "fgd"});
        continue;
      }
      if (auto score = make_node_score(name); !score) return std::unexpected(score.error());
      names.push_back(name);
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
                fmt::format("--seeds: expected numbers and ranges such as 42-51 or 1,3,5-9 (0 to {}), found '{}'",
                            kSeedMax, part));
  };
  std::vector<int64_t> seeds;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string_view part = std::string_view(text).substr(start, end - start);
    start = end + 1;
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
    const std::string name = std::filesystem::path(path).stem().string();
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
  Result<std::vector<sim::Workload>> workloads = read_workloads(options.pods);
  if (!workloads) return std::unexpected(workloads.error());
  plan.policies = std::move(*policies);
  plan.seeds = std::move(*seeds);
  plan.nodes = std::move(*nodes);
  plan.workloads = std::move(*workloads);
  plan.threads =
      options.jobs > 0 ? static_cast<unsigned>(options.jobs) : std::max(1U, std::thread::hardware_concurrency());
  return plan;
}

/// A place for an output must exist before hours of work go into it.
Result<void> check_output(const std::string& path, std::string_view option) {
  if (path.empty() || path == "-") return {};
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: {} is a directory; expected a file", option, path));
  }
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (!std::filesystem::is_directory(folder, code) || ::access(folder.c_str(), W_OK) != 0) {
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: {} cannot be written: no folder to write in", option, path));
  }
  return {};
}

/// Writes beside the file and renames, so that nobody sees half of it.
Result<void> write_output(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return {};
  }
  const std::string partial = path + ".partial";
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  std::error_code code;
  if (file) std::filesystem::rename(partial, path, code);
  if (!file || code) {
    std::filesystem::remove(partial, code);
    return fail(ErrorCode::kUnavailable, fmt::format("{}: cannot be written", path));
  }
  return {};
}

void draw_progress(size_t done, size_t total) {
  constexpr size_t kWidth = 40;
  const size_t filled = kWidth * done / total;
  fmt::print(stderr, "\r[{:=<{}}{:.<{}}] {}/{} runs{}", "", filled, "", kWidth - filled, done, total,
             done == total ? "\r\033[K" : "");
  std::fflush(stderr);
}

Result<void> write_reports(const SaturateOptions& options, const sim::SaturationReport& report) {
  const bool is_stdout_taken = options.json == "-" || options.csv == "-" || options.html == "-";
  if (!is_stdout_taken) {
    fmt::print("{}", sim::text_report(report, options.is_verbose ? sim::Detail::kSeeds : sim::Detail::kSummary));
  }
  if (!options.json.empty()) {
    if (Result<void> written = write_output(options.json, sim::json_report(report)); !written) return written;
  }
  if (!options.csv.empty()) {
    if (Result<void> written = write_output(options.csv, sim::csv_report(report)); !written) return written;
  }
  if (!options.html.empty()) return write_output(options.html, sim::html_report(report));
  return {};
}

bool is_all_within(const sim::SaturationReport& report) {
  return std::ranges::all_of(report.result.cells, [&](const sim::CampaignCell& cell) {
    const std::optional<sim::Comparison> comparison = sim::compare(report, cell);
    return comparison && comparison->is_within();
  });
}

int run(const SaturateOptions& options) {
  const auto stop = [](const Error& error) {
    fmt::print(stderr, "weft: saturate: {}\n", error.message);
    return error.code == ErrorCode::kInvalidInput ? kUsage : kFailure;
  };
  for (const auto& [path, option] :
       {std::pair{options.json, "--json"}, {options.csv, "--csv"}, {options.html, "--html"}}) {
    if (Result<void> checked = check_output(path, option); !checked) return stop(checked.error());
  }
  const Result<sim::CampaignPlan> plan = make_plan(options);
  if (!plan) return stop(plan.error());
  std::optional<sim::RecordedResults> recorded;
  if (!options.recorded.empty()) {
    Result<sim::RecordedResults> read = sim::read_recorded(options.recorded);
    if (!read) return stop(read.error());
    recorded = std::move(*read);
  }
  const bool is_watched = ::isatty(STDERR_FILENO) != 0;
  const Result<sim::CampaignResult> result = sim::run_campaign(*plan, [&](size_t done, size_t total) {
    if (is_watched) draw_progress(done, total);
  });
  if (!result) return stop(result.error());
  const sim::SaturationReport report{.plan = *plan, .result = *result, .recorded = recorded ? &*recorded : nullptr};
  if (Result<void> written = write_reports(options, report); !written) return stop(written.error());
  return options.is_check && !is_all_within(report) ? kFailure : kSuccess;
}

}  // namespace

void add_saturate_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<SaturateOptions>();
  CLI::App* command = app.add_subcommand(
      "saturate",
      "Fill a cluster with pods until nothing fits, and say how much is in use and how much is in fragments");
  command->add_option("--nodes", options->nodes, "CSV list of nodes (sn, cpu_milli, memory_mib, gpu, model)")
      ->required()
      ->type_name("FILE");
  command->add_option("--pods", options->pods, "CSV lists of pods (name, cpu_milli, memory_mib, num_gpu, gpu_milli, …)")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--policy", options->policies,
                   "node scores, comma-separated; 'published' is the six of the FGD paper")
      ->type_name("NAME,…")
      ->capture_default_str();
  command->add_option("--seeds", options->seeds, "random orders to try: 42-51, or 1,3,5-9")
      ->type_name("RANGE")
      ->capture_default_str();
  command->add_option("--jobs", options->jobs, "runs at one time (default: one per core); results do not depend on it")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  CLI::Option* recorded = command
                              ->add_option("--recorded", options->recorded,
                                           "print the published results of this folder (recorded_*.csv) beside ours")
                              ->type_name("FOLDER");
  command
      ->add_flag("--check", options->is_check,
                 "exit with status 1 unless every mean is within tolerance of the recorded one")
      ->needs(recorded);
  command->add_flag("--verbose", options->is_verbose, "a row per seed");
  command->add_option("--json", options->json, "write everything as JSON ('-': to standard output)")->type_name("FILE");
  command->add_option("--csv", options->csv, "write every percent of every run as CSV ('-': to standard output)")
      ->type_name("FILE");
  command->add_option("--html", options->html, "write charts and tables as one HTML file")->type_name("FILE");
  command->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace weft::cli
