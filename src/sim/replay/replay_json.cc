#include "base/bits.h"
#include "model/names.h"
#include "sim/replay/moment.h"
#include "sim/report/json_writer.h"

#include <fmt/format.h>

#include <limits>

namespace weft::sim {

namespace {

void add_instant(JsonWriter& out, std::string_view key, Instant at) {
  if (at < kNever) {
    out.add(key, at.ns);
  } else {
    out.add(key, std::numeric_limits<double>::quiet_NaN());  // null
  }
}

void add_hash(JsonWriter& out, std::string_view key, uint64_t hash) { out.add(key, fmt::format("{:016x}", hash)); }

void add_head(JsonWriter& out, const ReplayReport& report) {
  const store::JournalHead& head = report.replay.journal().head();
  out.add("journal", report.path);
  out.add("command", head.command);
  out.add("weft", head.weft_version);
  if (head.wall_start_ms) out.add("wall_start_ms", *head.wall_start_ms);
  out.open_object("facts");
  for (const auto& [name, value] : head.facts) out.add(name, value);
  out.close();
  out.add("finished", report.replay.journal().end().has_value());
}

void add_totals(JsonWriter& out, const Replay& replay) {
  const store::JournalEnd& totals = replay.totals();
  out.add("calls", totals.calls);
  out.add("events", totals.events);
  out.add("decisions", totals.decisions);
  add_hash(out, "decision_hash", totals.decision_hash);
  out.add("same", !replay.difference().has_value());
  if (!replay.difference()) return;
  out.open_object("difference");
  out.add("call", replay.difference()->call);
  add_instant(out, "at", replay.difference()->at);
  out.add("decision", replay.difference()->decision);
  out.add("recorded", replay.difference()->recorded);
  out.add("found", replay.difference()->found);
  out.close();
}

void add_decisions(JsonWriter& out, std::string_view key, Replay& replay,
                   const std::vector<NumberedDecision>& decisions) {
  out.open_array(key);
  for (const NumberedDecision& numbered : decisions) {
    const store::RecordedDecision& decision = numbered.decision;
    out.open_object();
    out.add("number", numbered.number);
    add_instant(out, "at", decision.at);
    out.add("kind", to_text(decision.kind));
    out.add("job", index(decision.job));
    out.add("name", replay.job_name(decision.job));
    out.add("attempt", decision.attempt);
    out.add("text", replay.text(decision));
    out.close();
  }
  out.close();
}

void add_nodes(JsonWriter& out, const std::vector<NodeView>& nodes) {
  out.open_array("nodes");
  for (const NodeView& node : nodes) {
    out.open_object();
    out.add("name", node.name);
    out.add("up", node.is_up);
    out.add("cordoned", node.is_cordoned);
    out.add("model", node.device_model);
    out.add("gpus", node.device_count);
    out.add("gpus_free", popcount(node.free_devices));
    out.add("free", device_ranges(node.free_devices));
    out.add("cpu_milli", node.cpu_milli);
    out.add("cpu_milli_free", node.free_cpu_milli);
    out.add("memory_bytes", node.memory_bytes);
    out.add("memory_bytes_free", node.free_memory_bytes);
    out.close();
  }
  out.close();
}

void add_job_members(JsonWriter& out, const Scheduler& core, const JobView& job) {
  out.add("job", index(job.id));
  out.add("name", job.name);
  out.add("user", job.user);
  out.add("queue", job.queue);
  out.add("state", to_text(job.state));
  out.add("priority", job.priority);
  out.add("gpus", static_cast<double>(job.request.gpu_units) / static_cast<double>(kGpuUnits));
  out.add("attempt", job.attempt);
  add_instant(out, "submitted", job.submitted);
  add_instant(out, "started", job.started);
  add_instant(out, "ended", job.ended);
  out.add("on", places_text(job));
  out.add("reason", core.word(job.verdict));
  out.add("why", job.why);
}

void add_jobs(JsonWriter& out, std::string_view key, const Scheduler& core, const std::vector<JobView>& jobs) {
  out.open_array(key);
  for (const JobView& job : jobs) {
    out.open_object();
    add_job_members(out, core, job);
    out.close();
  }
  out.close();
}

void add_moment(JsonWriter& out, Replay& replay, const Moment& moment) {
  const ClusterView& cluster = moment.cluster;
  out.open_object("moment");
  add_instant(out, "at", moment.at);
  add_instant(out, "last_call", moment.last_call);
  if (moment.decision) out.add("decision", *moment.decision);
  out.add("gpus", cluster.gpus);
  out.add("gpus_free", cluster.gpus_free);
  out.add("jobs_running", moment.running_count);
  out.add("jobs_waiting", moment.waiting_count);
  out.add("jobs_ended", cluster.jobs_ended);
  add_nodes(out, moment.nodes);
  add_jobs(out, "running", replay.core(), moment.running);
  add_jobs(out, "waiting", replay.core(), moment.waiting);
  add_decisions(out, "before", replay, moment.before);
  add_decisions(out, "after", replay, moment.after);
  out.close();
}

}  // namespace

std::string replay_json(const ReplayReport& report) {
  JsonWriter out;
  out.open_object();
  add_head(out, report);
  add_totals(out, report.replay);
  if (report.moment != nullptr) add_moment(out, report.replay, *report.moment);
  if (report.job != nullptr) {
    out.open_object("job");
    add_job_members(out, report.replay.core(), *report.job);
    out.open_array("tasks");
    for (const TaskView& task : report.job->tasks) {
      out.open_object();
      out.add("name", task.name);
      out.add("state", to_text(task.state));
      out.add("node", task.node);
      out.add("gpus", task.node.empty() ? std::string() : device_ranges(task.placement.devices));
      out.close();
    }
    out.close();
    out.close();
  }
  if (report.decisions != nullptr) add_decisions(out, "decisions", report.replay, *report.decisions);
  out.close();
  return out.take();
}

}  // namespace weft::sim
