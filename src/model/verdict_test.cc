#include "model/verdict.h"

#include "model/vocabulary.h"

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

class VerdictText : public testing::Test {
 protected:
  VerdictText() {
    names_.levels = {"rack", "block"};
    names_.domains = {"b1", "b1/r1"};
    names_.queues.intern("root");
    names_.queues.intern("lab");
    names_.nodes.intern("n0");
    names_.devices.add(DeviceModel{.name = "G3"});
  }

  static Verdict no(Reason reason, int64_t have = 0, int64_t need = 0, CountUnit unit = CountUnit::kGpus) {
    Verdict verdict;
    verdict.reason = reason;
    verdict.have = have;
    verdict.need = need;
    verdict.unit = unit;
    return verdict;
  }
  static uint32_t& nodes(Verdict& verdict, Reason reason) {
    return verdict.nodes_by_reason[static_cast<size_t>(reason)];
  }
  std::string text(const Verdict& verdict) const { return verdict_text(verdict, names_); }
  std::string word(const Verdict& verdict) const { return reason_word(verdict, names_); }

  Vocabulary names_;
};

TEST_F(VerdictText, IsEmptyForAYes) {
  EXPECT_EQ(text(Verdict{}), "");
  EXPECT_EQ(word(Verdict{}), "");
}

TEST_F(VerdictText, NamesTheQueueThatBindsAndWhatIsLeftOfIt) {
  Verdict verdict = no(Reason::kLimit, 0, 2);
  verdict.queue = make_id<QueueId>(1);
  EXPECT_EQ(text(verdict), "limit: 0 of 2 needed GPUs left under the limit of queue lab");
  verdict.have = -3;  // the limit was lowered while its jobs ran
  EXPECT_EQ(text(verdict), "limit: 0 of 2 needed GPUs left under the limit of queue lab");
  verdict.have = 1500;
  verdict.need = 4000;
  verdict.unit = CountUnit::kMilliCpu;
  EXPECT_EQ(text(verdict), "limit: 1.5 of 4 needed CPUs left under the limit of queue lab");
  verdict.need = 0;
  EXPECT_EQ(text(verdict), "limit: nothing is left of the limit of queue lab");
  verdict = no(Reason::kGuarantee, 500, 1500, CountUnit::kMilliGpu);
  verdict.queue = make_id<QueueId>(1);
  EXPECT_EQ(text(verdict),
            "guarantee: 0.5 of 1.5 needed GPUs left inside the guarantee of queue lab, and a job that is not "
            "preemptible must fit inside it");
}

TEST_F(VerdictText, NamesTheGateThatKeepsAJobBack) {
  Verdict verdict = no(Reason::kDependency);
  verdict.blocker = make_id<JobId>(12);
  EXPECT_EQ(text(verdict), "dependency: job 12, which it comes after, has not ended well");
  EXPECT_EQ(text(no(Reason::kHeld)), "held: by its user or an operator, until it is released");
  verdict = no(Reason::kOrder);
  verdict.blocker = make_id<JobId>(12);
  EXPECT_EQ(text(verdict), "priority: job 12 goes first and waits for room");
  EXPECT_EQ(text(no(Reason::kOrder)), "priority: another job goes first and waits for room");
  verdict.reason = Reason::kReservation;
  EXPECT_EQ(text(verdict), "reservation: it would delay job 12, for which room is reserved");
}

TEST_F(VerdictText, SaysHowLongATimeIsAwayWhenThePresentIsKnown) {
  Verdict verdict = no(Reason::kBeginTime);
  verdict.until = Instant{0} + minutes(100);
  EXPECT_EQ(text(verdict), "begin time: it has not come yet");
  EXPECT_EQ(verdict_text(verdict, names_, Instant{0} + minutes(10)), "begin time: in 1h30m");
  EXPECT_EQ(verdict_text(verdict, names_, Instant{0} + minutes(200)), "begin time: it has not come yet");
  verdict.reason = Reason::kPatience;
  EXPECT_EQ(text(verdict), "patience: others may be stopped for it only later");
  EXPECT_EQ(verdict_text(verdict, names_, Instant{0} + minutes(10)),
            "patience: others may be stopped for it only in 1h30m");
}

TEST_F(VerdictText, CountsWhatTheClusterHasFree) {
  EXPECT_EQ(text(no(Reason::kGpus, 7, 10)), "GPUs: 7 of 10 needed are free");
  EXPECT_EQ(text(no(Reason::kGpus, 1234, 5678)), "GPUs: 1,234 of 5,678 needed are free");
  EXPECT_EQ(text(no(Reason::kGpus, 300, 500, CountUnit::kMilliGpu)), "GPUs: 0.3 of 0.5 needed are free");
  EXPECT_EQ(text(no(Reason::kGpus, 3, 4, CountUnit::kTasks)), "GPUs: room for 3 of 4 tasks");
  EXPECT_EQ(text(no(Reason::kGpus, 3, 4, CountUnit::kNodes)), "GPUs: room on 3 of 4 nodes");
  EXPECT_EQ(text(no(Reason::kGpus)), "GPUs: too few free");
  EXPECT_EQ(text(no(Reason::kMig, 3, 4, CountUnit::kSlices)), "GPUs: 3 of 4 needed MIG slices free");
  EXPECT_EQ(text(no(Reason::kGpuMemory, 30 * kGiB, 40 * kGiB, CountUnit::kBytes)),
            "GPU memory: 30Gi of 40Gi needed is free");
  EXPECT_EQ(text(no(Reason::kCpus, 4500, 6000, CountUnit::kMilliCpu)), "CPUs: 4.5 of 6 needed are free");
  EXPECT_EQ(text(no(Reason::kMemory, 3 * kGiB, 8 * kGiB, CountUnit::kBytes)), "memory: 3Gi of 8Gi needed is free");
  EXPECT_EQ(text(no(Reason::kDisk, 0, kTiB, CountUnit::kBytes)), "disk: 0 of 1Ti needed is free");
  EXPECT_EQ(text(no(Reason::kMemory, 0, 0, CountUnit::kBytes)), "memory: too little free");
}

TEST_F(VerdictText, NeverShowsTwoSizesAsEqualWhenOneIsTooSmall) {
  EXPECT_EQ(text(no(Reason::kMemory, 8 * kGiB, 8 * kGiB + kKiB, CountUnit::kBytes)),
            "memory: 8Gi of 8388609Ki needed is free");
}

TEST_F(VerdictText, NamesTheModelAskedFor) {
  Verdict verdict = no(Reason::kModel, 3, 4);
  verdict.model = names_.devices.find("G3");
  EXPECT_EQ(text(verdict), "model: 3 of 4 needed GPUs free of those that will do (G3)");
  verdict.need = 0;
  EXPECT_EQ(text(verdict), "model: no device that will do (G3)");
  verdict.model = kNone<DeviceModelId>;
  EXPECT_EQ(text(verdict), "model: no device that will do");
}

TEST_F(VerdictText, NamesThePlaceThatIsTooSmall) {
  EXPECT_EQ(text(no(Reason::kNuma, 4000, 6000, CountUnit::kMilliCpu)),
            "numa: no NUMA zone of one node holds a task (best: 4 of 6 needed CPUs free)");
  EXPECT_EQ(text(no(Reason::kNvlink, 2, 4)),
            "nvlink: no NVLink island of one node holds a task (best: 2 of 4 needed GPUs free)");
  Verdict verdict = no(Reason::kNode, 4, 8);
  EXPECT_EQ(text(verdict), "node: no single node holds a task (best: 4 of 8 needed GPUs free)");
  verdict.node = make_id<NodeId>(0);
  EXPECT_EQ(text(verdict), "node: no single node holds a task (best: n0 with 4 of 8 needed GPUs free)");
  verdict.is_node_named = true;
  EXPECT_EQ(text(verdict), "node: n0, which it names, has 4 of 8 needed GPUs free");
  verdict.need = 0;
  EXPECT_EQ(text(verdict), "node: n0, which it names, does not hold a task");
  verdict = no(Reason::kLevel, 3, 4);
  verdict.level = make_id<LevelId>(0);
  verdict.domain = make_id<DomainId>(1);
  EXPECT_EQ(text(verdict), "rack: no rack holds it (best: b1/r1 with 3 of 4 needed GPUs free)");
  verdict.domain = kNone<DomainId>;
  verdict.unit = CountUnit::kTasks;
  EXPECT_EQ(text(verdict), "rack: no rack holds it (best: room for 3 of 4 tasks)");
}

TEST_F(VerdictText, NamesWhatKeepsItOffTheNodes) {
  EXPECT_EQ(text(no(Reason::kTaint)), "taint: no node whose taints it tolerates");
  EXPECT_EQ(text(no(Reason::kTaint, 3, 4)), "taint: 3 of 4 needed GPUs free on nodes whose taints it tolerates");
  EXPECT_EQ(text(no(Reason::kLabel)), "label: no node carries its labels");
  EXPECT_EQ(text(no(Reason::kLabel, 3, 4)), "label: 3 of 4 needed GPUs free on nodes that carry its labels");
  EXPECT_EQ(text(no(Reason::kUnavailable)), "node: all are down or cordoned");
  EXPECT_EQ(text(no(Reason::kUnavailable, 3, 4)),
            "node: 3 of 4 needed GPUs free on nodes that are up and not cordoned");
  EXPECT_EQ(text(no(Reason::kEngine)), "engine: it refused to hold or to start the job");
  EXPECT_EQ(text(no(Reason::kBudget)), "search: it stopped at its budget, a place may exist all the same");
}

TEST_F(VerdictText, SaysNeverAndStillNamesTheReason) {
  Verdict verdict = no(Reason::kGpus, 7, 10);
  verdict.is_never = true;
  verdict.nodes_total = 2;
  verdict.task_gpus = 10;
  verdict.most_free_gpus = 4;
  nodes(verdict, Reason::kGpus) = 2;
  EXPECT_EQ(text(verdict),
            "can never run here: GPUs: 7 of 10 needed, even with everything free; 2 nodes: 2 have too few GPUs (most: "
            "4 of 10)");
  verdict = no(Reason::kLimit, 4, 8);
  verdict.queue = make_id<QueueId>(1);
  verdict.is_never = true;
  EXPECT_EQ(text(verdict), "can never run here: limit: 4 of 8 needed GPUs under the limit of queue lab");
  EXPECT_EQ(word(verdict), "limit");
}

TEST_F(VerdictText, CountsEveryNodeOnce) {
  Verdict verdict = no(Reason::kGpus, 7, 10);
  verdict.model = names_.devices.find("G3");
  verdict.task_gpus = 4;
  verdict.most_free_gpus = 3;
  verdict.nodes_total = 1213;
  verdict.nodes_cordoned = 202;
  nodes(verdict, Reason::kModel) = 981;
  nodes(verdict, Reason::kGpus) = 30;
  nodes(verdict, Reason::kUnavailable) = 202;
  EXPECT_EQ(text(verdict),
            "GPUs: 7 of 10 needed are free; 1,213 nodes: 981 lack a G3, 30 have too few free GPUs (most: 3 of 4), 202 "
            "cordoned");
  verdict.nodes_cordoned = 150;
  verdict.nodes_down = 52;
  nodes(verdict, Reason::kGpus) = 20;
  nodes(verdict, Reason::kNone) = 10;
  EXPECT_EQ(text(verdict),
            "GPUs: 7 of 10 needed are free; 1,213 nodes: 981 lack a G3, 20 have too few free GPUs (most: 3 of 4), 150 "
            "cordoned, 52 down, 10 could take a task");
  verdict.nodes_down = 0;  // not told apart
  EXPECT_NE(text(verdict).find("202 down or cordoned"), std::string::npos);
  verdict.model = names_.devices.find("H100-SXM5-80GB");
  EXPECT_NE(text(verdict).find("981 lack an H100-SXM5-80GB"), std::string::npos);
}

TEST_F(VerdictText, CountsOneNodeInTheSingular) {
  for (const auto& [reason, expected] : {std::pair(Reason::kGpus, "1 has too few free GPUs (most: 0 of 1)"),
                                         std::pair(Reason::kModel, "1 lacks a device that will do"),
                                         std::pair(Reason::kNode, "1 is not the one that it names"),
                                         std::pair(Reason::kLevel, "1 is in no rack with room")}) {
    Verdict verdict = no(Reason::kGpus, 0, 2);
    verdict.level = make_id<LevelId>(0);
    verdict.task_gpus = 1;
    verdict.nodes_total = 1;
    nodes(verdict, reason) = 1;
    EXPECT_EQ(text(verdict), std::string("GPUs: 0 of 2 needed are free; 1 node: ") + expected);
  }
}

TEST_F(VerdictText, SaysOfAPartOfAGpuThatNoneIsShared) {
  Verdict verdict = no(Reason::kGpus, 0, 500, CountUnit::kMilliGpu);
  verdict.nodes_total = 2;
  nodes(verdict, Reason::kGpus) = 2;
  EXPECT_EQ(text(verdict), "GPUs: 0 of 0.5 needed are free; 2 nodes: 2 have too little of a free GPU");
  verdict.is_never = true;
  EXPECT_EQ(
      text(verdict),
      "can never run here: GPUs: 0 of 0.5 needed, even with everything free; 2 nodes: 2 have no GPU that jobs may "
      "share");
  verdict.nodes_total = 1;
  nodes(verdict, Reason::kGpus) = 1;
  EXPECT_NE(text(verdict).find("1 node: 1 has no GPU that jobs may share"), std::string::npos) << text(verdict);
}

TEST_F(VerdictText, DoesNotSayTheSameTwiceOfASingleNode) {
  Verdict verdict = no(Reason::kGpus, 0, 3);
  verdict.task_gpus = 3;
  verdict.nodes_total = 1;
  nodes(verdict, Reason::kGpus) = 1;
  EXPECT_EQ(text(verdict), "GPUs: 0 of 3 needed are free");
  verdict.need = 6;  // two tasks of three
  EXPECT_EQ(text(verdict), "GPUs: 0 of 6 needed are free; 1 node: 1 has too few free GPUs (most: 0 of 3)");
  verdict.need = 3;
  verdict.nodes_total = 2;
  nodes(verdict, Reason::kGpus) = 2;
  EXPECT_EQ(text(verdict), "GPUs: 0 of 3 needed are free; 2 nodes: 2 have too few free GPUs (most: 0 of 3)");
  for (const Reason reason : {Reason::kCpus, Reason::kMemory, Reason::kDisk, Reason::kGpuMemory, Reason::kModel}) {
    verdict = no(reason, 0, 3);
    verdict.nodes_total = 1;
    nodes(verdict, reason) = 1;
    EXPECT_EQ(text(verdict).find("1 node"), std::string::npos) << text(verdict);
    verdict.need = 0;  // then the sentence has no numbers
    EXPECT_NE(text(verdict).find("1 node"), std::string::npos) << text(verdict);
  }
  verdict = no(Reason::kUnavailable, 0, 3);
  verdict.nodes_total = 1;
  verdict.nodes_cordoned = 1;
  nodes(verdict, Reason::kUnavailable) = 1;
  EXPECT_NE(text(verdict).find("1 node: 1 cordoned"), std::string::npos) << "the sentence does not tell which";
}

TEST_F(VerdictText, LeavesNoReasonOutOfTheNodeCounts) {
  Verdict verdict = no(Reason::kGpus, 0, 1);
  verdict.level = make_id<LevelId>(0);
  for (uint32_t& count : verdict.nodes_by_reason) count = 3;
  verdict.nodes_total = 3 * static_cast<uint32_t>(kReasonCount);
  const std::string counts = text(verdict).substr(text(verdict).find("nodes: ") + 7);
  size_t groups = 0;
  for (size_t at = 0; at != std::string::npos; at = counts.find(", ", at + 1)) {
    EXPECT_EQ(counts.compare(at, at == 0 ? 2 : 4, at == 0 ? "3 " : ", 3 "), 0) << counts.substr(at);
    ++groups;
  }
  EXPECT_EQ(groups, kReasonCount);
}

TEST_F(VerdictText, BeginsEveryNoWithTheWordOfItsReason) {
  for (size_t i = 1; i < kReasonCount; ++i) {
    for (const int64_t need : {0, 4}) {
      Verdict verdict = no(static_cast<Reason>(i), 0, need);
      EXPECT_FALSE(word(verdict).empty()) << i;
      EXPECT_NE(text(verdict).find(word(verdict) + ":"), std::string::npos) << text(verdict);
      EXPECT_EQ(text(verdict).find('\n'), std::string::npos);
    }
  }
}

TEST_F(VerdictText, KnowsTheWordsOfScenarioFiles) {
  EXPECT_EQ(word(no(Reason::kDependency)), "dependency");
  EXPECT_EQ(word(no(Reason::kBeginTime)), "begin time");
  EXPECT_EQ(word(no(Reason::kPatience)), "patience");
  EXPECT_EQ(word(no(Reason::kLimit)), "limit");
  EXPECT_EQ(word(no(Reason::kGuarantee)), "guarantee");
  EXPECT_EQ(word(no(Reason::kOrder)), "priority");
  EXPECT_EQ(word(no(Reason::kReservation)), "reservation");
  EXPECT_EQ(word(no(Reason::kGpus)), "GPUs");
  EXPECT_EQ(word(no(Reason::kMig)), "GPUs");
  EXPECT_EQ(word(no(Reason::kGpuMemory)), "memory");
  EXPECT_EQ(word(no(Reason::kMemory)), "memory");
  EXPECT_EQ(word(no(Reason::kCpus)), "CPUs");
  EXPECT_EQ(word(no(Reason::kModel)), "model");
  EXPECT_EQ(word(no(Reason::kNuma)), "numa");
  EXPECT_EQ(word(no(Reason::kNvlink)), "nvlink");
  EXPECT_EQ(word(no(Reason::kNode)), "node");
  EXPECT_EQ(word(no(Reason::kUnavailable)), "node");
  EXPECT_EQ(word(no(Reason::kTaint)), "taint");
  EXPECT_EQ(word(no(Reason::kLabel)), "label");
  Verdict verdict = no(Reason::kLevel);
  verdict.level = make_id<LevelId>(1);
  EXPECT_EQ(word(verdict), "block");
}

}  // namespace
}  // namespace weft
