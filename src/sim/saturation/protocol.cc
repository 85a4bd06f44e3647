#include "sim/saturation/protocol.h"

#include "base/text.h"
#include "sim/saturation/go_random.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <numeric>

namespace weft::sim {

namespace {

/// One number is drawn before the shuffle, and ten between the pods and the nodes, by parts of the published simulator
/// that have nothing to do with the protocol. With them every recorded row of the five policies that draw nothing
/// themselves comes out column by column.
constexpr int kDrawsBeforePods = 1;
constexpr int kDrawsBeforeNodes = 10;

/// The places of a list of which some are struck out: finds the k-th that is left, in O(log n). Each node of the tree
/// (Fenwick's) counts what is left in the range that ends at it.
class PlacesLeft {
 public:
  explicit PlacesLeft(size_t count) : counts_(count + 1), left_(count), top_(std::bit_floor(count)) {
    for (size_t i = 1; i < counts_.size(); ++i) counts_[i] = static_cast<uint32_t>(i & (~i + 1));
  }

  size_t left() const { return left_; }
  /// Strikes out the place before which `k` are left, and returns it. Requires: k < left().
  size_t take(size_t k) {
    size_t at = 0;
    for (size_t step = top_; step > 0; step /= 2) {
      if (at + step >= counts_.size() || counts_[at + step] > k) continue;
      at += step;
      k -= counts_[at];
    }
    for (size_t i = at + 1; i < counts_.size(); i += i & (~i + 1)) --counts_[i];
    --left_;
    return at;
  }

 private:
  std::vector<uint32_t> counts_;
  size_t left_;
  size_t top_;
};

/// Takes random pods out of the list until it asks for no more than is wanted.
void thin_out(GoRandom& random, const std::vector<OpenbPod>& pods, double wanted_milli, int64_t requested,
              std::vector<uint32_t>& arrived) {
  constexpr uint32_t kTaken = std::numeric_limits<uint32_t>::max();
  PlacesLeft places(arrived.size());
  while (static_cast<double>(requested) > wanted_milli) {
    uint32_t& pod = arrived[places.take(static_cast<size_t>(random.below(static_cast<int32_t>(places.left()))))];
    requested -= pods[pod].request_milli();
    pod = kTaken;
  }
  std::erase(arrived, kTaken);
}

/// Step 2; `requested` is what `arrived` asks for.
Result<void> tune(GoRandom& random, const std::vector<OpenbPod>& pods, double wanted_milli,
                  std::vector<uint32_t>& arrived) {
  int64_t requested = 0;
  for (const OpenbPod& pod : pods) requested += pod.request_milli();
  const auto requested_after = [&](int64_t milli) { return static_cast<double>(requested + milli); };
  if (requested_after(0) > wanted_milli) {
    thin_out(random, pods, wanted_milli, requested, arrived);
    return {};
  }
  if (requested_after(0) == wanted_milli) return {};
  for (;;) {
    const auto drawn = static_cast<uint32_t>(random.below(static_cast<int32_t>(pods.size())));
    if (requested_after(pods[drawn].gpu_milli) > wanted_milli) return {};
    requested += pods[drawn].request_milli();
    arrived.push_back(drawn);
    if (arrived.size() > kArrivalsMax) {
      return fail(ErrorCode::kInvalidInput, fmt::format("more than {} pods would have to arrive to fill the cluster",
                                                        format_count(kArrivalsMax)));
    }
  }
}

}  // namespace

int64_t gpu_milli_of(const std::vector<OpenbNode>& nodes) {
  int64_t sum = 0;
  for (const OpenbNode& node : nodes) sum += 1000 * int64_t{node.gpus};
  return sum;
}

Result<Arrivals> make_arrivals(const std::vector<OpenbNode>& nodes, const std::vector<OpenbPod>& pods, int64_t seed,
                               double ratio) {
  int64_t requested = 0;
  for (const OpenbPod& pod : pods) requested += pod.request_milli();
  if (gpu_milli_of(nodes) == 0)
    return fail(ErrorCode::kInvalidInput, "no node of the list has a GPU: there is nothing to fill");
  if (requested == 0)
    return fail(ErrorCode::kInvalidInput, "no pod of the list asks for a GPU: the cluster would never be full");
  GoRandom random(seed);
  for (int i = 0; i < kDrawsBeforePods; ++i) random.next63();
  Arrivals arrivals;
  arrivals.pods.resize(pods.size());
  std::iota(arrivals.pods.begin(), arrivals.pods.end(), 0U);
  random.shuffle(arrivals.pods);
  const double wanted = ratio * static_cast<double>(gpu_milli_of(nodes));
  if (Result<void> tuned = tune(random, pods, wanted, arrivals.pods); !tuned) return std::unexpected(tuned.error());
  for (int i = 0; i < kDrawsBeforeNodes; ++i) random.next63();
  const std::vector<int32_t> places = random.permutation(static_cast<int32_t>(nodes.size()));
  arrivals.node_order.resize(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    arrivals.node_order[static_cast<size_t>(places[i])] = static_cast<uint32_t>(i);
  return arrivals;
}

}  // namespace weft::sim
