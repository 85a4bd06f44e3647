// A journal holds what a core was told, and not what it was asked: whatever is asked, and however often, the decisions
// are the same.
#include "policy/registry.h"
#include "scheduler/scheduler.h"
#include "scheduler/test_storm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

/// Asks everything there is to ask, also about jobs that nobody submitted.
void ask_everything(Scheduler& core, const Storm& storm, Rng& rng) {
  std::vector<TaskPlacement> where;
  for (uint64_t i = rng.below(3); i > 0 && !storm.jobs().empty(); --i) {
    JobSpec question = storm.jobs()[static_cast<size_t>(rng.below(storm.jobs().size()))];
    question.after.clear();
    question.user = fmt::format("asker{}", rng.below(1000));
    question.priority = static_cast<int32_t>(rng.below(200));
    question.roles[0].count += static_cast<int32_t>(rng.below(3));
    question.roles[0].labels.emplace_back("zone", fmt::format("z{}", rng.below(5)));
    if (rng.below(2) == 0) question.roles[0].labels.clear();
    static_cast<void>(core.what_if(question, &where));
  }
  for (size_t j = 0; j < core.job_count(); ++j) static_cast<void>(core.job(make_id<JobId>(j)));
  for (size_t n = 0; n < core.node_count(); ++n) static_cast<void>(core.node(make_id<NodeId>(n)));
  for (size_t q = 0; q < core.queue_count(); ++q) static_cast<void>(core.queue(make_id<QueueId>(q)));
  static_cast<void>(core.cluster());
}

void expect_same_when_asked(const PolicyConfig& config, uint64_t seed) {
  Storm storm({.seed = seed, .nodes_max = 8});
  Rng rng(seed);
  const auto silent = std::move(Scheduler::create(config)).value();
  const auto asked = std::move(Scheduler::create(config)).value();
  silent->apply(storm.structure());
  asked->apply(storm.structure());
  for (int step = 0; step < 80; ++step) {
    const std::vector<Event> events = storm.next();
    ask_everything(*asked, storm, rng);
    asked->apply(events);
    const Decisions& made = silent->apply(events);
    ASSERT_EQ(asked->decision_hash(), silent->decision_hash())
        << config.order << ", " << config.node_scores[0].name << ", seed " << seed << ", step " << step;
    ASSERT_EQ(asked->next_timer(), silent->next_timer());
    storm.see(made);
  }
  ASSERT_THAT(asked->audit(), testing::IsEmpty());
  ASSERT_THAT(silent->audit(), testing::IsEmpty());
}

TEST(Questions, OfAnyKindChangeNoDecisionWhateverTheScore) {
  for (const std::string_view score : node_score_names()) {
    for (uint64_t seed = 1; seed <= 25; ++seed) {
      PolicyConfig config;
      config.node_scores = {{.name = std::string(score)}};
      config.strict = seed % 3 == 0 ? StrictOrder::kYes : StrictOrder::kNo;
      config.random_seed = seed;
      expect_same_when_asked(config, seed);
    }
  }
}

TEST(Questions, OfAnyKindChangeNoElection) {
  for (const std::string_view order : job_order_names()) {
    for (uint64_t seed = 1; seed <= 25; ++seed) {
      PolicyConfig config;
      config.mode = CycleMode::kElect;
      config.order = order;
      config.elect_places = seed % 2 == 0 ? ElectPlaces::kKept : ElectPlaces::kAfresh;
      config.service.limits = {seconds(5), seconds(20)};
      expect_same_when_asked(config, seed);
    }
  }
}

}  // namespace
}  // namespace weft
