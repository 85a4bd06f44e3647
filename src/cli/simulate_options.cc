#include "cli/simulate_options.h"

#include "base/printable.h"
#include "base/text.h"
#include "cli/help_text.h"
#include "sim/simulation/service_history.h"
#include "sim/simulation/speed_table.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

namespace weft::cli {

namespace {

std::unexpected<Error> wrong(std::string message) { return fail(ErrorCode::kInvalidInput, std::move(message)); }

Result<sim::Rules> rules_of(const std::string& written, sim::TraceFormat format) {
  if (written == "native") return sim::Rules::kNative;
  if (written == "tiresias") return sim::Rules::kTiresias;
  if (written == "muri") return sim::Rules::kMuri;
  if (written != "auto")
    return wrong(fmt::format("--rules: expected auto, native, tiresias or muri, found {}", quote(written)));
  if (format == sim::TraceFormat::kTiresias) return sim::Rules::kTiresias;
  return format == sim::TraceFormat::kMuri ? sim::Rules::kMuri : sim::Rules::kNative;
}

Result<sim::Estimates> estimates_of(const std::string& written) {
  if (written == "oracle") return sim::Estimates{};
  if (written == "user") return sim::Estimates{.kind = sim::Estimates::Kind::kUser};
  constexpr std::string_view kNoise = "noise:";
  if (written.starts_with(kNoise)) {
    double sigma = 0;
    const char* const end = written.data() + written.size();
    const auto [rest, error] = std::from_chars(written.data() + kNoise.size(), end, sigma);
    if (error == std::errc() && rest == end && std::isfinite(sigma) && sigma >= 0 && sigma <= 10)
      return sim::Estimates{.kind = sim::Estimates::Kind::kNoise, .sigma = sigma};
  }
  return wrong(fmt::format("--estimates: expected oracle, user or noise:SIGMA (0 to 10), found {}", quote(written)));
}

Result<Duration> duration_of(const char* option, const std::string& written) {
  if (written == "0") return Duration{0};
  Result<Duration> duration = parse_duration(written);
  if (!duration) return wrong(fmt::format("{}: {}", option, duration.error().message));
  return duration;
}

/// "a,b" and "a" "b" alike.
std::vector<std::string> names_in(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (const std::string_view name : split(list, ',')) names.emplace_back(name);
  }
  return names;
}

}  // namespace

std::vector<NamedFile> SimulateOptions::outputs() const {
  std::vector<NamedFile> files;
  if (jobs_csv) files.push_back({"--jobs-csv", *jobs_csv});
  if (json) files.push_back({"--json", *json});
  if (html) files.push_back({"--html", *html});
  if (journal) files.push_back({"--journal", *journal});
  return files;
}

std::vector<NamedFile> SimulateOptions::inputs() const {
  std::vector<NamedFile> files;
  for (const std::string& trace : traces) files.push_back({"TRACE", trace});
  if (speeds) files.push_back({"--speeds", *speeds});
  if (history) files.push_back({"--history", *history});
  if (!sim::is_cluster_grid(cluster)) files.push_back({"--cluster", cluster});
  for (const std::string& policy : names_in(policies)) {
    if (sim::is_policy_file(policy)) files.push_back({"--policy", policy});
  }
  return files;
}

void add_simulate_options(CLI::App& command, SimulateOptions& options) {
  command.add_option("--format", options.format,
                     "of the trace: auto, openb, philly, tiresias, muri, helios, philly-log, pai, lingjun, swf, sacct, "
                     "weft (auto: by its header)");
  command
      .add_option(
          "--cluster", options.cluster,
          "NxG: N nodes of G GPUs each; a list of nodes as of openb; or YAML with cluster: and perhaps queues: as "
          "in a scenario")
      ->required()
      ->type_name("FILE|NxG");
  command
      .add_option("--policy", options.policies,
                  fmt::format("who runs: {} (default), or a YAML file with the keys of a scenario's policy:, such as "
                              "my.yaml",
                              fmt::join(sim::policy_names(), ", ")))
      ->type_name("NAME|FILE");
  command
      .add_option("--placement", options.placement,
                  fmt::format("where: {} (pack; count by the rules of tiresias, consolidated by those of muri)",
                              fmt::join(sim::placement_names(), ", ")))
      ->type_name("NAME");
  command
      .add_option("--rules", options.rules,
                  "auto, native, tiresias, muri: whose units and quirks a run keeps to (auto: those of the trace's "
                  "format)")
      ->type_name("NAME");
  command
      .add_option("--estimates", options.estimates,
                  "what the scheduler is told of run times: oracle (the truth), user (as the trace has it), or "
                  "noise:SIGMA (oracle)")
      ->type_name("KIND");
  command.add_option("--restart-cost", options.restart_cost, "time without progress at every restart (0)")
      ->type_name("TIME");
  command
      .add_option("--checkpoint-every", options.checkpoint_every,
                  "run time between checkpoints: what was done since is lost with a stop (0: nothing is)")
      ->type_name("TIME");
  command.add_option("--round", options.round, "who runs is decided at its multiples only (0: at every event)")
      ->type_name("TIME");
  command
      .add_option("--speeds", options.speeds,
                  "how fast jobs are by device model, network, nodes and sharing: a YAML file, see "
                  "docs/guide/simulate.md")
      ->type_name("FILE");
  command
      .add_option("--history", options.history,
                  "a trace of the past, of any format, from which gittins and 2d-gittins learn how long jobs run "
                  "(the trace itself: its distribution, no single job)")
      ->type_name("TRACE");
  command.add_option("--seed", options.seed, "of all random numbers (0)")->type_name("N");
  command.add_flag("--skip-bad-rows", options.skips_bad_rows,
                   "leave out rows that cannot be read and jobs that could never run, and count them");
  command.add_option("--json", options.json, "write all measures as JSON ('-': to standard output)")->type_name("FILE");
  command.add_option("--html", options.html, "write charts and tables as one HTML file")->type_name("FILE");
}

namespace {

/// A policy by name, or what its file says.
struct WantedPolicy {
  std::string name;
  std::shared_ptr<const scenario::PolicyWish> file;
};

Result<std::vector<WantedPolicy>> policies_of(const SimulateOptions& options) {
  std::vector<WantedPolicy> policies;
  std::map<std::string, std::string> files;  // by what reports call them
  for (const std::string& name : names_in(options.policies)) {
    policies.push_back({.name = name, .file = {}});
    if (!sim::is_policy_file(name)) continue;
    const auto [same, is_new] = files.emplace(std::filesystem::path(name).filename().string(), name);
    if (!is_new && same->second != name)
      return wrong(fmt::format("--policy: {} and {} have one name, by which reports would tell them apart",
                               quote(same->second), quote(name)));
    auto file = sim::read_policy(name);
    if (!file) return std::unexpected(file.error());
    policies.back().file = std::move(*file);
  }
  return policies;
}

/// What all runs have in common.
Result<sim::RunPlan> common_plan(const SimulateOptions& options, WantsSpans wants_spans) {
  sim::RunPlan plan;
  Result<sim::ClusterSpec> cluster = sim::read_cluster(options.cluster);
  if (!cluster) return std::unexpected(cluster.error());
  const Result<sim::Estimates> estimates = estimates_of(options.estimates);
  if (!estimates) return std::unexpected(estimates.error());
  const Result<Duration> restart = duration_of("--restart-cost", options.restart_cost);
  if (!restart) return std::unexpected(restart.error());
  const Result<Duration> checkpoint = duration_of("--checkpoint-every", options.checkpoint_every);
  if (!checkpoint) return std::unexpected(checkpoint.error());
  const Result<Duration> round = duration_of("--round", options.round);
  if (!round) return std::unexpected(round.error());
  if (options.speeds) {
    Result<std::shared_ptr<const sim::SpeedModel>> speeds = sim::read_speeds(*options.speeds);
    if (!speeds) return std::unexpected(speeds.error());
    plan.speeds = std::move(*speeds);
  }
  const Result<int64_t> seed = parse_integer(options.seed, 0, std::numeric_limits<int64_t>::max());
  if (!seed) return wrong("--seed: " + seed.error().message);
  plan.cluster = std::move(*cluster);
  plan.placement = options.placement;
  plan.estimates = *estimates;
  plan.restart_cost = *restart;
  plan.checkpoint_every = *checkpoint;
  plan.round = *round;
  plan.seed = static_cast<uint64_t>(*seed);
  plan.wants_spans = wants_spans == WantsSpans::kYes ? 1 : 0;
  plan.skips_impossible = options.skips_bad_rows ? 1 : 0;
  return plan;
}

/// The services of the jobs of `trace`. `whose` says in words where they are from.
Result<std::shared_ptr<const sim::PastServices>> read_past(const std::string& trace, const sim::TraceOptions& reading,
                                                           sim::Rules rules, std::string_view whose) {
  const auto reader = sim::open_trace(trace, reading);
  if (!reader) return std::unexpected(reader.error());
  const Result<sim::ServiceHistory> history = sim::read_history(**reader, rules);
  if (!history) return std::unexpected(history.error());
  return std::make_shared<const sim::PastServices>(sim::PastServices{
      .services = history->samples(),
      .source = fmt::format("the {} of {}", format_count(static_cast<int64_t>(history->count()), "job"), whose)});
}

/// Where orders learn from that learn: a history, or else the trace itself, of which they know the distribution then,
/// but no single job.
class Pasts {
 public:
  Pasts(const SimulateOptions& options, sim::BadRows bad_rows) : options_(options), bad_rows_(bad_rows) {}

  /// For a run of `plan` on `trace`.
  Result<std::shared_ptr<const sim::PastServices>> find(const std::string& trace, const sim::TraceOptions& reading,
                                                        sim::Rules rules) {
    auto& known = known_[{options_.history ? std::string() : trace, rules}];
    if (known != nullptr) return known;
    auto read = options_.history ? read_past(*options_.history, {.bad_rows = bad_rows_}, rules, *options_.history)
                                 : read_past(trace, reading, rules, "the trace itself");
    if (read) known = *read;
    return read;
  }
  bool is_used() const { return !known_.empty(); }

 private:
  const SimulateOptions& options_;
  sim::BadRows bad_rows_;
  std::map<std::pair<std::string, sim::Rules>, std::shared_ptr<const sim::PastServices>> known_;
};

bool can_be_read_again(const std::string& trace) {
  std::error_code code;
  return std::filesystem::is_regular_file(trace, code) || std::filesystem::is_directory(trace, code);
}

}  // namespace

Result<std::vector<SimulatedRun>> make_runs(const SimulateOptions& options, WantsSpans wants_spans) {
  const Result<sim::TraceFormat> format = sim::parse_trace_format(options.format);
  if (!format) return wrong("--format: " + format.error().message);
  const Result<std::vector<WantedPolicy>> policies = policies_of(options);
  if (!policies) return std::unexpected(policies.error());
  Result<sim::RunPlan> plan = common_plan(options, wants_spans);
  if (!plan) return std::unexpected(std::move(plan.error()));
  const sim::TraceOptions reading{.format = *format,
                                  .bad_rows = options.skips_bad_rows ? sim::BadRows::kSkip : sim::BadRows::kRefuse};
  Pasts pasts(options, reading.bad_rows);
  std::vector<SimulatedRun> runs;
  for (const std::string& trace : options.traces) {
    Result<std::unique_ptr<sim::TraceReader>> reader = sim::open_trace(trace, reading);
    if (!reader) return std::unexpected(reader.error());
    std::shared_ptr<sim::TraceReader> opened = std::move(*reader);
    const Result<sim::Rules> rules = rules_of(options.rules, opened->notes().format);
    if (!rules) return std::unexpected(rules.error());
    plan->rules = *rules;
    for (const WantedPolicy& policy : *policies) {
      plan->policy = policy.name;
      plan->policy_file = policy.file;
      plan->past.reset();
      const Result<sim::PolicyPlan> known = sim::plan_policy(*plan);
      if (!known) return std::unexpected(known.error());
      if (sim::learns(known->config) && known->past.empty()) {
        if (!options.history && !can_be_read_again(trace))
          return wrong(fmt::format("{} is a pipe, which can be read only once: for {} a file or --history is expected",
                                   printable(trace), policy.name));
        auto past = pasts.find(trace, reading, *rules);
        if (!past) return std::unexpected(past.error());
        plan->past = std::move(*past);
      }
      if (opened == nullptr && !can_be_read_again(trace))
        return wrong(fmt::format("{} is a pipe, which can be read only once: for several policies a file is expected",
                                 printable(trace)));
      runs.push_back({.trace = trace, .reading = reading, .plan = *plan, .opened = std::exchange(opened, nullptr)});
    }
  }
  if (options.history && !pasts.is_used())
    return wrong("--history: none of the policies learns from the past; gittins and 2d-gittins do");
  return runs;
}

Result<sim::RunOutcome> play(const SimulatedRun& run, const sim::RunListeners& listeners, sim::TraceNotes& notes) {
  std::shared_ptr<sim::TraceReader> trace = run.opened;
  if (trace == nullptr) {
    Result<std::unique_ptr<sim::TraceReader>> reader = sim::open_trace(run.trace, run.reading);
    if (!reader) return std::unexpected(reader.error());
    trace = std::move(*reader);
  }
  Result<sim::RunOutcome> outcome = sim::simulate(*trace, run.plan, listeners);
  if (!outcome) return outcome;
  outcome->trace = run.trace;
  notes = trace->notes();
  return outcome;
}

}  // namespace weft::cli
