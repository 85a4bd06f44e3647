#include "service/info.h"
#include "service/strict_json.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft::service {
namespace {

namespace json = boost::json;

template <typename T>
json::value optional_value(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::value moment_value(int64_t wall_ms) { return wall_ms == 0 ? json::value(nullptr) : json::value(wall_ms); }

template <typename T>
json::array list(const std::vector<T>& values) {
  return json::array(values.begin(), values.end());
}

/// Takes fields out of an object that this program wrote; the first one that is missing or of another kind is
/// remembered.
class Reader {
 public:
  explicit Reader(const json::value& value) {
    if (value.is_object()) {
      object_ = &value.get_object();
    } else {
      is_right_ = false;
    }
  }

  void get(std::string_view key, std::string& out) {
    if (const json::value* value = find(key); value != nullptr && check(value->is_string()))
      out = std::string(value->get_string());
  }
  template <typename Number>
    requires std::is_integral_v<Number>
  void get(std::string_view key, Number& out) {
    const json::value* value = find(key);
    if (value == nullptr) return;
    if (std::is_same_v<Number, bool> ? !check(value->is_bool()) : !check(value->is_int64() || value->is_uint64()))
      return;
    if constexpr (std::is_same_v<Number, bool>) {
      out = value->get_bool();
    } else {
      boost::system::error_code error;
      out = value->to_number<Number>(error);
      check(!error);
    }
  }
  void get(std::string_view key, double& out) {
    if (const json::value* value = find(key); value != nullptr && check(value->is_number()))
      out = value->to_number<double>();
  }
  template <typename Number>
  void get(std::string_view key, std::optional<Number>& out) {
    const json::value* value = find(key);
    if (value == nullptr || value->is_null()) return;
    Number number = 0;
    get(key, number);
    out = number;
  }
  void get_moment(std::string_view key, int64_t& out) {
    std::optional<int64_t> wall_ms;
    get(key, wall_ms);
    out = wall_ms.value_or(0);
  }
  template <typename T>
  void get(std::string_view key, std::vector<T>& out) {
    const json::value* value = find(key);
    if (value == nullptr || !check(value->is_array())) return;
    for (const json::value& entry : value->get_array()) {
      if constexpr (std::is_same_v<T, std::string>) {
        if (check(entry.is_string())) out.emplace_back(entry.get_string());
      } else {
        boost::system::error_code error;
        out.push_back(entry.is_number() ? entry.to_number<T>(error) : T{});
        check(entry.is_number() && !error);
      }
    }
  }
  template <typename Visit>
  void for_each(std::string_view key, Visit&& visit) {
    const json::value* value = find(key);
    if (value == nullptr || !check(value->is_array())) return;
    for (const json::value& entry : value->get_array()) {
      Reader reader(entry);
      visit(reader);
      check(reader.is_right());
    }
  }
  bool is_right() const { return is_right_; }

 private:
  const json::value* find(std::string_view key) {
    const json::value* value = object_ == nullptr ? nullptr : object_->if_contains(key);
    check(value != nullptr);
    return value;
  }
  bool check(bool holds) {
    is_right_ = is_right_ && holds;
    return holds;
  }

  const json::object* object_ = nullptr;
  bool is_right_ = true;
};

json::object task_object(const TaskInfo& task) {
  return {{"index", task.index},     {"name", task.name},
          {"state", task.state},     {"node", task.node},
          {"gpus", list(task.gpus)}, {"gpu_uuids", list(task.gpu_uuids)},
          {"pid", task.pid},         {"exit_status", optional_value(task.exit_status)}};
}

TaskInfo read_task(Reader& in) {
  TaskInfo task;
  in.get("index", task.index);
  in.get("name", task.name);
  in.get("state", task.state);
  in.get("node", task.node);
  in.get("gpus", task.gpus);
  in.get("gpu_uuids", task.gpu_uuids);
  in.get("pid", task.pid);
  in.get("exit_status", task.exit_status);
  return task;
}

json::object job_object(const JobInfo& job) {
  json::array tasks;
  for (const TaskInfo& task : job.tasks) tasks.push_back(task_object(task));
  return {{"id", job.id},
          {"name", job.name},
          {"user", job.user},
          {"queue", job.queue},
          {"state", job.state},
          {"priority", job.priority},
          {"attempt", job.attempt},
          {"submitted_ms", job.submitted_ms},
          {"started_ms", moment_value(job.started_ms)},
          {"ended_ms", moment_value(job.ended_ms)},
          {"time_limit_ms", optional_value(job.time_limit_ms)},
          {"exit_status", optional_value(job.exit_status)},
          {"gpus", job.gpus},
          {"gpu_models", list(job.gpu_models)},
          {"cpu_milli", job.cpu_milli},
          {"memory_bytes", job.memory_bytes},
          {"command", list(job.command)},
          {"directory", job.directory},
          {"output", job.output},
          {"error", job.error},
          {"output_shared", job.is_output_shared},
          {"reason", job.reason},
          {"why", job.why},
          {"message", job.message},
          {"tasks", std::move(tasks)}};
}

JobInfo read_job_object(Reader& in) {
  JobInfo job;
  in.get("id", job.id);
  in.get("name", job.name);
  in.get("user", job.user);
  in.get("queue", job.queue);
  in.get("state", job.state);
  in.get("priority", job.priority);
  in.get("attempt", job.attempt);
  in.get("submitted_ms", job.submitted_ms);
  in.get_moment("started_ms", job.started_ms);
  in.get_moment("ended_ms", job.ended_ms);
  in.get("time_limit_ms", job.time_limit_ms);
  in.get("exit_status", job.exit_status);
  in.get("gpus", job.gpus);
  in.get("gpu_models", job.gpu_models);
  in.get("cpu_milli", job.cpu_milli);
  in.get("memory_bytes", job.memory_bytes);
  in.get("command", job.command);
  in.get("directory", job.directory);
  in.get("output", job.output);
  in.get("error", job.error);
  in.get("output_shared", job.is_output_shared);
  in.get("reason", job.reason);
  in.get("why", job.why);
  in.get("message", job.message);
  in.for_each("tasks", [&](Reader& task) { job.tasks.push_back(read_task(task)); });
  return job;
}

json::object gpu_object(const GpuInfo& gpu) {
  return {{"index", gpu.index},
          {"uuid", gpu.uuid},
          {"bus_id", gpu.bus_id},
          {"model", gpu.model},
          {"memory_bytes", gpu.memory_bytes},
          {"healthy", gpu.is_healthy},
          {"free_milli", gpu.free_milli},
          {"jobs", list(gpu.jobs)}};
}

json::object node_object(const NodeInfo& node) {
  json::array gpus;
  for (const GpuInfo& gpu : node.gpus) gpus.push_back(gpu_object(gpu));
  return {{"name", node.name},
          {"state", node.state},
          {"gpu_model", node.gpu_model},
          {"gpus", std::move(gpus)},
          {"cpu_milli", node.cpu_milli},
          {"free_cpu_milli", node.free_cpu_milli},
          {"memory_bytes", node.memory_bytes},
          {"free_memory_bytes", node.free_memory_bytes}};
}

GpuInfo read_gpu(Reader& in) {
  GpuInfo gpu;
  in.get("index", gpu.index);
  in.get("uuid", gpu.uuid);
  in.get("bus_id", gpu.bus_id);
  in.get("model", gpu.model);
  in.get("memory_bytes", gpu.memory_bytes);
  in.get("healthy", gpu.is_healthy);
  in.get("free_milli", gpu.free_milli);
  in.get("jobs", gpu.jobs);
  return gpu;
}

NodeInfo read_node(Reader& in) {
  NodeInfo node;
  in.get("name", node.name);
  in.get("state", node.state);
  in.get("gpu_model", node.gpu_model);
  in.for_each("gpus", [&](Reader& gpu) { node.gpus.push_back(read_gpu(gpu)); });
  in.get("cpu_milli", node.cpu_milli);
  in.get("free_cpu_milli", node.free_cpu_milli);
  in.get("memory_bytes", node.memory_bytes);
  in.get("free_memory_bytes", node.free_memory_bytes);
  return node;
}

/// Parses, hands the top object to `read` and refuses what was not whole.
template <typename T, typename Read>
Result<T> read_object(std::string_view text, Read&& read) {
  const auto value = parse_strict_json(text);
  if (!value) return std::unexpected(value.error());
  Reader reader(*value);
  T out = read(reader);
  if (!reader.is_right())
    return fail(ErrorCode::kInternal, "the server's answer is not of the kind that this version of weft reads");
  return out;
}

}  // namespace

int32_t NodeInfo::free_gpu_count() const {
  return static_cast<int32_t>(
      std::ranges::count_if(gpus, [](const GpuInfo& gpu) { return gpu.is_healthy && gpu.free_milli == 1000; }));
}

std::string write_news(const JobNews& news) {
  return json::serialize(json::object{{"job", news.job}, {"state", news.state}, {"time_ms", news.time_ms}});
}

std::string write_job(const JobInfo& job) { return json::serialize(job_object(job)); }

std::string write_jobs(const std::vector<JobInfo>& jobs) {
  json::array out;
  for (const JobInfo& job : jobs) out.push_back(job_object(job));
  return json::serialize(json::object{{"jobs", std::move(out)}});
}

std::string write_nodes(const std::vector<NodeInfo>& nodes) {
  json::array out;
  for (const NodeInfo& node : nodes) out.push_back(node_object(node));
  return json::serialize(json::object{{"nodes", std::move(out)}});
}

std::string write_queues(const std::vector<QueueInfo>& queues) {
  json::array out;
  for (const QueueInfo& queue : queues) {
    out.push_back(json::object{{"name", queue.name},
                               {"parent", queue.parent},
                               {"pending", queue.pending},
                               {"running", queue.running},
                               {"gpu_milli", queue.gpu_milli},
                               {"cpu_milli", queue.cpu_milli},
                               {"memory_bytes", queue.memory_bytes}});
  }
  return json::serialize(json::object{{"queues", std::move(out)}});
}

namespace {

/// 500 rather than 5E2, as the library writes a number with a point.
json::value number_value(const std::optional<double>& value) {
  constexpr double kIntegerMax = 1e15;
  if (value && std::abs(*value) < kIntegerMax && std::trunc(*value) == *value)
    return json::value(static_cast<int64_t>(*value));
  return optional_value(value);
}

}  // namespace

std::string write_cluster(const ClusterInfo& cluster) {
  return json::serialize(json::object{{"version", cluster.version},
                                      {"nodes", cluster.nodes},
                                      {"nodes_available", cluster.nodes_available},
                                      {"gpus", cluster.gpus},
                                      {"gpus_free", cluster.gpus_free},
                                      {"jobs_pending", cluster.jobs_pending},
                                      {"jobs_running", cluster.jobs_running},
                                      {"jobs_ended", cluster.jobs_ended},
                                      {"gpu_milli_free", cluster.gpu_milli_free},
                                      {"fragment_milli", number_value(cluster.fragment_milli)},
                                      {"fragment_ratio", number_value(cluster.fragment_ratio)},
                                      {"decision_count", cluster.decision_count},
                                      {"decision_hash", cluster.decision_hash}});
}

std::string write_error(std::string_view code, std::string_view message) {
  return json::serialize(json::object{{"error", json::object{{"code", code}, {"message", message}}}});
}

Result<JobInfo> read_job(std::string_view text) {
  return read_object<JobInfo>(text, [](Reader& in) { return read_job_object(in); });
}

Result<std::vector<JobInfo>> read_jobs(std::string_view text) {
  return read_object<std::vector<JobInfo>>(text, [](Reader& in) {
    std::vector<JobInfo> jobs;
    in.for_each("jobs", [&](Reader& job) { jobs.push_back(read_job_object(job)); });
    return jobs;
  });
}

Result<std::vector<NodeInfo>> read_nodes(std::string_view text) {
  return read_object<std::vector<NodeInfo>>(text, [](Reader& in) {
    std::vector<NodeInfo> nodes;
    in.for_each("nodes", [&](Reader& node) { nodes.push_back(read_node(node)); });
    return nodes;
  });
}

Result<ClusterInfo> read_cluster(std::string_view text) {
  return read_object<ClusterInfo>(text, [](Reader& in) {
    ClusterInfo cluster;
    in.get("version", cluster.version);
    in.get("nodes", cluster.nodes);
    in.get("nodes_available", cluster.nodes_available);
    in.get("gpus", cluster.gpus);
    in.get("gpus_free", cluster.gpus_free);
    in.get("jobs_pending", cluster.jobs_pending);
    in.get("jobs_running", cluster.jobs_running);
    in.get("jobs_ended", cluster.jobs_ended);
    in.get("gpu_milli_free", cluster.gpu_milli_free);
    in.get("fragment_milli", cluster.fragment_milli);
    in.get("fragment_ratio", cluster.fragment_ratio);
    in.get("decision_count", cluster.decision_count);
    in.get("decision_hash", cluster.decision_hash);
    return cluster;
  });
}

Result<JobNews> read_news(std::string_view text) {
  return read_object<JobNews>(text, [](Reader& in) {
    JobNews news;
    in.get("job", news.job);
    in.get("state", news.state);
    in.get("time_ms", news.time_ms);
    return news;
  });
}

Result<ErrorInfo> read_error(std::string_view text) {
  const auto value = parse_strict_json(text);
  if (!value) return std::unexpected(value.error());
  const json::value* error = value->is_object() ? value->get_object().if_contains("error") : nullptr;
  static const json::value kNothing(nullptr);
  Reader reader(error == nullptr ? kNothing : *error);
  ErrorInfo info;
  reader.get("code", info.code);
  reader.get("message", info.message);
  if (!reader.is_right())
    return fail(ErrorCode::kInternal, "the server's answer is not of the kind that this version of weft reads");
  return info;
}

}  // namespace weft::service
