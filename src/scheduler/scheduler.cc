#include "scheduler/scheduler.h"

#include "base/check.h"
#include "policy/registry.h"
#include "scheduler/impl.h"
#include "scheduler/questions.h"
#include "scheduler/rungs/admit.h"
#include "scheduler/rungs/elect.h"
#include "scheduler/rungs/make_room.h"
#include "scheduler/rungs/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft {
namespace {

Result<ScoreSet> make_scores(const PolicyConfig& config) {
  ScoreSet set;
  for (const WeightedScore& wanted : config.node_scores) {
    Result<std::unique_ptr<NodeScore>> score = make_node_score(wanted.name);
    if (!score) return std::unexpected(std::move(score.error()));
    set.active.push_back({.score = score->get(), .weight = wanted.weight});
    set.owned.push_back(std::move(*score));
  }
  return set;
}

Result<PolicyParts> make_parts(const PolicyConfig& config) {
  PolicyParts parts{.config = config};
  Result<std::unique_ptr<JobOrder>> order = make_job_order(config.order, config.service);
  if (!order) return std::unexpected(std::move(order.error()));
  if (config.mode == CycleMode::kLadder && (*order)->rank_of() != JobOrder::RankOf::kShape) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the order '{}' needs a running set that is elected: it ranks jobs of one shape apart",
                            config.order));
  }
  parts.job_order = std::move(*order);
  parts.victim_cost = make_lost_work_cost();
  parts.queue_order = config.strict == StrictOrder::kYes ? make_head_order() : make_share_order();
  for (ScoreSet* set : {&parts.scores, &parts.query_scores}) {
    Result<ScoreSet> scores = make_scores(config);
    if (!scores) return std::unexpected(std::move(scores.error()));
    *set = std::move(*scores);
  }
  return parts;
}

}  // namespace

// ---- What is behind the facade

Scheduler::Impl::Impl(PolicyParts parts) : core(std::move(parts)) {
  ladder.push_back(std::make_unique<AdmitRung>(core, lifecycle));
  if (core.elects()) {
    ladder.push_back(std::make_unique<ElectRung>(core, lifecycle));
  } else {
    ladder.push_back(std::make_unique<PlaceRung>(core, lifecycle));
    const LadderRungs& rungs = core.config().rungs;
    const auto add = [&](uint8_t is_on, MakeRoomRung::Kind kind) {
      if (is_on != 0) ladder.push_back(std::make_unique<MakeRoomRung>(core, lifecycle, kind));
    };
    add(rungs.consolidate, MakeRoomRung::Kind::kConsolidate);
    add(rungs.reclaim, MakeRoomRung::Kind::kReclaim);
    add(rungs.preempt, MakeRoomRung::Kind::kPreempt);
  }
}

const Decisions& Scheduler::Impl::take(std::span<const Event> events, Ladder run) {
  core.log.begin();
  core.errors.clear();
  core.lines.recycle();
  for (const Event& event : events) intake.apply(event);
  if (run == Ladder::kRun) climb();
  intake.drop_stale_timers();
  return core.log.decisions();
}

void Scheduler::Impl::climb() {
  refresh_scores();
  if (!core.elects()) core.wake_ups.wake(core.lines, core.state);  // an election looks at everybody
  if (core.room.is_due != 0) core.room.look = kNever;
  for (size_t i = 0; i < ladder.size(); ++i) {
    ladder[i]->run();
    lifecycle.settle();
    if (i + 1 != kQuietRungs) continue;
    // What was noted before the pass has had its effect; what the rungs that disturb free is for the next one.
    core.lines.forget_retries();
    core.wake_ups.clear();
  }
  core.room.is_due = 0;
}

void Scheduler::Impl::refresh_scores() {
  if (expected.version() == scores_version || (expected.seen() != 0 && expected.seen() < 2 * scores_seen)) return;
  scores_version = expected.version();
  scores_seen = expected.seen();
  const TargetWorkload workload = expected.workload();
  core.placer.set_workload(workload);
  core.query_placer.set_workload(workload);
}

/// Measured against all that is expected now: a question, which must leave the scores as they are.
FragmentationView Scheduler::Impl::measure() {
  if (expected.version() != meter_version) meter.set_workload(expected.workload());
  meter_version = expected.version();
  return meter.measure(core.state);
}

// ---- The facade

Scheduler::Scheduler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Scheduler::~Scheduler() = default;

Result<std::unique_ptr<Scheduler>> Scheduler::create(const PolicyConfig& config) {
  Result<PolicyParts> parts = make_parts(config);
  if (!parts) return std::unexpected(std::move(parts.error()));
  return std::unique_ptr<Scheduler>(new Scheduler(std::make_unique<Impl>(std::move(*parts))));
}

const Decisions& Scheduler::apply(std::span<const Event> events) { return impl_->take(events, Ladder::kRun); }
const Decisions& Scheduler::absorb(std::span<const Event> events) { return impl_->take(events, Ladder::kNotNow); }
const std::vector<std::string>& Scheduler::last_errors() const { return impl_->core.errors; }
void Scheduler::try_everybody() { impl_->core.wake_ups.note_everything(); }

Instant Scheduler::next_timer() const {
  const Core& core = impl_->core;
  if (core.is_unfinished != 0) return core.now;
  return std::min({core.timers.is_empty() ? kNever : core.timers.first().due, core.elect.look, core.room.look,
                   core.reservations.look()});
}

Instant Scheduler::now() const { return impl_->core.now; }
uint64_t Scheduler::decision_hash() const { return impl_->core.log.hash(); }
JobId Scheduler::next_job_id() const { return make_id<JobId>(impl_->core.book.size()); }
NodeId Scheduler::next_node_id() const { return make_id<NodeId>(impl_->core.state.nodes().size()); }
size_t Scheduler::job_count() const { return impl_->core.book.size(); }
size_t Scheduler::node_count() const { return impl_->core.state.nodes().size(); }
size_t Scheduler::queue_count() const { return impl_->core.state.queues().size(); }

std::string Scheduler::text(const Verdict& verdict) const {
  return verdict_text(verdict, impl_->core.state.names(), impl_->core.now);
}
std::string Scheduler::word(const Verdict& verdict) const { return reason_word(verdict, impl_->core.state.names()); }

Result<Verdict> Scheduler::what_if(const JobSpec& job, std::vector<TaskPlacement>* where) {
  return ask_what_if(impl_->core, job, where);
}

JobView Scheduler::job(JobId id) const { return view_job(impl_->core, id); }

JobState Scheduler::job_state(JobId id) const {
  WEFT_CHECK(impl_->core.knows(id), "a job's id was given by this scheduler");
  return impl_->core.state_of(id);
}

NodeView Scheduler::node(NodeId id) const { return view_node(impl_->core, id); }
QueueView Scheduler::queue(QueueId id) const { return view_queue(impl_->core, id); }
std::vector<std::string> Scheduler::level_names() const { return impl_->core.state.names().levels; }

std::string Scheduler::domain_of(NodeId node, std::string_view level) const {
  const ClusterState& state = impl_->core.state;
  const LevelId id = state.names().find_level(level);
  if (!is_set(id) || index(node) >= state.nodes().size()) return {};
  const DomainId domain = state.nodes().domains[index(node)][index(id)];
  return is_set(domain) ? state.names().domains[index(domain)] : std::string();
}

void Scheduler::expect_tasks(const std::vector<ExpectedTask>& tasks) {
  impl_->expected.tell(tasks, impl_->core.state.names().devices);
}

bool Scheduler::has_expected_tasks() const { return !impl_->expected.is_empty(); }

FragmentationView Scheduler::fragmentation() { return impl_->measure(); }

ClusterView Scheduler::cluster() {
  ClusterView view = view_cluster(impl_->core);
  view.fragmentation = fragmentation();
  return view;
}

std::vector<std::string> Scheduler::audit() const { return audit_core(impl_->core); }

}  // namespace weft
