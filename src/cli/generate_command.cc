#include "base/printable.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/output_file.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "sim/generate/generator.h"
#include "sim/generate/trace_totals.h"
#include "sim/report/run_format.h"
#include "sim/trace/format_writer.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <limits>
#include <memory>
#include <optional>
#include <unistd.h>

namespace weft::cli {

namespace {

constexpr int64_t kJobsMax = 1'000'000'000;
constexpr int64_t kPeopleMax = 1'000'000;

struct GenerateOptions {
  std::string profile = "default";
  std::string jobs = "10000";
  std::string seed = "1";
  std::optional<std::string> rate, span, load, cluster, users, queues;
  std::string start = "mon";
  std::string format = "weft";
  std::string output = "-";
  bool is_steady = false;
};

std::unexpected<Error> wrong(std::string message) { return fail(ErrorCode::kInvalidInput, std::move(message)); }

// ---- options

Result<int64_t> whole(std::string_view option, const std::string& written, int64_t low, int64_t high) {
  Result<int64_t> number = parse_integer(written, low, high);
  if (!number) return wrong(fmt::format("{}: {}", option, number.error().message));
  return number;
}

Result<double> above_zero(std::string_view option, const std::string& written) {
  const Result<double> number = parse_number(written);
  if (number && *number > 0) return number;
  return wrong(fmt::format("{}: expected a number above 0, found {}", option, quote(written)));
}

Result<sim::Weekday> weekday(const std::string& written) {
  constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
  for (size_t i = 0; i < kDays.size(); ++i) {
    if (written == kDays[i]) return static_cast<sim::Weekday>(i);
  }
  return wrong(fmt::format("--start: expected one of {}, found {}", fmt::join(kDays, ", "), quote(written)));
}

Result<sim::TraceFormat> format_of(const std::string& written) {
  std::vector<std::string_view> names;
  for (const sim::TraceFormat format : sim::written_formats()) {
    names.push_back(sim::trace_format_name(format));
    if (names.back() == written) return format;
  }
  return wrong(fmt::format("--format: expected one of {}, found {}", fmt::join(names, ", "), quote(written)));
}

/// How fast the jobs come.
Result<void> read_pace(const GenerateOptions& options, sim::GeneratorPlan& plan) {
  if (int{options.rate.has_value()} + int{options.span.has_value()} + int{options.load.has_value()} > 1)
    return wrong("--rate, --span and --load say how fast jobs come in three ways; expected one of them");
  if (options.load && !options.cluster) return wrong("--load: of which cluster? name it with --cluster");
  if (options.rate) {
    const Result<double> rate = above_zero("--rate", *options.rate);
    if (!rate) return std::unexpected(rate.error());
    plan.jobs_per_hour = *rate;
  }
  if (options.load) {
    const Result<double> load = above_zero("--load", *options.load);
    if (!load) return std::unexpected(load.error());
    plan.load = *load;
  }
  if (options.span) {
    const Result<Duration> span = parse_duration(*options.span);
    if (!span) return wrong(fmt::format("--span: {}", span.error().message));
    if (span->ns <= 0 || *span >= kEndless)
      return wrong(fmt::format("--span: expected a time above 0, found {}", quote(*options.span)));
    plan.span = *span;
  }
  return {};
}

Result<void> read_people(const GenerateOptions& options, sim::GeneratorPlan& plan) {
  const auto read = [](std::string_view option, const std::optional<std::string>& written, uint32_t& people) {
    const Result<int64_t> count = written ? whole(option, *written, 1, kPeopleMax) : 0;
    if (count) people = static_cast<uint32_t>(*count);
    return count ? Result<void>() : std::unexpected(count.error());
  };
  const Result<void> users = read("--users", options.users, plan.users);
  return users ? read("--queues", options.queues, plan.queues) : users;
}

Result<sim::GeneratorPlan> read_plan(const GenerateOptions& options) {
  sim::GeneratorPlan plan{.profile = options.profile};
  if (sim::find_profile(plan.profile) == nullptr)
    return wrong("--profile: " + unknown_name_text("profile", plan.profile, sim::profile_names()));
  const Result<int64_t> jobs = whole("--jobs", options.jobs, 1, kJobsMax);
  if (!jobs) return std::unexpected(jobs.error());
  const Result<int64_t> seed = whole("--seed", options.seed, 0, std::numeric_limits<int64_t>::max());
  if (!seed) return std::unexpected(seed.error());
  const Result<sim::Weekday> day = weekday(options.start);
  if (!day) return std::unexpected(day.error());
  plan.jobs = static_cast<uint64_t>(*jobs);
  plan.seed = static_cast<uint64_t>(*seed);
  plan.first_day = *day;
  plan.is_steady = options.is_steady ? 1 : 0;
  if (Result<void> read = read_pace(options, plan); !read) return std::unexpected(read.error());
  if (Result<void> read = read_people(options, plan); !read) return std::unexpected(read.error());
  if (options.cluster) {
    const Result<sim::ClusterSpec> cluster = sim::read_cluster(*options.cluster);
    if (!cluster) return std::unexpected(cluster.error());
    if (cluster->gpu_count() == 0) return wrong(fmt::format("--cluster: {} has no GPUs", quote(*options.cluster)));
    plan.cluster = sim::room_of(*cluster);
  }
  return plan;
}

// ---- the summary

std::string summary(const GenerateOptions& options, const sim::GeneratorPlan& plan, const sim::JobGenerator& generator,
                    const sim::TraceTotals& totals) {
  const sim::WorkloadProfile& profile = generator.profile();
  const double jobs = static_cast<double>(totals.jobs());
  const double span_s = totals.span().seconds();
  Table table({{""},
               {"generated", Table::Align::kRight},
               {profile.is_made_up != 0 ? "profile" : "published", Table::Align::kRight}});
  const auto number = [](double value) { return value > 0 ? sim::number_text(value) : "-"; };
  table.add({"mean run time, s", number(totals.run_time_mean_s()), number(profile.run_time_mean_s)});
  table.add({"median run time, s", number(totals.run_time_median_s()), number(profile.run_time_median_s)});
  table.add({"longest run time, s", number(totals.run_time_max().seconds()), number(profile.run_time_max_s)});
  table.add({"mean GPUs", sim::decimal_text(totals.gpus_mean(), 3), sim::decimal_text(profile.gpus_mean, 3)});
  table.add({"mean GPU-hours", sim::decimal_text(totals.gpu_seconds() / jobs / 3600, 3),
             profile.gpu_time_mean_s > 0 ? sim::decimal_text(profile.gpu_time_mean_s / 3600, 3) : "-"});
  const auto share = [&](sim::TraceEnd end) {
    return sim::percent_text(static_cast<double>(totals.ended(end)) / jobs);
  };
  table.add({"failed", share(sim::TraceEnd::kFailed), sim::percent_text(profile.ends_of_jobs.failed)});
  table.add({"cancelled", share(sim::TraceEnd::kCancelled), sim::percent_text(profile.ends_of_jobs.cancelled)});
  table.add({"jobs per hour", span_s > 0 ? number(jobs / span_s * 3600) : "-", number(profile.jobs_per_hour)});
  std::string text =
      fmt::format("{} jobs as of {} in {}, {} GPU-hours{}\n", format_count(static_cast<int64_t>(totals.jobs())),
                  profile.name, format_duration(totals.span()), sim::gpu_hours_text(totals.gpu_seconds()),
                  options.output == "-" ? "" : ": " + printable(options.output));
  if (generator.under_way_count() > 0) {
    text += fmt::format("before them, not counted here, {} that run already when it begins\n",
                        format_count(static_cast<int64_t>(generator.under_way_count())));
  }
  text += table.text(0);
  if (plan.cluster && span_s > 0) {
    text += fmt::format("load on {}: {:.3f}\n", printable(*options.cluster),
                        totals.gpu_seconds() / span_s / static_cast<double>(plan.cluster->gpus));
  }
  if (const double left_out = generator.workload().left_out; left_out > 1e-9) {
    text += fmt::format("{} of the profile's jobs are too large for {}: smaller ones came in their place\n",
                        sim::percent_text(left_out), printable(*options.cluster));
  }
  return text;
}

// ---- writing

volatile std::sig_atomic_t stopped_by = 0;

/// While it lives, a pipe that nobody reads is an error of writing, and until release() a signal to stop is noted in
/// `stopped_by` instead of ending us, so that no half of a file is left.
class NotedSignals {
 public:
  NotedSignals() : broken_pipe_(::signal(SIGPIPE, SIG_IGN)) {
    stopped_by = 0;
    for (size_t i = 0; i < kStops.size(); ++i) {
      struct sigaction noted{};
      noted.sa_handler = [](int which) { stopped_by = which; };
      ::sigaction(kStops[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(kStops[i], &noted, nullptr);  // else nohup
    }
  }
  ~NotedSignals() {
    release();
    ::signal(SIGPIPE, broken_pipe_);
  }
  NotedSignals(const NotedSignals&) = delete;
  NotedSignals& operator=(const NotedSignals&) = delete;

  void release() const {
    for (size_t i = 0; i < kStops.size(); ++i) ::sigaction(kStops[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array kStops{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kStops.size()> before_{};
  void (*broken_pipe_)(int);
};

/// Writes all jobs, and counts those that come.
Result<void> write_jobs(sim::JobGenerator& generator, sim::FormatWriter& writer, uint64_t jobs, OutputFile& output,
                        sim::TraceTotals& totals) {
  constexpr size_t kPiece = size_t{256} << 10;
  const bool is_seen = output.is_terminal();  // a line of progress between the rows would spoil both
  ProgressLine line("jobs");
  sim::TraceJob job;
  std::string piece;
  uint64_t written_jobs = 0;
  for (;;) {
    const auto step = generator.next(job);
    if (!step) return std::unexpected(step.error());
    const bool is_end = *step == sim::TraceReader::Step::kEnd;
    if (!is_end) {
      if (++written_jobs > generator.under_way_count()) totals.add(job);
      if (Result<void> told = writer.write(job, piece); !told) return told;
    }
    if (!is_end && piece.size() < kPiece) continue;
    if (Result<void> written = output.write(piece); !written) return written;
    piece.clear();
    if (!is_seen) line.show(written_jobs, jobs);
    if (stopped_by != 0) return fail(ErrorCode::kUnavailable, "stopped by a signal; the output is as it was");
    if (is_end) return output.commit();
  }
}

int run_generate(const GenerateOptions& options) {
  const Result<sim::TraceFormat> format = format_of(options.format);
  if (!format) return report("generate", format.error());
  const Result<sim::GeneratorPlan> plan = read_plan(options);
  if (!plan) return report("generate", plan.error());
  std::vector<NamedFile> inputs;
  if (options.cluster) inputs.push_back({"--cluster", *options.cluster});
  if (Result<void> checked = check_outputs({{"--output", options.output}}, inputs); !checked)
    return report("generate", checked.error());
  Result<std::unique_ptr<sim::JobGenerator>> generator = sim::JobGenerator::make(*plan);
  if (!generator) return report("generate", generator.error());
  const bool has_shares = std::ranges::any_of((*generator)->workload().classes,
                                              [](const sim::JobClass& each) { return each.gpu_milli < 1000; });
  if (has_shares && *format != sim::TraceFormat::kWeftCsv) {
    return report("generate", Error{ErrorCode::kInvalidInput,
                                    fmt::format("--format: {} cannot tell the shares of GPUs that jobs of {} ask for; "
                                                "expected weft",
                                                options.format, plan->profile)});
  }
  const NotedSignals signals;
  Result<OutputFile> output = OutputFile::open(options.output);
  if (!output) return report("generate", output.error());
  if (!output->is_replacement()) signals.release();  // there is nothing to clear away
  const std::unique_ptr<sim::FormatWriter> writer = sim::make_format_writer(*format, (*generator)->epoch());
  sim::TraceTotals totals;
  const Result<void> written = write_jobs(**generator, *writer, plan->jobs, *output, totals);
  if (!written && stopped_by != 0) return report("generate: " + written.error().message, 128 + int{stopped_by});
  if (!written) return report("generate", written.error());
  say(summary(options, *plan, **generator, totals));
  return kSuccess;
}

std::string profiles_text() {
  std::string text;
  for (const sim::WorkloadProfile& profile : sim::workload_profiles()) {
    text += fmt::format("\n  {:<8} {}", profile.name, profile.title);
  }
  return text;
}

}  // namespace

void add_generate_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand("generate", "Make up a trace of jobs like those of a published one");
  set_place(*command, kSimulationGroup,
            "weft generate --profile philly --jobs 100000 --cluster 310x8 --load 0.9 -o trace.csv\n\nProfiles:" +
                profiles_text());
  command
      ->add_option("--profile", options->profile,
                   fmt::format("whose jobs they are like: {}", fmt::join(sim::profile_names(), ", ")))
      ->type_name("NAME");
  command->add_option("--jobs", options->jobs, "how many (10000)")->type_name("N");
  command->add_option("--seed", options->seed, "of all random numbers: the same seed gives the same trace (1)")
      ->type_name("S");
  command
      ->add_option("--cluster", options->cluster,
                   "the cluster that they are for, NxG or a list of nodes: jobs that it could never run do not come")
      ->type_name("FILE|NxG");
  command
      ->add_option("--load", options->load,
                   "GPU-time that comes over GPU-time that the cluster has, such as 0.9 (0.7 where a cluster is named)")
      ->type_name("SHARE");
  command->add_option("--rate", options->rate, "jobs per hour (without a cluster: as in the profile's source)")
      ->type_name("N");
  command->add_option("--span", options->span, "time in which they come, such as 30d")->type_name("TIME");
  command->add_flag(
      "--steady", options->is_steady,
      "begin as if it had gone on for long: jobs that run already come first, all at time 0, with what is "
      "left of them");
  command->add_option("--start", options->start, "the day at whose midnight it begins: mon, tue, … (mon)")
      ->type_name("DAY");
  command->add_option("--users", options->users, "how many submit them (as the profile has it)")->type_name("N");
  command->add_option("--queues", options->queues, "how many teams they belong to (as the profile has it)")
      ->type_name("N");
  command->add_option("--format", options->format, "weft (default), tiresias, philly or swf: see docs/guide/traces.md")
      ->type_name("NAME");
  command->add_option("-o,--output", options->output, "the file to write ('-', the default: standard output)")
      ->type_name("FILE");
  command->callback([options, &exit_status] { exit_status = run_generate(*options); });
}

}  // namespace weft::cli
