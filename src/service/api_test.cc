#include "service/api.h"

#include "base/few_files_testing.h"
#include "service/backend_testing.h"
#include "service/info.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uid_t kOwner = 4242;

class ApiTest : public testing::Test {
 protected:
  Reply ask(Method method, std::string target, std::string body = {}, uid_t peer = kOwner) {
    return api_.handle({.method = method, .target = std::move(target), .body = std::move(body), .peer = peer});
  }
  Reply get(std::string target) { return ask(Method::kGet, std::move(target)); }
  Reply post(std::string body) { return ask(Method::kPost, "/v1/jobs", std::move(body)); }

  /// Submits a job of `gpus` GPUs that is expected to be taken.
  JobInfo submit(int gpus, const std::string& more = {}) {
    const Reply reply = post(R"({"command":["train"],"directory":"/","gpus":)" + std::to_string(gpus) + more + "}");
    EXPECT_EQ(reply.status, 201U) << reply.body;
    const auto job = read_job(reply.body);
    EXPECT_TRUE(job) << reply.body;
    return job.value_or(JobInfo{});
  }
  JobInfo job(int64_t id) { return read_job(get("/v1/jobs/" + std::to_string(id)).body).value_or(JobInfo{}); }
  static std::string error(const Reply& reply) {
    const auto info = read_error(reply.body);
    return info ? info->message : "no error but " + reply.body;
  }
  std::vector<int64_t> listed(const std::string& target) {
    std::vector<int64_t> ids;
    for (const JobInfo& info : read_jobs(get(target).body).value_or(std::vector<JobInfo>{})) ids.push_back(info.id);
    return ids;
  }

  TestBackend backend_;
  Api api_{backend_, kOwner, defaults_for(8000, 16 * kGiB, 4)};
};

TEST_F(ApiTest, AJobIsTakenPlacedAndShown) {
  const JobInfo first = submit(2, R"(,"name":"first")");
  EXPECT_EQ(first.id, 0);
  EXPECT_EQ(first.state, "running");
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.user, "4242");
  EXPECT_EQ(first.cpu_milli, 2000) << "half of 8 CPUs, shared by 4 GPUs, for each of 2";
  EXPECT_EQ(first.memory_bytes, 4 * kGiB);
  ASSERT_EQ(first.tasks.size(), 1U);
  EXPECT_THAT(first.tasks[0].gpus, ElementsAre(0, 1));
  EXPECT_THAT(first.tasks[0].gpu_uuids, ElementsAre("GPU-0", "GPU-1"));
  EXPECT_EQ(first.tasks[0].node, "box");
  EXPECT_EQ(job(0), first);
}

TEST_F(ApiTest, AJobThatWaitsSaysWhy) {
  submit(3);
  const JobInfo second = submit(2);
  EXPECT_EQ(second.state, "pending");
  EXPECT_EQ(second.reason, "GPUs");
  EXPECT_THAT(second.why, HasSubstr("1 of 2"));
  EXPECT_THAT(get("/v1/jobs/1/why").body, HasSubstr(R"("reason":"GPUs")"));
}

TEST_F(ApiTest, AJobTellsWhatItAskedFor) {
  EXPECT_EQ(submit(1).time_limit_ms, std::nullopt);
  EXPECT_THAT(get("/v1/jobs/0").body, HasSubstr(R"("time_limit_ms":null)"));
  const JobInfo limited = submit(1, R"(,"time":"1h30m","gpu_models":["generic"])");
  EXPECT_EQ(limited.time_limit_ms, 5'400'000);
  EXPECT_THAT(limited.gpu_models, ElementsAre("generic"));
}

TEST_F(ApiTest, AMomentThatHasNotComeIsNull) {
  submit(4);
  submit(1);
  EXPECT_THAT(get("/v1/jobs/0").body, HasSubstr(R"("ended_ms":null)"));
  EXPECT_THAT(get("/v1/jobs/1").body, HasSubstr(R"("started_ms":null,"ended_ms":null)"));
  EXPECT_EQ(job(1).started_ms, 0);
}

TEST_F(ApiTest, AJobTellsThatItsTasksShareAFile) {
  EXPECT_FALSE(submit(1).is_output_shared) << "with one task there is nothing to share";
  EXPECT_TRUE(submit(1, R"(,"tasks":2)").is_output_shared);
}

TEST_F(ApiTest, AGpuModelIsTakenAsPeopleWriteIt) {
  EXPECT_EQ(submit(1, R"(,"gpu_models":["GENERIC"])").state, "running");
  EXPECT_THAT(error(post(R"({"command":["x"],"directory":"/","gpus":1,"gpu_models":["Z9000"]})")),
              HasSubstr("unknown model 'Z9000'; this cluster has generic"));
}

TEST_F(ApiTest, AModelThatIsNotHereIsCalledAsItWasWritten) {
  const Reply reply = post(R"({"command":["x"],"directory":"/","gpus":1,"gpu_models":["h100"]})");
  EXPECT_EQ(reply.status, 422U);
  EXPECT_THAT(error(reply), HasSubstr("no GPU here is 'h100'; this machine has generic"));
}

TEST_F(ApiTest, OfAGangTheTasksThatWereStoppedForAnotherHaveNotFailed) {
  submit(1, R"(,"tasks":3)");
  backend_.end(JobId{0}, 1, 3);
  const JobInfo ended = job(0);
  EXPECT_EQ(ended.state, "failed");
  EXPECT_EQ(ended.exit_status, 3);
  EXPECT_EQ(ended.tasks.at(0).state, "cancelled");
  EXPECT_EQ(ended.tasks.at(1).state, "failed");
  EXPECT_EQ(ended.tasks.at(2).state, "cancelled");
}

TEST_F(ApiTest, AJobThatCanNeverRunIsRefusedWithTheReason) {
  const Reply reply = post(R"({"command":["train"],"directory":"/","gpus":5})");
  EXPECT_EQ(reply.status, 422U);
  EXPECT_THAT(error(reply), HasSubstr("4 of 5"));
  EXPECT_EQ(backend_.scheduler().job_count(), 0U);
}

TEST_F(ApiTest, AnUnknownQueueOrModelIsRefused) {
  EXPECT_EQ(post(R"({"command":["x"],"directory":"/","queue":"nowhere"})").status, 400U);
  EXPECT_EQ(post(R"({"command":["x"],"directory":"/","gpus":1,"gpu_models":["Z9000"]})").status, 400U);
  EXPECT_EQ(backend_.scheduler().job_count(), 0U);
}

TEST_F(ApiTest, NobodyButTheOwnerAndRootIsServed) {
  EXPECT_EQ(ask(Method::kGet, "/v1/jobs", {}, kOwner).status, 200U);
  EXPECT_EQ(ask(Method::kGet, "/v1/jobs", {}, 0).status, 200U);
  const Reply reply = ask(Method::kGet, "/v1/jobs", {}, 4243);
  EXPECT_EQ(reply.status, 403U);
  EXPECT_THAT(error(reply), HasSubstr("belongs to user 4242; user 4243 may not use it"));
  EXPECT_EQ(ask(Method::kPost, "/v1/jobs", R"({"command":["x"],"directory":"/"})", 4243).status, 403U);
  EXPECT_EQ(backend_.scheduler().job_count(), 0U);
}

TEST_F(ApiTest, TheLatestJobIsTheCallersOwn) {
  EXPECT_EQ(get("/v1/jobs/@").status, 404U);
  submit(1);
  ask(Method::kPost, "/v1/jobs", R"({"command":["x"],"directory":"/"})", 0);
  EXPECT_EQ(read_job(get("/v1/jobs/@").body)->id, 0);
  EXPECT_EQ(read_job(ask(Method::kGet, "/v1/jobs/@", {}, 0).body)->id, 1);
}

TEST_F(ApiTest, AUserHasHisNameAlsoWithoutFileDescriptors) {
  if (kChecksNeedFiles) GTEST_SKIP() << "not run: the sanitizer needs file descriptors itself";
  constexpr uid_t kUser = 1;  // root is a name that some systems know without looking
  const std::string name = user_name(kUser);
  if (name == "1") GTEST_SKIP() << "this system has no user 1";
  Api api(backend_, kUser, {});
  const FewFiles shortage(0);
  const Reply reply = api.handle(
      {.method = Method::kPost, .target = "/v1/jobs", .body = R"({"command":["x"],"directory":"/"})", .peer = kUser});
  EXPECT_EQ(read_job(reply.body)->user, name);
  EXPECT_EQ(api.handle({.method = Method::kGet, .target = "/v1/jobs/@", .body = {}, .peer = kUser}).status, 200U);
}

TEST_F(ApiTest, TheListHasTheLiveJobsOrAll) {
  submit(1);
  submit(1);
  submit(1);
  backend_.end(JobId{1}, 0, 0);
  EXPECT_THAT(listed("/v1/jobs"), ElementsAre(0, 2));
  EXPECT_THAT(listed("/v1/jobs?all"), ElementsAre(0, 1, 2));
  EXPECT_THAT(listed("/v1/jobs?all=0"), ElementsAre(0, 2));
  EXPECT_THAT(listed("/v1/jobs?all=1&limit=2"), ElementsAre(1, 2));
  EXPECT_EQ(get("/v1/jobs?limit=x").status, 400U);
  EXPECT_EQ(get("/v1/jobs?sort=name").status, 400U);
}

TEST_F(ApiTest, AnEndedJobKeepsItsGpusAndItsStatus) {
  submit(2);
  backend_.end(JobId{0}, 0, 7);
  const JobInfo ended = job(0);
  EXPECT_EQ(ended.state, "failed");
  EXPECT_EQ(ended.exit_status, 7);
  EXPECT_THAT(ended.tasks.at(0).gpus, ElementsAre(0, 1));
  EXPECT_EQ(ended.tasks.at(0).state, "failed");
  EXPECT_GT(ended.ended_ms, ended.started_ms - 1);
}

TEST_F(ApiTest, CancelGoesToTheBackendOnce) {
  submit(1);
  EXPECT_EQ(ask(Method::kDelete, "/v1/jobs/0").status, 200U);
  EXPECT_EQ(job(0).state, "cancelled");
  const Reply again = ask(Method::kDelete, "/v1/jobs/0");
  EXPECT_EQ(again.status, 409U);
  EXPECT_THAT(error(again), HasSubstr("has ended already (cancelled)"));
  EXPECT_EQ(backend_.cancelled, (std::vector<std::pair<JobId, CancelMode>>{{JobId{0}, CancelMode::kGraceful}}));
  submit(1);
  ask(Method::kDelete, "/v1/jobs/1?kill=1");
  EXPECT_EQ(backend_.cancelled.back(), (std::pair{JobId{1}, CancelMode::kKill}));
}

TEST_F(ApiTest, NodesSayWhoHasWhat) {
  submit(3);
  const auto nodes = read_nodes(get("/v1/nodes").body);
  ASSERT_TRUE(nodes);
  ASSERT_EQ(nodes->size(), 1U);
  EXPECT_EQ(nodes->at(0).free_gpu_count(), 1);
  EXPECT_THAT(nodes->at(0).gpus.at(2).jobs, ElementsAre(0));
  EXPECT_THAT(nodes->at(0).gpus.at(3).jobs, IsEmpty());
  EXPECT_EQ(nodes->at(0).gpus.at(3).uuid, "GPU-3");
}

TEST_F(ApiTest, TheClusterHasNoFragmentationBeforeAJobWithGpusWasSeen) {
  EXPECT_THAT(get("/v1/cluster").body, HasSubstr(R"("fragment_milli":null,"fragment_ratio":null)"));
  const Result<ClusterInfo> none = read_cluster(get("/v1/cluster").body);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->fragment_ratio, std::nullopt);
  submit(1);
  EXPECT_THAT(get("/v1/cluster").body, HasSubstr(R"("fragment_ratio":0)"));
}

TEST_F(ApiTest, TheClusterHasTotalsFragmentationAndTheHash) {
  submit(3);
  const auto cluster = read_cluster(get("/v1/cluster").body);
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->gpus, 4);
  EXPECT_EQ(cluster->gpus_free, 1);
  EXPECT_EQ(cluster->jobs_running, 1);
  EXPECT_EQ(cluster->gpu_milli_free, 1000);
  EXPECT_THAT(get("/v1/cluster").body, HasSubstr(R"("fragment_milli":1000,"fragment_ratio":1,)")) << "and not 1E3";
  EXPECT_DOUBLE_EQ(cluster->fragment_milli.value_or(0), 1000)
      << "a job of three GPUs, the only kind so far, cannot use one";
  EXPECT_EQ(cluster->decision_hash, fmt::format("{:016x}", backend_.scheduler().decision_hash()));
}

TEST_F(ApiTest, QueuesCountTheirJobs) {
  submit(4);
  submit(1);
  EXPECT_THAT(get("/v1/queues").body, HasSubstr(R"("pending":1,"running":1,"gpu_milli":4000)"));
}

TEST_F(ApiTest, PathsThatAreNoneAreNotFound) {
  for (const char* target : {"/", "", "/v2/jobs", "/v1", "/v1/", "/v1/job", "/v1/jobs/", "/v1/jobs/0/nothing",
                             "/v1/nodes/0", "/v1/jobs/7", "*"}) {
    const unsigned status = get(target).status;
    EXPECT_TRUE(status == 404 || status == 400) << target << ": " << status;
  }
  submit(1);
  EXPECT_EQ(get("/v1/jobs/0/output/x").status, 404U);
  EXPECT_EQ(get("/v1/jobs/-1").status, 400U);
  EXPECT_EQ(get("/v1/jobs/1e0").status, 400U);
  EXPECT_EQ(get("/v1/jobs/99999999999999999999").status, 400U);
  EXPECT_EQ(get("/v1/jobs/\xff").status, 400U);
}

TEST_F(ApiTest, MethodsThatAreNotTakenAreSaid) {
  EXPECT_EQ(ask(Method::kOther, "/v1/jobs").status, 405U);
  EXPECT_EQ(ask(Method::kPost, "/v1/nodes").status, 405U);
  EXPECT_EQ(ask(Method::kDelete, "/v1/jobs").status, 405U);
  submit(1);
  EXPECT_EQ(ask(Method::kPost, "/v1/jobs/0").status, 405U);
  EXPECT_EQ(ask(Method::kDelete, "/v1/jobs/0/output").status, 405U);
}

TEST_F(ApiTest, NothingNewIsTakenWhileTheServerEnds) {
  backend_.stops = true;
  EXPECT_EQ(post(R"({"command":["x"],"directory":"/"})").status, 503U);
}

TEST_F(ApiTest, TheFeedTellsEachStateOnce) {
  submit(1);
  api_.job_changed(JobId{0});
  api_.job_changed(JobId{0});
  backend_.end(JobId{0}, 0, 0);
  api_.job_changed(JobId{0});
  ASSERT_EQ(api_.feed().last(), 2U);
  EXPECT_EQ(read_news(api_.feed().message(1))->state, "running");
  EXPECT_EQ(read_news(api_.feed().message(2))->state, "done");
}

TEST_F(ApiTest, ParametersAreKnownGivenOnceAndFlagsAreZeroOrOne) {
  submit(1);
  const auto problem = [this](Method method, const std::string& target) {
    const Reply reply = ask(method, target, R"({"command":["x"],"directory":"/"})");
    return reply.status == 400 ? error(reply) : fmt::format("status {}", reply.status);
  };
  for (const char* path :
       {"/v1/nodes", "/v1/queues", "/v1/cluster", "/v1/jobs/0", "/v1/jobs/0/why", "/v1/jobs/0/attach"}) {
    EXPECT_EQ(problem(Method::kGet, std::string(path) + "?all=1"), "unknown parameter 'all'; this path takes none");
    EXPECT_EQ(problem(Method::kGet, std::string(path) + "?"), "status 200") << path;
  }
  EXPECT_EQ(problem(Method::kDelete, "/v1/jobs/0?Kill=1"), "unknown parameter 'Kill'; expected 'kill'");
  EXPECT_EQ(problem(Method::kGet, "/v1/jobs/0?kill=1"), "unknown parameter 'kill'; this path takes none");
  EXPECT_EQ(problem(Method::kGet, "/v1/events?last=1"), "unknown parameter 'last'; expected 'after'");
  EXPECT_EQ(problem(Method::kGet, "/v1/jobs?&all=1"), "unknown parameter ''; expected 'all', 'limit'");
  EXPECT_EQ(problem(Method::kGet, "/v1/jobs/0/output?out"),
            "unknown parameter 'out'; expected 'stream', 'task', 'follow'");
  for (const char* target : {"/v1/jobs?all=1&all=0", "/v1/jobs?limit=1&limit=1", "/v1/events?after=1&after=2",
                             "/v1/jobs/0/output?follow&follow", "/v1/jobs/0/output?task=0&stream=out&task=0"})
    EXPECT_THAT(problem(Method::kGet, target), HasSubstr("is given twice")) << target;
  for (const char* value : {"false", "no", "2", "", "01", "yes"}) {
    const std::string expected = fmt::format("expected 0 or 1, not '{}'", value);
    EXPECT_EQ(problem(Method::kGet, fmt::format("/v1/jobs?all={}", value)), "all: " + expected);
    EXPECT_EQ(problem(Method::kPost, fmt::format("/v1/jobs?attach={}", value)), "attach: " + expected);
    EXPECT_EQ(problem(Method::kDelete, fmt::format("/v1/jobs/0?kill={}", value)), "kill: " + expected);
    EXPECT_EQ(problem(Method::kGet, fmt::format("/v1/jobs/0/output?follow={}", value)), "follow: " + expected);
  }
  for (const char* target :
       {"/v1/jobs?limit", "/v1/jobs?limit=", "/v1/events?after", "/v1/events?after=", "/v1/jobs/0/output?task",
        "/v1/jobs/0/output?task=", "/v1/jobs/0/output?stream", "/v1/jobs/0/output?stream="})
    EXPECT_EQ(get(target).status, 400U) << target;
  EXPECT_THAT(backend_.cancelled, IsEmpty());
  EXPECT_EQ(backend_.scheduler().job_count(), 1U);
  EXPECT_EQ(get("/v1/no/such?all=1").status, 404U) << "the path first";
}

TEST_F(ApiTest, OutputParametersAreChecked) {
  submit(1);
  EXPECT_EQ(get("/v1/jobs/0/output?stream=both").status, 400U);
  EXPECT_EQ(get("/v1/jobs/0/output?task=1").status, 400U);
  EXPECT_EQ(get("/v1/events?after=-1").status, 400U);
  EXPECT_NE(get("/v1/jobs/0/output?stream=err&task=0&follow=1").follower, nullptr);
  EXPECT_NE(get("/v1/events").follower, nullptr);
}

}  // namespace
}  // namespace weft::service
