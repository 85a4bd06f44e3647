#include "sim/saturation/plain_twin.h"

#include "base/rng.h"
#include "sim/saturation/recorded.h"
#include "sim/text_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace weft::sim::testing {

namespace {

bool is_allowed(const OpenbPod& pod, const std::string& model) {
  return pod.models.empty() || std::ranges::find(pod.models, model) != pod.models.end();
}

bool is_fraction(const OpenbPod& pod) { return pod.gpus == 1 && pod.gpu_milli < 1000; }

std::string class_of(const OpenbPod& pod) { return is_fraction(pod) ? "share" : std::to_string(pod.gpus); }

int tightest_gpu(const PlainNode& node, int32_t milli) {
  int best = -1;
  for (size_t g = 0; g < node.gpus.size(); ++g) {
    if (node.gpus[g] < milli) continue;
    if (best < 0 || node.gpus[g] < node.gpus[static_cast<size_t>(best)]) best = static_cast<int>(g);
  }
  return best;
}

int64_t count_with(const PlainNode& node, int32_t milli) {
  return std::ranges::count_if(node.gpus, [&](int32_t free) { return free >= milli; });
}

}  // namespace

int64_t PlainNode::gpu_free() const {
  int64_t sum = 0;
  for (const int32_t free : gpus) sum += free;
  return sum;
}

PlainTwin::PlainTwin(const SaturationInput& input, std::string_view policy, int64_t seed)
    : input_(input), policy_(policy) {
  arrivals_ = make_arrivals(input.nodes, input.pods, seed, kInflationRatio).value();
  for (const uint32_t n : arrivals_.node_order) {
    const OpenbNode& node = input.nodes[n];
    nodes_.push_back({.cpu_free = node.cpu_milli,
                      .memory_free = node.memory_mib,
                      .model = node.model,
                      .gpus = std::vector<int32_t>(static_cast<size_t>(node.gpus), 1000),
                      .classes = {}});
  }
  count_shapes();
}

/// The most popular shapes that make up 95 % of the list; of equally popular ones those that ask for more first.
void PlainTwin::count_shapes() {
  using Key = std::tuple<int64_t, int32_t, int32_t, std::vector<std::string>>;
  std::map<Key, int> counts;
  for (const OpenbPod& pod : input_.pods) ++counts[{pod.cpu_milli, pod.gpu_milli, pod.gpus, pod.models}];
  std::vector<std::pair<int, Key>> by_count;
  for (const auto& [key, count] : counts) by_count.emplace_back(count, key);
  std::ranges::sort(by_count, std::ranges::greater{});
  const double wanted = 0.95 * static_cast<double>(input_.pods.size());
  double covered = 0;
  for (const auto& [count, key] : by_count) {
    if (covered >= wanted) break;
    covered += count;
    const auto& [cpu, milli, gpus, models] = key;
    workload_.push_back({.pod = {.name = {}, .cpu_milli = cpu, .gpus = gpus, .gpu_milli = milli, .models = models},
                         .popularity = 1.0 * count});
  }
  for (Shape& shape : workload_) shape.popularity /= covered;
}

bool PlainTwin::fits(const PlainNode& node, const OpenbPod& pod) {
  if (node.cpu_free < pod.cpu_milli || node.memory_free < pod.memory_mib) return false;
  // Without GPUs a list of models still names where a pod may go.
  if (!is_allowed(pod, node.model)) return pod.gpus == 0;
  return pod.gpus == 0 || count_with(node, pod.gpu_milli) >= pod.gpus;
}

double PlainTwin::fragments_of(const PlainNode& node) const {
  double sum = 0;
  for (const Shape& shape : workload_) {
    const OpenbPod& m = shape.pod;
    const bool can_run = m.gpus > 0 && is_allowed(m, node.model) && node.cpu_free >= m.cpu_milli &&
                         count_with(node, m.gpu_milli) >= m.gpus;
    int64_t fragment = 0;
    for (const int32_t free : node.gpus) fragment += can_run && free >= m.gpu_milli ? 0 : free;
    sum += shape.popularity * static_cast<double>(fragment);
  }
  return sum;
}

double PlainTwin::fragments() const {
  double sum = 0;
  for (const PlainNode& node : nodes_) sum += fragments_of(node);
  return sum;
}

void PlainTwin::take(PlainNode& node, const OpenbPod& pod, int device) {
  node.cpu_free -= pod.cpu_milli;
  node.memory_free -= pod.memory_mib;
  if (pod.gpus == 0) return;
  ++node.classes[class_of(pod)];
  if (is_fraction(pod)) {
    node.gpus[static_cast<size_t>(device)] -= pod.gpu_milli;
    return;
  }
  int32_t left = pod.gpus;
  for (int32_t& free : node.gpus) {
    if (left > 0 && free == 1000) {
      free = 0;
      --left;
    }
  }
}

PlainChoice PlainTwin::fgd(const PlainNode& node, const OpenbPod& pod) const {
  const double before = fragments_of(node);
  const auto score_on = [&](int device) {
    PlainNode after = node;
    take(after, pod, device);
    double fall = before - fragments_of(after);
    if (std::abs(fall) < 1e-6) fall = 0;
    return static_cast<int64_t>(100.0 / (1.0 + std::exp(-fall / 1000)));
  };
  if (!is_fraction(pod)) return {.score = score_on(-1)};
  PlainChoice best{.score = -1};
  for (int g = 0; g < static_cast<int>(node.gpus.size()); ++g) {
    if (node.gpus[static_cast<size_t>(g)] < pod.gpu_milli) continue;
    const int64_t score = score_on(g);
    if (score > best.score) best = {.score = score, .device = g};
  }
  return best;
}

PlainChoice PlainTwin::bestfit(const PlainNode& node, const OpenbPod& pod) {
  double rest = static_cast<double>(node.cpu_free - pod.cpu_milli) / 128000 * 0.5;
  rest += static_cast<double>(node.gpu_free() - pod.request_milli()) / 8000 * 0.5;
  return {.score = static_cast<int64_t>((1.0 - rest) * 100)};
}

PlainChoice PlainTwin::dotprod(const PlainNode& node, const OpenbPod& pod) {
  double product = static_cast<double>(node.cpu_free) / 128000 * (static_cast<double>(pod.cpu_milli) / 128000);
  product += static_cast<double>(node.gpu_free()) / 8000 * (static_cast<double>(pod.request_milli()) / 8000);
  return {.score = static_cast<int64_t>(100 * (1 - product / 2))};
}

PlainChoice PlainTwin::packing(const PlainNode& node, const OpenbPod& pod) {
  if (pod.gpus == 0) return {};
  const int64_t idle = count_with(node, 1000);
  if (idle == static_cast<int64_t>(node.gpus.size())) return {.score = std::max<int64_t>(33 - idle, 0)};
  std::vector<int32_t> by_free = node.gpus;
  std::ranges::sort(by_free);
  int64_t idle_used = 0, free_percent = 0;
  int32_t left = pod.gpus;
  for (const int32_t free : by_free) {
    if (left == 0 || free < pod.gpu_milli) continue;
    --left;
    if (free == 1000) ++idle_used;
    free_percent += free / 10;
  }
  if (idle_used > 0) return {.score = std::max<int64_t>(50 - idle_used, 33)};
  return {.score = std::max<int64_t>(100 - free_percent / 10, 50)};
}

PlainChoice PlainTwin::clustering(const PlainNode& node, const OpenbPod& pod) {
  if (pod.gpus == 0) return {};
  const int64_t fullness = 25 * (8000 - node.gpu_free()) / 8000;
  if (node.classes.empty()) return {.score = fullness + 25};
  if (!node.classes.contains(class_of(pod))) return {.score = fullness};
  return {.score = fullness + (node.classes.size() == 1 ? 75 : 50)};
}

PlainChoice PlainTwin::score(const PlainNode& node, const OpenbPod& pod) const {
  if (policy_ == "fgd") return fgd(node, pod);
  PlainChoice choice = policy_ == "bestfit"   ? bestfit(node, pod)
                       : policy_ == "dotprod" ? dotprod(node, pod)
                       : policy_ == "packing" ? packing(node, pod)
                                              : clustering(node, pod);
  if (is_fraction(pod)) choice.device = tightest_gpu(node, pod.gpu_milli);
  return choice;
}

PlacementTrace PlainTwin::run() {
  PlacementTrace trace;
  for (const uint32_t index : arrivals_.pods) {
    const OpenbPod& pod = input_.pods[index];
    int32_t best = -1;
    PlainChoice best_choice;
    for (size_t n = 0; n < nodes_.size(); ++n) {
      if (!fits(nodes_[n], pod)) continue;
      const PlainChoice choice = score(nodes_[n], pod);
      if (best >= 0 && choice.score <= best_choice.score) continue;
      best = static_cast<int32_t>(n);
      best_choice = choice;
    }
    if (best >= 0) take(nodes_[static_cast<size_t>(best)], pod, best_choice.device);
    trace.push_back(best);
  }
  return trace;
}

namespace {

constexpr std::array<std::string_view, 5> kPolicies{"bestfit", "dotprod", "packing", "clustering", "fgd"};

/// A small cluster of several kinds of nodes and a list of pods of every kind, some with a choice of models.
SaturationInput random_input(uint64_t seed) {
  Rng rng(seed);
  SaturationInput input;
  const std::array<std::string, 3> models{"T4", "P100", "G2"};
  for (int i = 0; i < 40; ++i) {
    const uint64_t kind = rng.below(4);
    OpenbNode node{.name = "n" + std::to_string(1000 + i),
                   .cpu_milli = rng.between(2, 12) * 8000,
                   .memory_mib = rng.between(1, 8) * 65536};
    if (kind > 0) {
      node.gpus = static_cast<int32_t>(1 << kind);
      node.model = models[kind - 1];
    }
    input.nodes.push_back(std::move(node));
  }
  for (int i = 0; i < 300; ++i) {
    OpenbPod pod{.name = "p" + std::to_string(1000 + i),
                 .cpu_milli = rng.between(1, 8) * 2000,
                 .memory_mib = rng.between(1, 16) * 4096};
    const uint64_t kind = rng.below(8);
    if (kind > 0) {
      pod.gpus = kind == 7 ? static_cast<int32_t>(2 << rng.below(3)) : 1;
      pod.gpu_milli = kind < 4 ? static_cast<int32_t>(rng.between(1, 19) * 50) : 1000;
      if (rng.below(5) == 0) pod.models = {models[rng.below(3)]};
      if (rng.below(8) == 0) pod.models = {"G2", "T4"};
    }
    input.pods.push_back(std::move(pod));
  }
  return input;
}

/// The folder of the openb files, or empty where WEFT_DATA is not set.
std::string openb_folder() {
  const char* data = std::getenv("WEFT_DATA");
  return data == nullptr || *data == '\0' ? std::string() : std::string(data) + "/openb/";
}

SaturationInput openb_input(const std::string& workload) {
  const std::string nodes = openb_folder() + "openb_node_list_gpu_node.csv";
  const std::string pods = openb_folder() + workload + ".csv";
  return {.nodes = read_openb_nodes(read_text_file(nodes).value(), nodes).value(),
          .pods = read_openb_pods(read_text_file(pods).value(), pods).value()};
}

void expect_same_placements(const SaturationInput& input, std::string_view policy, int64_t seed) {
  PlacementTrace ours;
  const auto run = saturate(input, {.policy = std::string(policy), .seed = seed}, &ours);
  ASSERT_TRUE(run) << run.error().message;
  PlainTwin twin(input, policy, seed);
  const PlacementTrace theirs = twin.run();
  ASSERT_EQ(ours.size(), theirs.size());
  const auto [first, other] = std::ranges::mismatch(ours, theirs);
  EXPECT_EQ(first, ours.end()) << policy << ", seed " << seed << ": pod " << first - ours.begin() << " went to node "
                               << *first << " instead of " << *other;
  EXPECT_NEAR(twin.fragments(), run->end.fragment_milli, 0.01) << policy << ", seed " << seed;
}

TEST(SaturationTwin, TheCorePlacesEveryPodWhereThePlainScoresDo) {
  for (uint64_t world = 1; world <= 4; ++world) {
    const SaturationInput input = random_input(world);
    for (const std::string_view policy : kPolicies)
      expect_same_placements(input, policy, static_cast<int64_t>(world) * 7);
  }
}

TEST(SaturationTwin, TheCorePlacesTheWholeOpenbTraceWhereThePlainScoresDo) {
  if (openb_folder().empty()) GTEST_SKIP() << "not run: WEFT_DATA does not name the folder of public traces";
  for (const char* workload : {"openb_pod_list_default", "openb_pod_list_gpushare60", "openb_pod_list_multigpu30"}) {
    const SaturationInput input = openb_input(workload);
    for (const std::string_view policy : {"bestfit", "dotprod", "packing", "clustering"})
      expect_same_placements(input, policy, 50);
  }
}

TEST(SaturationTwin, EveryRecordedRowOfTheScoresThatDrawNothingComesOutPercentByPercent) {
  if (openb_folder().empty()) GTEST_SKIP() << "not run: WEFT_DATA does not name the folder of public traces";
  const RecordedResults recorded = read_recorded(openb_folder()).value();
  for (const char* workload : {"openb_pod_list_default", "openb_pod_list_gpushare60", "openb_pod_list_multigpu30"}) {
    const SaturationInput input = openb_input(workload);
    for (const std::string_view policy : kPolicies) {
      for (const int64_t seed : {42, 51}) {
        const auto run = saturate(input, {.policy = std::string(policy), .seed = seed});
        ASSERT_TRUE(run) << run.error().message;
        const auto expect_row = [&](const std::vector<RecordedRow>& rows, double SaturationColumn::* measure,
                                    double tolerance) {
          const auto row = recorded_mean(rows, workload, policy, {seed});
          ASSERT_TRUE(row);
          for (size_t percent = 0; percent < kPercents; ++percent) {
            EXPECT_NEAR(run->columns[percent].*measure, (*row)[percent], tolerance)
                << workload << " " << policy << " " << seed << " at " << percent;
          }
        };
        expect_row(recorded.allocation, &SaturationColumn::allocation, 0.011);
        expect_row(recorded.fragment_ratio, &SaturationColumn::fragment_ratio, 0.02);
        expect_row(recorded.fragment_amount, &SaturationColumn::fragment_amount, 0.02);
      }
    }
  }
}

TEST(SaturationTwin, TheOpenbDefaultWorkloadHas35TypicalShapes) {
  if (openb_folder().empty()) GTEST_SKIP() << "not run: WEFT_DATA does not name the folder of public traces";
  EXPECT_EQ(PlainTwin(openb_input("openb_pod_list_default"), "fgd", 42).shape_count(), 35U);
}

TEST(Saturation, TheSameSeedGivesTheSameDecisionsAndAnotherSeedOthers) {
  const SaturationInput input = random_input(9);
  for (const char* policy : {"random", "fgd", "pack", "spread"}) {
    const auto one = saturate(input, {.policy = policy, .seed = 1});
    const auto again = saturate(input, {.policy = policy, .seed = 1});
    const auto other = saturate(input, {.policy = policy, .seed = 2});
    ASSERT_TRUE(one && again && other);
    EXPECT_EQ(one->decision_hash, again->decision_hash) << policy;
    EXPECT_NE(one->decision_hash, other->decision_hash) << policy;
    EXPECT_GT(one->placed, 80U) << policy;
  }
}

TEST(Saturation, AnUnknownPolicyIsAnError) { EXPECT_FALSE(saturate(random_input(1), {.policy = "fdg"})); }

}  // namespace
}  // namespace weft::sim::testing
