#include "base/printable.h"
#include "base/text.h"
#include "sim/report/chart.h"
#include "sim/report/run_format.h"
#include "sim/report/run_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft::sim {

namespace {

std::string jobs_text(const RunReport& report) {
  return fmt::format("{} of {}: {}.", format_count(static_cast<int64_t>(report.metrics.all.jobs), "job"),
                     printable(report.facts.trace), ends_text(report.metrics));
}

std::string_view parties_text(FairParties kind) { return kind == FairParties::kUsers ? "users" : "queues"; }

std::string fragments_text(double share) {
  return std::isnan(share) ? ""
                           : fmt::format(", and {} was free in fragments that no job could use", percent_text(share));
}

std::string run_sentence(const RunMetrics& metrics) {
  return fmt::format(
      "The last job ended {} after the first submission. {} of the GPU time was in use{}. On average {} jobs "
      "waited, {} at most. {} preemptions, {} GPU hours lost.",
      duration_text(metrics.makespan), percent_text(metrics.utilization),
      fragments_text(metrics.occupancy.fragment_mean), number_text(metrics.occupancy.pending_mean),
      number_text(metrics.occupancy.pending_max), format_count(metrics.all.preempts),
      gpu_hours_text(metrics.all.lost_gpu_seconds));
}

std::string fairness_sentence(const RunFairness& fairness) {
  std::string text = fmt::format("Jain's index of the jobs' speed is {}", decimal_text(fairness.jain_jobs, 3));
  if (fairness.kind == FairParties::kNone) return text + " (1 is even).";
  return text + fmt::format(
                    ", of the {} {} {} (1 is even). {} of the jobs were done later than if their owner had had "
                    "an equal share of the GPUs alone: their finish-time ratio is above 1.",
                    count_text(fairness.parties), parties_text(fairness.kind), decimal_text(fairness.jain_parties, 3),
                    percent_text(fairness.share_above_one));
}

std::string left_out_text(uint64_t left_out, std::string_view what) {
  return left_out > 0 ? fmt::format("<p class=\"note\">{} more {} with less GPU time are not shown.</p>\n",
                                    count_text(left_out), what)
                      : std::string();
}

constexpr std::string_view kRatioNote =
    "In brackets: the ratio to the first row. What is best in a column is underlined.";

void add_one_run(Page& page, const NamedRuns& runs) {
  const RunReport& report = *runs.front().report;
  const RunMetrics& metrics = report.metrics;
  page.sections.push_back(
      {.title = "Times",
       .paragraphs = {jobs_text(report), run_sentence(metrics), fairness_sentence(metrics.fairness)},
       .html = {},
       .table = times_table(report),
       .details_title = "In seconds",
       .details = seconds_table(runs)});
  page.sections.push_back(
      {.title = "Over time", .paragraphs = {}, .html = use_charts(runs) + cdf_charts(runs) + node_chart(report)});
  page.sections.push_back(
      {.title = "By size, queue and user",
       .paragraphs = {},
       .html = table_html(groups_table("GPUs per job", metrics.by_size)) +
               table_html(groups_table("queue", metrics.by_queue)) + left_out_text(metrics.queues_left_out, "queues") +
               table_html(groups_table("user", metrics.by_user)) + left_out_text(metrics.users_left_out, "users")});
}

std::string node_charts(const NamedRuns& runs) {
  std::string html;
  for (const NamedRun& run : runs) {
    const std::string chart = node_chart(*run.report);
    if (!chart.empty()) html += folded_html(fmt::format("Jobs on nodes: {}", run.name), chart);
  }
  return html;
}

std::string group_comparisons(const NamedRuns& runs) {
  std::string html = "<p>Mean JCT by the number of GPUs that a job asks for:</p>\n" +
                     table_html(groups_comparison("GPUs per job", runs, &RunMetrics::by_size));
  const RunMetrics& first = runs.front().report->metrics;
  if (!first.by_queue.empty()) {
    html += folded_html("Mean JCT by queue", table_html(groups_comparison("queue", runs, &RunMetrics::by_queue)) +
                                                 left_out_text(first.queues_left_out, "queues"));
  }
  if (!first.by_user.empty()) {
    html += folded_html("Mean JCT by user", table_html(groups_comparison("user", runs, &RunMetrics::by_user)) +
                                                left_out_text(first.users_left_out, "users"));
  }
  return html;
}

void add_comparison(Page& page, const NamedRuns& runs, std::string title) {
  const RunReport& first = *runs.front().report;
  std::string html = comparison_bars(runs) + table_html(times_comparison(runs)) +
                     fmt::format("<p class=\"note\">{}</p>\n", kRatioNote) + table_html(cluster_comparison(runs)) +
                     folded_html("Times in seconds", table_html(seconds_table(runs)));
  html += cdf_charts(runs) + use_charts(runs) + group_comparisons(runs) + node_charts(runs);
  page.sections.push_back({.title = std::move(title),
                           .paragraphs = {fmt::format("{} jobs of {} on {}.", count_text(first.metrics.all.jobs),
                                                      printable(first.facts.trace), cluster_text(first.facts))},
                           .html = std::move(html)});
}

struct Term {
  std::string_view word;
  std::string_view meaning;
};

constexpr Term kTerms[]{
    {"JCT, job completion time",
     "from a job's submission to its end. Waiting is the part of it in which the job did not "
     "run. Both, and all ratios, are over the jobs that ran to an end."},
    {"pNN", "of n sorted values the one at place n * NN / 100, counted from 0; the median is p50."},
    {"Slowdown", "JCT over run time, where run times below 10 s count as 10 s; at least 1."},
    {"GPU time in use",
     "GPUs times the time for which jobs had them, over all GPUs times the makespan. Lost is the part of "
     "it that was no progress, as restarts and work after the last checkpoint."},
    {"Owner of a job", "its user, or its queue where the trace names no users."},
    {"Finish-time ratio",
     "JCT over what it would have been if the job's owner had an equal share of the GPUs alone, its "
     "jobs in order of submission."},
    {"Jain's index",
     "of one over slowdown, of jobs or of the owners' means: 1 when all fared alike, 1/n when one of n had "
     "everything."},
};

void add_terms(Page& page) {
  PageSection section{.title = "What the words mean", .paragraphs = {}, .html = {}};
  for (const Term& term : kTerms) section.paragraphs.push_back(fmt::format("{}: {}", term.word, term.meaning));
  page.sections.push_back(std::move(section));
}

NamedRuns named(const std::vector<const RunReport*>& runs, std::span<const RunReport> all) {
  constexpr size_t kNameMax = 24;
  NamedRuns out;
  for (const RunReport* run : runs) out.push_back({.name = cut_to(run_label(*run, all), kNameMax), .report = run});
  return out;
}

std::string page_title(std::span<const RunReport> reports, size_t traces) {
  const std::string trace = printable(trace_label(reports.front(), reports));
  if (reports.size() == 1) return fmt::format("{} on {}", printable(run_label(reports[0], reports)), trace);
  if (traces == 1) return fmt::format("{} runs of {}", reports.size(), trace);
  return fmt::format("{} runs of {} traces", reports.size(), traces);
}

}  // namespace

std::string run_html(std::span<const RunReport> reports) {
  Page page{.title = "No runs", .subtitle = {}, .sections = {}};
  if (reports.empty()) return page_html(page);
  const auto groups = by_trace(reports);
  const RunFacts& first = reports.front().facts;
  page.title = page_title(reports, groups.size());
  page.subtitle = groups.size() == 1
                      ? fmt::format("Simulated by weft's own scheduling core on {}.", cluster_text(first))
                      : "Simulated by weft's own scheduling core.";
  NamedRuns all;
  for (const auto& group : groups) {
    const NamedRuns runs = named(group, reports);
    if (reports.size() == 1) {
      add_one_run(page, runs);
    } else {
      add_comparison(page, runs, printable(trace_label(*group.front(), reports)));
    }
    for (const NamedRun& run : runs) {
      all.push_back(run);
      if (groups.size() > 1) all.back().name += " on " + printable(trace_label(*run.report, reports));
    }
  }
  add_terms(page);
  page.sections.push_back(
      {.title = "How it was run",
       .paragraphs = {"The same trace, rules and seed give the same decisions: the decision hash tells."},
       .html = {},
       .table = facts_table(all)});
  return page_html(page);
}

}  // namespace weft::sim
