#include "sim/report/json_writer.h"
#include "sim/report/run_report.h"

#include <fmt/format.h>

#include <string_view>

namespace weft::sim {

namespace {

/// "avg_jct", "median_jct", "p90_jct", …
void add_distribution(JsonWriter& out, std::string_view name, const Distribution& d) {
  out.add(fmt::format("avg_{}", name), d.mean);
  out.add(fmt::format("median_{}", name), d.median);
  out.add(fmt::format("p90_{}", name), d.p90);
  out.add(fmt::format("p95_{}", name), d.p95);
  out.add(fmt::format("p99_{}", name), d.p99);
  out.add(fmt::format("max_{}", name), d.max);
}

void add_group(JsonWriter& out, const RunGroup& group) {
  out.add("jobs", group.jobs);
  out.add("ended", group.jct.count);
  add_distribution(out, "jct", group.jct);
  add_distribution(out, "wait", group.waited);
  add_distribution(out, "slowdown", group.slowdown);
  out.add("preempts", group.preempts);
  out.add("gpu_seconds", group.gpu_seconds);
  out.add("lost_gpu_seconds", group.lost_gpu_seconds);
}

void add_groups(JsonWriter& out, std::string_view key, const std::vector<RunGroup>& groups) {
  out.open_array(key);
  for (const RunGroup& group : groups) {
    out.open_object();
    out.add("name", group.name);
    add_group(out, group);
    out.close();
  }
  out.close();
}

void add_facts(JsonWriter& out, const RunFacts& facts) {
  out.add("trace", facts.trace);
  out.add("policy", facts.policy);
  out.add("placement", facts.placement);
  out.add("cluster", facts.cluster);
  out.add("rules", facts.rules);
  out.add("past", facts.past);
  out.add("seed", facts.seed);
  out.add("nodes", facts.nodes);
  out.add("gpus", facts.gpus);
  out.add("events", facts.events);
  out.add("decisions", facts.decisions);
  out.add("decision_hash", fmt::format("{:016x}", facts.decision_hash));
  out.add("wall_seconds", facts.wall_seconds);
  out.add("read_seconds", facts.read_seconds);
}

void add_occupancy(JsonWriter& out, const RunOccupancy& occupancy) {
  out.add("avg_allocation", occupancy.allocation_mean);
  out.add("max_allocation", occupancy.allocation_max);
  out.add("avg_fragments", occupancy.fragment_mean);
  out.add("avg_fragments_of_free", occupancy.fragment_free_mean);
  out.add("avg_pending_jobs", occupancy.pending_mean);
  out.add("max_pending_jobs", occupancy.pending_max);
  out.add("avg_pending_gpus", occupancy.pending_gpus_mean);
  out.add("avg_running_jobs", occupancy.running_mean);
}

std::string_view parties_name(FairParties kind) {
  switch (kind) {
    case FairParties::kUsers: return "users";
    case FairParties::kQueues: return "queues";
    case FairParties::kNone: break;
  }
  return "none";
}

void add_run(JsonWriter& out, const RunReport& report) {
  const RunMetrics& metrics = report.metrics;
  add_facts(out, report.facts);
  add_group(out, metrics.all);
  out.add("done", metrics.done);
  out.add("failed", metrics.failed);
  out.add("cancelled", metrics.cancelled);
  out.add("rejected", metrics.rejected);
  out.add("unfinished", metrics.unfinished);
  out.add("makespan", metrics.makespan);
  out.add("utilization", metrics.utilization);
  add_occupancy(out, metrics.occupancy);
  out.add("shared_by", parties_name(metrics.fairness.kind));
  out.add("parties", metrics.fairness.parties);
  add_distribution(out, "finish_time_ratio", metrics.fairness.finish_time_ratio);
  out.add("share_above_one_finish_time_ratio", metrics.fairness.share_above_one);
  out.add("jain_jobs", metrics.fairness.jain_jobs);
  out.add("jain_parties", metrics.fairness.jain_parties);
  add_groups(out, "by_size", metrics.by_size);
  add_groups(out, "by_queue", metrics.by_queue);
  out.add("queues_left_out", metrics.queues_left_out);
  add_groups(out, "by_user", metrics.by_user);
  out.add("users_left_out", metrics.users_left_out);
}

void add_ratios(JsonWriter& out, const RunMetrics& metrics, const RunMetrics& first) {
  const auto add = [&](std::string_view key, double value, double of_first) {
    out.add(key, ratio_to(value, of_first));
  };
  const RunGroup &all = metrics.all, &first_all = first.all;
  out.open_object("ratio_to_first");
  add("avg_jct", all.jct.mean, first_all.jct.mean);
  add("median_jct", all.jct.median, first_all.jct.median);
  add("p90_jct", all.jct.p90, first_all.jct.p90);
  add("p95_jct", all.jct.p95, first_all.jct.p95);
  add("p99_jct", all.jct.p99, first_all.jct.p99);
  add("avg_wait", all.waited.mean, first_all.waited.mean);
  add("avg_slowdown", all.slowdown.mean, first_all.slowdown.mean);
  add("makespan", metrics.makespan, first.makespan);
  add("utilization", metrics.utilization, first.utilization);
  out.close();
}

}  // namespace

std::string run_json(const RunReport& report) {
  JsonWriter out;
  out.open_object();
  add_run(out, report);
  out.close();
  return out.take();
}

std::string comparison_json(std::span<const RunReport> reports) {
  JsonWriter out;
  out.open_object();
  out.open_array("runs");
  for (const std::vector<const RunReport*>& group : by_trace(reports)) {
    for (const RunReport* report : group) {
      out.open_object();
      add_run(out, *report);
      add_ratios(out, report->metrics, group.front()->metrics);
      out.close();
    }
  }
  out.close();
  out.close();
  return out.take();
}

}  // namespace weft::sim
