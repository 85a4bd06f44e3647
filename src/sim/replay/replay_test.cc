#include "sim/replay/replay.h"

#include "base/rng.h"
#include "base/test_folder.h"
#include "sim/byte_source.h"
#include "sim/replay/journal_recorder.h"
#include "sim/replay/moment.h"
#include "sim/trace/trace_writer.h"
#include "store/check_sum.h"
#include "store/codec.h"
#include "store/database.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

namespace weft::sim {
namespace {

using ::testing::HasSubstr;
using Kind = ReplayStop::Kind;

/// Jobs that crowd a cluster of 4 x 8 GPUs for a while, in the CSV of Tiresias, which has its rules and Muri's.
std::string crowded_trace(uint64_t seed, size_t count) {
  Rng rng(seed);
  std::string text = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n";
  int64_t now = 0;
  for (size_t i = 0; i < count; ++i) {
    now += rng.between(0, 200);
    const int64_t gpus = int64_t{1} << rng.below(5);
    const int64_t run_time = rng.between(1, 100) * rng.between(1, 100);
    text += fmt::format("j{},{},{},1,resnet18,{},0\n", i, gpus, now, run_time);
  }
  return text;
}

/// What the core looked like after a call of a run.
struct Seen {
  Instant at;
  uint64_t hash = 0;
  uint64_t decisions = 0;
  std::vector<JobState> states;
  std::vector<DeviceMask> free;
  bool operator==(const Seen&) const = default;
};
Seen see(Scheduler& core) {
  Seen seen{.at = core.now(), .hash = core.decision_hash(), .decisions = core.cluster().decision_count};
  for (size_t j = 0; j < core.job_count(); ++j) seen.states.push_back(core.job_state(make_id<JobId>(j)));
  for (size_t n = 0; n < core.node_count(); ++n) seen.free.push_back(core.node(make_id<NodeId>(n)).free_devices);
  return seen;
}

class Watcher final : public RunObserver {
 public:
  Result<void> on_call(CoreCall /*call*/, std::span<const Event> /*events*/, const Decisions& /*decisions*/,
                       Scheduler& core) override {
    seen.push_back(see(core));
    return {};
  }
  std::vector<Seen> seen;
};

class ReplayTest : public ::testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/run.journal"; }

  /// Plays a trace with a journal; its outcome.
  RunOutcome record(const RunPlan& plan, const std::string& trace, Watcher* watcher = nullptr) {
    const auto head = journal_head(plan, "trace.csv", "test");
    EXPECT_TRUE(head) << head.error().message;
    const auto writer = store::JournalWriter::create(path(), store::JournalWriter::Keep::kWhole, *head);
    EXPECT_TRUE(writer) << writer.error().message;
    JournalRecorder recorder(**writer);
    RunListeners listeners{.progress = {}, .observers = {&recorder}};
    if (watcher != nullptr) listeners.observers.push_back(watcher);
    const auto reader = open_trace(bytes_of(trace, "trace.csv"), {});
    EXPECT_TRUE(reader) << reader.error().message;
    auto outcome = simulate(**reader, plan, listeners);
    EXPECT_TRUE(outcome) << outcome.error().message;
    EXPECT_TRUE((*writer)->finish());
    return std::move(*outcome);
  }

  std::unique_ptr<Replay> open() {
    auto replay = Replay::open(path());
    EXPECT_TRUE(replay) << replay.error().message;
    return replay ? std::move(*replay) : nullptr;
  }

  /// Rewrites calls of the journal as `change` says, with check sums that fit: what a tidy forger would do.
  void forge(const std::function<void(store::RecordedCall&)>& change) {
    std::vector<store::RecordedCall> calls;
    {
      const auto reader = store::JournalReader::open(path());
      ASSERT_TRUE(reader);
      store::RecordedCall call;
      while (*(*reader)->next(call) == store::JournalReader::Step::kCall) calls.push_back(call);
    }
    auto database = store::Database::open(path(), store::Database::Access::kWrite);
    ASSERT_TRUE(database);
    auto update = database->prepare("UPDATE calls SET told = ?2, hash = ?3, check_sum = ?4 WHERE number = ?1");
    ASSERT_TRUE(update);
    for (store::RecordedCall& call : calls) {
      change(call);
      std::string told, decided;
      store::encode_events(call.events, call.at, told);
      if (!call.decisions.empty()) store::encode_decisions(call.decisions, call.at, decided);
      update->reset();
      update->bind(1, static_cast<int64_t>(call.number));
      update->bind_blob(2, told);
      update->bind(3, static_cast<int64_t>(call.decision_hash));
      update->bind(4, store::check_sum_of({.number = call.number,
                                           .at = call.at.ns,
                                           .kind = static_cast<int64_t>(call.kind),
                                           .told = told,
                                           .decided = decided,
                                           .decisions = call.decision_count,
                                           .hash = call.decision_hash}));
      ASSERT_EQ(update->step(), store::Statement::Step::kDone);
    }
  }

  TestFolder folder_;
};

RunPlan plan_of(const std::string& policy, const std::string& placement = "", Rules rules = Rules::kNative) {
  return {.cluster = *read_cluster("4x8"), .policy = policy, .placement = placement, .rules = rules};
}

TEST_F(ReplayTest, OfARunUnderAnyPolicyHasTheSameDecisionHash) {
  const std::string trace = crowded_trace(7, 150);
  for (const std::string_view policy : policy_names()) {
    for (const char* const placement : {"count", "pack", "fgd", "random"}) {
      for (const Rules rules : {Rules::kNative, Rules::kTiresias, Rules::kMuri}) {
        SCOPED_TRACE(fmt::format("{} {} {}", policy, placement, rules_name(rules)));
        const RunOutcome outcome = record(plan_of(std::string(policy), placement, rules), trace);
        const auto replay = open();
        ASSERT_TRUE(play_until(*replay, {}));
        ASSERT_FALSE(replay->difference()) << replay->difference()->recorded << " " << replay->difference()->found;
        EXPECT_EQ(replay->totals().decision_hash, outcome.decision_hash);
        EXPECT_EQ(replay->totals().decisions, outcome.decisions);
        EXPECT_EQ(replay->totals().events, outcome.events);
        EXPECT_EQ(replay->totals(), replay->journal().end());
      }
    }
  }
}

TEST_F(ReplayTest, PassesThroughEveryStateOfTheRun) {
  Watcher watcher;
  record(plan_of("srtf", "pack"), crowded_trace(3, 80), &watcher);
  const auto replay = open();
  for (const Seen& seen : watcher.seen) {
    ASSERT_NE(replay->upcoming(), nullptr);
    ASSERT_TRUE(replay->play());
    ASSERT_EQ(see(replay->core()), seen);
  }
  EXPECT_EQ(replay->upcoming(), nullptr);
}

TEST_F(ReplayTest, StopsAfterTheLastCallOfAnInstantAndAfterADecision) {
  Watcher watcher;
  record(plan_of("2d-las", "count"), crowded_trace(5, 60), &watcher);
  for (size_t i = 1; i < watcher.seen.size(); i += 17) {
    const Seen& seen = watcher.seen[i];
    const auto at = open();
    ASSERT_TRUE(play_until(*at, {.kind = Kind::kInstant, .at = seen.at}));
    const auto last = std::ranges::find_if(watcher.seen, [&](const Seen& other) { return other.at > seen.at; });
    EXPECT_EQ(see(at->core()), *std::prev(last));
    if (seen.decisions == 0) continue;
    const auto decision = open();
    ASSERT_TRUE(play_until(*decision, {.kind = Kind::kDecision, .at = {}, .decision = seen.decisions}));
    const auto first =
        std::ranges::find_if(watcher.seen, [&](const Seen& other) { return other.decisions >= seen.decisions; });
    EXPECT_EQ(see(decision->core()), *first);
  }
  const auto replay = open();
  const auto beyond = play_until(*replay, {.kind = Kind::kDecision, .at = {}, .decision = 1'000'000});
  ASSERT_FALSE(beyond);
  EXPECT_THAT(beyond.error().message, HasSubstr("there is no decision 1,000,000: the last one is "));
}

TEST_F(ReplayTest, ReadsTheNextDecisionsWithoutPlayingThem) {
  record(plan_of("srsf", "pack"), crowded_trace(5, 60));
  std::vector<std::string> all;
  const auto whole = open();
  whole->set_on_decision([&](const NumberedDecision& numbered) { all.push_back(whole->text(numbered.decision)); });
  ASSERT_TRUE(play_until(*whole, {}));
  const auto replay = open();
  ASSERT_TRUE(play_until(*replay, {.kind = Kind::kDecision, .at = {}, .decision = 50}));
  const uint64_t made = replay->totals().decisions;
  const auto taken = take_moment(*replay, {.kind = Kind::kDecision, .at = {}, .decision = 50}, {.decisions = 7});
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->before.size(), 7U);
  ASSERT_EQ(taken->after.size(), 7U);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(taken->before[i].number, made - 6 + i);
    EXPECT_EQ(replay->text(taken->before[i].decision), all[made - 7 + i]);
    EXPECT_EQ(taken->after[i].number, made + 1 + i);
    EXPECT_EQ(replay->text(taken->after[i].decision), all[made + i]);
  }
}

TEST_F(ReplayTest, AMomentTellsWhoRunsWhereAndWhyOthersWait) {
  const std::string trace =
      "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
      "big,32,0,1,vgg16,1000,0\nlate,16,100,1,vgg16,50,0\nlast,8,200,1,vgg16,50,0\n";
  record(plan_of("fjf", "pack"), trace);
  const auto replay = open();
  const ReplayStop stop{.kind = Kind::kInstant, .at = Instant{} + seconds(150)};
  ASSERT_TRUE(play_until(*replay, stop));
  const auto moment = take_moment(*replay, stop, {});
  ASSERT_TRUE(moment);
  EXPECT_EQ(moment->at, Instant{} + seconds(150));
  EXPECT_EQ(moment->last_call, Instant{} + seconds(100));
  EXPECT_EQ(moment->cluster.gpus_free, 0);
  ASSERT_EQ(moment->running.size(), 1U);
  EXPECT_EQ(moment->running[0].name, "big");
  EXPECT_EQ(gpus_text(moment->running[0].request), "32");
  EXPECT_EQ(places_text(moment->running[0]), "n0:0-7 n1:0-7 n2:0-7 n3:0-7");
  ASSERT_EQ(moment->waiting.size(), 1U);
  EXPECT_EQ(moment->waiting[0].name, "late");
  EXPECT_THAT(moment->waiting[0].why, HasSubstr("0 of 16"));
  const std::string json = replay_json({.path = "run.journal", .replay = *replay, .moment = &*moment});
  EXPECT_THAT(json, HasSubstr("\"jobs_waiting\": 1"));
  EXPECT_THAT(json, HasSubstr("\"same\": true"));
  EXPECT_THAT(json, HasSubstr("0 of 16"));
  EXPECT_THAT(json, HasSubstr("\"text\": \"end job 0 (big): done\""));
}

TEST_F(ReplayTest, TellsTheFirstDecisionThatDiffers) {
  record(plan_of("srsf", "count"), crowded_trace(5, 60));
  uint64_t changed = 0;
  forge([&](store::RecordedCall& call) {
    for (Event& event : call.events) {
      auto* const submitted = std::get_if<JobSubmitted>(&event.body);
      if (submitted == nullptr || submitted->job.name != "j20") continue;
      submitted->job.roles[0].count = 1 + submitted->job.roles[0].count % 2;
      changed = call.number;
    }
  });
  ASSERT_GT(changed, 0U);
  const auto replay = open();
  ASSERT_TRUE(play_until(*replay, {}));
  ASSERT_TRUE(replay->difference());
  EXPECT_GE(replay->difference()->call, changed);
  EXPECT_THAT(replay->difference()->recorded, HasSubstr("job 20 (j20)"));
  EXPECT_GT(replay->difference()->decision, replay->totals().decisions);
  EXPECT_THAT(replay_json({.path = "run.journal", .replay = *replay}), HasSubstr("\"same\": false"));
}

TEST_F(ReplayTest, SeesAHashThatIsNotTheRuns) {
  record(plan_of("srsf", "count"), crowded_trace(5, 60));
  forge([&](store::RecordedCall& call) {
    if (call.number == 33) call.decision_hash ^= 1;
  });
  const auto replay = open();
  ASSERT_TRUE(play_until(*replay, {}));
  ASSERT_TRUE(replay->difference());
  EXPECT_EQ(replay->difference()->call, 33U);
  EXPECT_EQ(replay->totals().calls, 32U);
  EXPECT_THAT(replay->difference()->found, HasSubstr("with other amounts"));
}

TEST_F(ReplayTest, PlaysEveryKindOfCall) {
  PolicyConfig policy;
  policy.node_scores = {{.name = "fgd"}};
  const auto core = std::move(Scheduler::create(policy)).value();
  const auto writer =
      store::JournalWriter::create(path(), store::JournalWriter::Keep::kLive,
                                   {.weft_version = "test", .command = "serve", .facts = {}, .policy = policy});
  ASSERT_TRUE(writer);
  const auto tell = [&](store::CallKind kind, const std::vector<Event>& events) {
    const Decisions& decisions = kind == store::CallKind::kApply ? core->apply(events) : core->absorb(events);
    ASSERT_TRUE((*writer)->record(kind, events, decisions, core->decision_hash()));
  };
  std::vector<Event> events{{{}, QueueDefined{{.name = "default", .guarantee = kUnlimitedResources}}}};
  for (int i = 0; i < 6; ++i) {
    NodeSpec node{.name = fmt::format("n{}", i), .share = ShareMode::kMps, .devices = {DeviceSpec{}, DeviceSpec{}}};
    events.push_back({{}, NodeAdded{std::move(node)}});
  }
  tell(store::CallKind::kApply, events);
  const std::vector<ExpectedTask> tasks{{.cpu_milli = 1000, .gpu_count = 1, .gpu_milli = 700, .models = {}},
                                        {.cpu_milli = 1000, .gpu_count = 2, .gpu_milli = 1000, .models = {}}};
  core->expect_tasks(tasks);
  ASSERT_TRUE((*writer)->record_tasks(tasks));
  for (int32_t i = 0; i < 30; ++i) {
    JobSpec job{.name = fmt::format("job{}", i), .roles = {RoleSpec{}}};
    job.roles[0].devices = {.kind = DeviceNeedKind::kMilli, .milli = 100 + i * 37 % 600};
    tell(i % 3 == 0 ? store::CallKind::kAbsorb : store::CallKind::kApply,
         {{Instant{} + seconds(i), JobSubmitted{std::move(job)}}});
    if (i % 7 != 0) continue;
    core->try_everybody();
    ASSERT_TRUE((*writer)->record_try_everybody());
  }
  tell(store::CallKind::kApply, {{Instant{} + seconds(100), Tick{}}});
  const auto replay = open();  // the run goes on
  ASSERT_TRUE(play_until(*replay, {}));
  ASSERT_FALSE(replay->difference()) << replay->difference()->recorded;
  EXPECT_EQ(replay->totals().decision_hash, core->decision_hash());
  EXPECT_EQ(see(replay->core()), see(*core));
  EXPECT_FALSE(replay->journal().end());
}

TEST_F(ReplayTest, FindsJobsByNameAndByNumber) {
  const std::string trace =
      "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
      "a,1,0,1,vgg16,10,0\n2,1,1,1,vgg16,50,0\nc,1,2,1,vgg16,50,0\n";
  record(plan_of("fifo"), trace);
  EXPECT_EQ(find_job(path(), "c").value(), make_id<JobId>(2));
  EXPECT_EQ(find_job(path(), "2").value(), make_id<JobId>(1)) << "a name goes before a number";
  EXPECT_EQ(find_job(path(), "0").value(), make_id<JobId>(0));
  EXPECT_THAT(find_job(path(), "3").error().message,
              HasSubstr("no job is called '3', nor has that number; there are 3"));
  const auto replay = open();
  ASSERT_TRUE(play_until(*replay, {}));
  EXPECT_EQ(replay->job_text(make_id<JobId>(1)), "job 1 (2)");
  EXPECT_EQ(replay->core().job(make_id<JobId>(1)).name, "2");
}

TEST_F(ReplayTest, NamesDevicesAsRanges) {
  EXPECT_EQ(device_ranges(0), "");
  EXPECT_EQ(device_ranges(0b1011'0001), "0,4-5,7");
  EXPECT_EQ(device_ranges(~DeviceMask{0}), "0-63");
}

}  // namespace
}  // namespace weft::sim
