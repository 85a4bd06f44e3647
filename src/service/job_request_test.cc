#include "service/job_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::service {
namespace {

using testing::HasSubstr;

JobRequest full_request() {
  return {.name = "Größe",
          .queue = "team",
          .priority = -7,
          .tasks = 3,
          .gpus = 2,
          .gpu_models = {"A100-SXM4-80GB", "H100-SXM"},
          .cpu_milli = 1250,
          .memory_bytes = 8 * kGiB + 1,
          .time_limit = Duration{90'000'000'001},
          .grace = milliseconds(250),
          .device_view = DeviceView::kTask,
          .command = {"train.sh", "", "a\nb", "\"quoted\""},
          .script = "#!/bin/sh\necho \\ $1\n",
          .environment = {{"A", ""}, {"B", "x=y\n"}},
          .directory = "/data/ü",
          .output = "%j.out",
          .error = "/tmp/%x"};
}

std::string read_error_of(std::string_view json) {
  const auto request = read_job_request(json);
  return request ? "no error" : request.error().message;
}

TEST(JobRequest, SurvivesTheWayThroughJson) {
  EXPECT_EQ(read_job_request(write_job_request(full_request())), full_request());
  const JobRequest small{.command = {"x"}, .directory = "/"};
  EXPECT_EQ(read_job_request(write_job_request(small)), small);
}

TEST(JobRequest, QuantitiesMayBeTextsOrNumbers) {
  const auto request =
      read_job_request(R"({"command":["x"],"directory":"/","cpus":0.5,"memory":"8Gi","time":90,"grace":"1m"})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->cpu_milli, 500);
  EXPECT_EQ(request->memory_bytes, 8 * kGiB);
  EXPECT_EQ(request->time_limit, seconds(90));
  EXPECT_EQ(request->grace, minutes(1));
}

TEST(JobRequest, ASyntaxErrorNamesLineAndColumn) {
  EXPECT_THAT(read_error_of("{\n  \"gpus\": 1,\n  oops }"), HasSubstr("line 3 column 3"));
  EXPECT_THAT(read_error_of(""), HasSubstr("line 1 column 1"));
  EXPECT_THAT(read_error_of("{} {}"), HasSubstr("line 1 column 4"));
  EXPECT_THAT(read_error_of("[1]"), HasSubstr("a job is a JSON object"));
}

TEST(JobRequest, AKeyTwiceIsAnErrorHoweverItIsSpelt) {
  EXPECT_THAT(read_error_of(R"({"gpus":1,)"
                            "\n"
                            R"( "gpus":2})"),
              HasSubstr("line 2 column 2: the key \"gpus\" is given twice"));
  EXPECT_THAT(read_error_of(R"({"gpus":1,"\u0067pus":2})"), HasSubstr("is given twice"));
  EXPECT_THAT(read_error_of(R"({"environment":{"A":"1","A":"2"}})"), HasSubstr("\"A\" is given twice"));
  EXPECT_EQ(read_error_of(
                R"({"command":["{\"a\":1,\"a\":2}", "a", "a"],"directory":"/","environment":{"name":"x"},"name":"y"})"),
            "no error");
}

TEST(JobRequest, UnknownKeysAreErrorsWithTheNearestKnownOne) {
  EXPECT_THAT(read_error_of(R"({"gpu":1})"), HasSubstr("unknown key 'gpu'; did you mean 'gpus'?"));
  EXPECT_THAT(read_error_of(R"({"zzz":1})"), testing::Eq("unknown key 'zzz'"));
}

TEST(JobRequest, WrongValuesAreErrorsThatNameTheKey) {
  const std::vector<std::pair<const char*, const char*>> cases{{R"("gpus":-1)", "gpus:"},
                                                               {R"("gpus":1.0)", "gpus:"},
                                                               {R"("gpus":"1")", "gpus:"},
                                                               {R"("gpus":1e3)", "gpus:"},
                                                               {R"("gpus":null)", "gpus:"},
                                                               {R"("tasks":0)", "tasks:"},
                                                               {R"("tasks":5000)", "tasks:"},
                                                               {R"("priority":9999999999)", "priority:"},
                                                               {R"("cpus":-1)", "cpus:"},
                                                               {R"("cpus":"nan")", "cpus:"},
                                                               {R"("cpus":1e300)", "cpus:"},
                                                               {R"("cpus":[1])", "cpus:"},
                                                               {R"("memory":"8X")", "memory:"},
                                                               {R"("memory":-5)", "memory:"},
                                                               {R"("time":0)", "time:"},
                                                               {R"("time":"-5m")", "time:"},
                                                               {R"("time":"99999999d")", "time:"},
                                                               {R"("grace":"-1s")", "grace:"},
                                                               {R"("grace":"25h")", "grace:"},
                                                               {R"("gpu_bind":"rack")", "gpu_bind:"},
                                                               {R"("command":"x")", "command:"},
                                                               {R"("command":[1])", "command:"},
                                                               {R"("command":[])", "command:"},
                                                               {R"("command":[""])", "command:"},
                                                               {R"("name":"a\u0000b")", "name:"},
                                                               {R"("name":"a\nb")", "name:"},
                                                               {R"("name":7)", "name:"},
                                                               {R"("queue":"")", "queue:"},
                                                               {R"("directory":"here")", "directory:"},
                                                               {R"("environment":{"A=B":"c"})", "environment:"},
                                                               {R"("environment":{"":"c"})", "environment:"},
                                                               {R"("environment":{"A":1})", "environment:"},
                                                               {R"("environment":{"A":"\u0000"})", "environment:"},
                                                               {R"("output":"a\u0007")", "output:"},
                                                               {R"("gpu_models":["H100"])", "gpu_models:"},
                                                               {R"("script":"a\u0000b")", "script:"}};
  for (const auto& [text, where] : cases) {
    std::string json = std::string("{") + text;
    if (json.find("\"command\"") == std::string::npos) json += R"(,"command":["x"])";
    if (json.find("\"directory\"") == std::string::npos) json += R"(,"directory":"/")";
    EXPECT_THAT(read_error_of(json + "}"), testing::StartsWith(where)) << text;
  }
}

TEST(JobRequest, LimitsHoldAtTheirEdges) {
  JobRequest request{.command = {"x"}, .directory = "/"};
  request.command.emplace_back(kArgumentBytesMax, 'x');
  EXPECT_TRUE(check_job_request(request));
  request.command.back() += 'x';
  EXPECT_THAT(check_job_request(request).error().message, HasSubstr("the system takes at most 131071"));
  request.command = {"x"};
  for (int i = 0; i < 14; ++i) request.command.emplace_back(kArgumentBytesMax, 'x');
  EXPECT_THAT(check_job_request(request).error().message, HasSubstr("at most 1,800,000 are allowed"));
  request.command = {"x"};
  request.name.assign(kNameBytesMax, 'n');
  EXPECT_TRUE(check_job_request(request));
  request.name += 'n';
  EXPECT_FALSE(check_job_request(request));
}

TEST(JobRequest, InvalidUtf8AndDeepNestingAreRefused) {
  EXPECT_THAT(read_error_of("{\"name\":\"\xff\"}"), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(read_error_of(std::string(100, '[') + std::string(100, ']')), HasSubstr("line 1 column"));
  JobRequest request{.command = {"\xc3"}, .directory = "/"};
  EXPECT_FALSE(check_job_request(request));
}

TEST(JobRequest, DefaultsLeaveHalfOfTheNodeToJobsWithoutGpus) {
  const JobDefaults defaults = defaults_for(64'000, 512 * kGiB, 8);
  EXPECT_EQ(defaults.cpu_milli_per_gpu, 4000);
  EXPECT_EQ(defaults.memory_bytes_per_gpu, 32 * kGiB);
  EXPECT_EQ(defaults.cpu_milli, 1000);
  const JobSpec gpu_job =
      to_spec({.tasks = 2, .gpus = 3, .command = {"/opt/bin/train"}, .directory = "/"}, defaults, "ann");
  EXPECT_EQ(gpu_job.roles.at(0).cpu_milli, 12'000);
  EXPECT_EQ(gpu_job.roles.at(0).memory_bytes, 96 * kGiB);
  EXPECT_EQ(gpu_job.roles.at(0).count, 2);
  EXPECT_EQ(gpu_job.name, "train");
  EXPECT_EQ(gpu_job.user, "ann");
  const JobSpec cpu_job = to_spec({.command = {"x"}, .directory = "/"}, defaults, "ann");
  EXPECT_EQ(cpu_job.roles.at(0).cpu_milli, 1000);
  EXPECT_EQ(cpu_job.roles.at(0).devices.kind, DeviceNeedKind::kNone);
}

TEST(JobRequest, AJobThatNamesNoGraceGetsTheServers) {
  const JobDefaults defaults{.grace = minutes(2)};
  EXPECT_EQ(to_spec({.command = {"x"}, .directory = "/"}, defaults, "ann").grace, minutes(2));
  EXPECT_EQ(to_spec({.grace = seconds(0), .command = {"x"}, .directory = "/"}, defaults, "ann").grace, seconds(0));
}

TEST(JobRequest, EveryWishReachesTheCore) {
  const JobRequest request = full_request();
  const JobSpec spec = to_spec(request, defaults_for(64'000, 512 * kGiB, 8), "ann");
  EXPECT_EQ(spec.name, request.name);
  EXPECT_EQ(spec.queue, request.queue);
  EXPECT_EQ(spec.priority, request.priority);
  EXPECT_EQ(spec.time_limit, request.time_limit);
  EXPECT_EQ(spec.estimate, request.time_limit) << "backfill plans with it";
  EXPECT_EQ(spec.grace, request.grace);
  ASSERT_EQ(spec.roles.size(), 1U);
  EXPECT_EQ(spec.roles[0].count, request.tasks);
  EXPECT_EQ(spec.roles[0].cpu_milli, request.cpu_milli);
  EXPECT_EQ(spec.roles[0].memory_bytes, request.memory_bytes);
  EXPECT_EQ(spec.roles[0].devices.kind, DeviceNeedKind::kWhole);
  EXPECT_EQ(spec.roles[0].devices.count, request.gpus);
  EXPECT_EQ(spec.roles[0].constraint.models, request.gpu_models);
  EXPECT_EQ(spec.launch.command, request.command);
  EXPECT_EQ(spec.launch.environment, request.environment);
  EXPECT_EQ(spec.launch.working_directory, request.directory);
  EXPECT_EQ(spec.launch.output_path, request.output);
  EXPECT_EQ(spec.launch.error_path, request.error);
  EXPECT_EQ(spec.launch.script, request.script);
  EXPECT_EQ(spec.launch.device_view, request.device_view);
}

TEST(JobRequest, AmountsAndScriptsHaveBounds) {
  JobRequest request{.command = {"x"}, .directory = "/"};
  const auto problem = [&request] {
    const auto ok = check_job_request(request);
    return ok ? std::string("none") : ok.error().message;
  };
  request.cpu_milli = request.memory_bytes = kUnlimited / 1'000'000;
  request.script.assign(kScriptBytesMax, '#');
  EXPECT_EQ(problem(), "none") << "the bounds themselves are allowed";
  ++*request.cpu_milli;
  EXPECT_THAT(problem(), testing::StartsWith("cpus: too large"));
  --*request.cpu_milli;
  ++*request.memory_bytes;
  EXPECT_THAT(problem(), testing::StartsWith("memory: too large"));
  --*request.memory_bytes;
  request.script += '#';
  EXPECT_THAT(problem(), testing::StartsWith("script: 4,194,305 bytes"));
}

}  // namespace
}  // namespace weft::service
