#include "base/check.h"
#include "state/cluster_state.h"
#include "state/spec_text.h"

#include <fmt/format.h>

namespace weft {

namespace {

Result<void> check_amounts(const std::string& where, const char* what, const ResourceVector& amounts) {
  struct Amount {
    const char* name;
    int64_t value;
  };
  for (const Amount& a :
       {Amount{"gpu", amounts.gpu_units}, Amount{"cpu", amounts.cpu_milli}, Amount{"memory", amounts.memory_bytes}}) {
    if (a.value < 0) return invalid(fmt::format("{}: {} {} is negative", where, what, a.name));
    if (a.value > kUnlimited) return invalid(fmt::format("{}: {} {} is too large a number", where, what, a.name));
  }
  return {};
}

Result<void> check_queue(const QueueSpec& spec) {
  if (spec.name.empty()) return invalid("a queue has no name");
  const std::string where = "queue " + quoted(spec.name);
  if (auto ok = check_amounts(where, "guarantee", spec.guarantee); !ok) return ok;
  if (auto ok = check_amounts(where, "limit", spec.limit); !ok) return ok;
  if (spec.weight_milli < 0) return invalid(where + ": weight is negative");
  if (spec.weight_milli > kUnlimited) return invalid(where + ": weight is too large a number");
  if (spec.min_runtime_before_reclaim.ns < 0 || spec.min_runtime_before_preempt.ns < 0) {
    return invalid(where + ": a min_runtime is negative");
  }
  // Also false for a number that is none.
  if (!(spec.past_usage_gpu_hours >= 0 && spec.past_usage_gpu_hours < 1e15)) {
    return invalid(where + ": usage is not a number of GPU hours");
  }
  if (spec.running_jobs_max < -1) return invalid(where + ": running_jobs_max is negative");
  return {};
}

}  // namespace

Result<QueueId> ClusterState::define_queue(const QueueSpec& spec) {
  WEFT_CHECK(!has_open_transaction_, "structure does not change inside a transaction");
  if (auto ok = check_queue(spec); !ok) return std::unexpected(std::move(ok.error()));
  const std::string where = "queue " + quoted(spec.name);
  if (const QueueId known = names_.queues.find(spec.name); is_set(known)) {
    QueueSpec& present = queues_.spec[index(known)];
    if (present.parent != spec.parent) {
      return fail(ErrorCode::kConflict, where + ": it is there already, under " +
                                            (present.parent.empty() ? "the root" : quoted(present.parent)) +
                                            ", and cannot move to " +
                                            (spec.parent.empty() ? "the root" : quoted(spec.parent)));
    }
    present = spec;
    return known;
  }
  QueueId parent = kNone<QueueId>;
  if (!spec.parent.empty()) {
    parent = names_.queues.find(spec.parent);
    if (!is_set(parent)) {
      return fail(ErrorCode::kNotFound, where + ": unknown parent " + quoted(spec.parent) +
                                            suggest_queue(spec.parent, names_) + " (parents come first)");
    }
    if (has_live_jobs(parent)) {
      return fail(ErrorCode::kConflict,
                  where + ": its parent " + quoted(spec.parent) + " has jobs, and a queue with children takes no jobs");
    }
    queues_.has_children[index(parent)] = 1;
  }
  const QueueId queue = names_.queues.intern(spec.name);
  WEFT_CHECK(index(queue) == queues_.size(), "queues are interned here only");
  queues_.spec.push_back(spec);
  queues_.parent.push_back(parent);
  queues_.has_children.push_back(0);
  queues_.usage.push_back({});
  queues_.firm_usage.push_back({});
  return queue;
}

bool ClusterState::has_live_jobs(QueueId queue) const {
  if (queues_.has_children[index(queue)] != 0) return false;
  for (size_t job = 0; job < jobs_.size(); ++job) {
    if (is_end_state(jobs_.state[job]) || !is_set(jobs_.shape[job])) continue;
    if (shapes_[jobs_.shape[job]].queue == queue) return true;
  }
  return false;
}

}  // namespace weft
