#include "sim/replay/journal_recorder.h"

#include "scheduler/scheduler.h"

namespace weft::sim {

Result<void> JournalRecorder::on_call(CoreCall call, std::span<const Event> events, const Decisions& decisions,
                                      Scheduler& core) {
  const store::CallKind kind = call == CoreCall::kApply ? store::CallKind::kApply : store::CallKind::kAbsorb;
  return journal_.record(kind, events, decisions, core.decision_hash());
}

Result<store::JournalHead> journal_head(const RunPlan& plan, const std::string& trace, std::string_view weft_version) {
  const Result<PolicyPlan> policy = plan_policy(plan);
  if (!policy) return std::unexpected(policy.error());
  return store::JournalHead{.weft_version = std::string(weft_version),
                            .command = "simulate",
                            .facts = {{"trace", trace},
                                      {"cluster", plan.cluster.name},
                                      {"policy", plan.policy},
                                      {"placement", policy->placement},
                                      {"rules", std::string(rules_name(plan.rules))},
                                      {"seed", std::to_string(plan.seed)}},
                            .policy = policy->config};
}

}  // namespace weft::sim
