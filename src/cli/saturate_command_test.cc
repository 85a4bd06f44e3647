#include "base/test_folder.h"
#include "cli/command_line.h"
#include "cli/commands.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::string_view kNodes = "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,T4\n";
constexpr std::string_view kPods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,1000,1024,1,500\np1,1,1,0,0\n";

/// `weft saturate` on a small cluster, in a folder of its own.
class Saturate : public testing::Test {
 protected:
  void SetUp() override {
    write("nodes.csv", kNodes);
    write("pods.csv", kPods);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string content(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return std::move(out).str();
  }
  /// What it says on the error output.
  std::string errors(const std::vector<std::string>& options, const std::string& nodes = "nodes.csv",
                     const std::string& pods = "pods.csv") {
    CLI::App app("weft", "weft");
    status_ = -1;
    add_saturate_command(app, status_);
    std::vector<std::string> arguments{"saturate", "--nodes", path(nodes), "--pods", path(pods)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    status_ = parse_and_run(app, arguments, status_);
    out_ = testing::internal::GetCapturedStdout();
    return testing::internal::GetCapturedStderr();
  }

  const TestFolder made_;
  const fs::path folder_ = made_.path();
  std::string out_;
  int status_ = -1;
};

TEST_F(Saturate, WritesWhatWasAskedForAndNothingElse) {
  EXPECT_EQ(errors({"--seeds", "1", "--json", path("a.json"), "--html", path("a.html"), "--csv", "-"}), "");
  EXPECT_EQ(status_, 0);
  EXPECT_THAT(content("a.json"), HasSubstr("\"workload\":\"pods\""));
  EXPECT_THAT(content("a.html"), testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(out_, testing::StartsWith("workload,policy,seed,")) << "no table between the rows";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 4);
}

TEST_F(Saturate, NeverWritesOverWhatItReads) {
  for (const char* option : {"--json", "--csv", "--html"}) {
    EXPECT_THAT(errors({"--seeds", "1", option, path("nodes.csv")}),
                HasSubstr("is what --nodes reads; it would be lost\n"));
    EXPECT_EQ(status_, 2);
    EXPECT_THAT(errors({"--seeds", "1", option, path("./pods.csv")}), HasSubstr("is what --pods reads"));
  }
  EXPECT_EQ(content("nodes.csv"), kNodes);
  EXPECT_EQ(content("pods.csv"), kPods);
  EXPECT_THAT(errors({"--json", path("a"), "--csv", path("a")}), HasSubstr("is the place of --json already"));
}

TEST_F(Saturate, AFailedRunLeavesAnOutputAsItWas) {
  write("old.json", "old");
  EXPECT_NE(errors({"--json", path("old.json"), "--policy", "fgd,none"}), "");
  EXPECT_EQ(status_, 2);
  EXPECT_NE(errors({"--json", path("old.json")}, "absent.csv"), "");
  EXPECT_EQ(content("old.json"), "old");
}

TEST_F(Saturate, AnErrorIsOneLineThatNamesItsOption) {
  EXPECT_THAT(errors({"--policy", "x\ny"}), HasSubstr("saturate: --policy: there is no node score 'x\\x0ay'"));
  EXPECT_THAT(errors({"--policy", "fgd,"}), HasSubstr("saturate: --policy: a name is empty"));
  EXPECT_THAT(errors({"--policy", "fgd,fgd"}), HasSubstr("saturate: --policy: 'fgd' is given twice"));
  for (const char* seeds : {"51-42", "-1", "1,,2", "1-1000000000", "+4", "1e3", "2147483647", "3,3"})
    EXPECT_THAT(errors({std::string("--seeds=") + seeds}), HasSubstr("saturate: --seeds: ")) << seeds;
  EXPECT_EQ(status_, 2);
  EXPECT_THAT(errors({"--seeds", ""}), HasSubstr("saturate: --seeds: expected numbers and ranges"));
  EXPECT_THAT(errors({"--json", ""}), HasSubstr("--json: the name is empty"));
  EXPECT_THAT(errors({"--recorded", ""}), HasSubstr("--recorded: the name is empty"));
  EXPECT_THAT(errors({}, "no\nnodes"), HasSubstr("no\\x0anodes: there is no such file\n"));
}

TEST_F(Saturate, AListThatCannotFillAClusterIsNamed) {
  write("cpus.csv", "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,0,\n");
  EXPECT_THAT(errors({}, "cpus.csv"), HasSubstr("cpus.csv: no node has a GPU"));
  write("light.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,1,1,0,0\n");
  EXPECT_THAT(errors({}, "nodes.csv", "light.csv"), HasSubstr("light.csv: no pod asks for a GPU"));
  write("zero.csv", std::string(kNodes) + std::string("n\0,1,1,1,T4\n", 12));
  EXPECT_THAT(errors({}, "zero.csv"), HasSubstr("zero.csv:3:2: the control character 0x00"));
}

TEST_F(Saturate, ACheckThatFailsSaysSo) {
  for (const char* file : {"recorded_allocation.csv", "recorded_frag_ratio.csv", "recorded_frag_amount.csv"})
    write(file, "workload,sc_policy,seed,100\npods,06-FGD,1,10\n");
  EXPECT_THAT(errors({"--seeds", "1", "--policy", "fgd,random", "--recorded", folder_.string(), "--check"}),
              HasSubstr("saturate: --check: 2 of 2 results are not within tolerance"));
  EXPECT_EQ(status_, 1);
  EXPECT_THAT(out_, HasSubstr("nothing recorded")) << "for random";
}

}  // namespace
}  // namespace weft::cli
