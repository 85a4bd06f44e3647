#include "sim/report/node_timeline.h"

#include "sim/report/run_metrics.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::sim {

namespace {

constexpr uint32_t kHidden = std::numeric_limits<uint32_t>::max();

double area_of(const JobSpan& span) { return static_cast<double>(span.gpus) * in_seconds(span.to - span.from); }

/// By start, for lanes are given out in that order; total.
bool is_before(const JobSpan& a, const JobSpan& b) {
  if (a.node != b.node) return a.node < b.node;
  if (a.from != b.from) return a.from < b.from;
  return a.job != b.job ? a.job < b.job : a.to < b.to;
}

/// The most GPUs that were in use at one time: `spans` are all of one node's.
int32_t most_in_use(const std::vector<const JobSpan*>& spans) {
  std::vector<std::pair<Instant, int32_t>> changes;
  for (const JobSpan* span : spans) {
    changes.emplace_back(span->from, span->gpus);
    changes.emplace_back(span->to, -span->gpus);
  }
  std::ranges::sort(changes);  // at one instant what ends comes before what begins
  int32_t used = 0, most = 0;
  for (const auto& [at, change] : changes) {
    used += change;
    most = std::max(most, used);
  }
  return most;
}

/// The lanes of one node, each with the instant until which it is taken.
class Lanes {
 public:
  explicit Lanes(int32_t count) : until_(static_cast<size_t>(count), Instant{std::numeric_limits<int64_t>::min()}) {}

  /// Lanes for the span as (first, count): side by side where there is such a place, else the lowest that are free.
  std::vector<std::pair<int32_t, int32_t>> take(const JobSpan& span) {
    std::vector<std::pair<int32_t, int32_t>> free;
    for (size_t lane = 0; lane < until_.size(); ++lane) {
      if (until_[lane] > span.from) continue;
      const auto at = static_cast<int32_t>(lane);
      if (!free.empty() && free.back().first + free.back().second == at) {
        ++free.back().second;
      } else {
        free.emplace_back(at, 1);
      }
    }
    const auto whole = std::ranges::find_if(free, [&](const auto& run) { return run.second >= span.gpus; });
    if (whole != free.end()) free = {{whole->first, span.gpus}};
    int32_t wanted = span.gpus;
    std::vector<std::pair<int32_t, int32_t>> taken;
    for (const auto& [first, count] : free) {
      if (wanted == 0) break;
      const int32_t here = std::min(count, wanted);
      taken.emplace_back(first, here);
      wanted -= here;
      std::fill_n(until_.begin() + first, here, span.to);
    }
    return taken;
  }

 private:
  std::vector<Instant> until_;
};

struct Shown {
  std::vector<uint32_t> row_of_node;
  NodeTimeline timeline;
};

/// Which nodes are shown: evenly spread over all.
Shown choose_nodes(const RunOutcome& outcome, size_t limit) {
  const size_t nodes = outcome.nodes.size();
  Shown shown{.row_of_node = std::vector<uint32_t>(nodes, kHidden), .timeline = {.nodes = nodes}};
  const size_t rows = std::min(nodes, limit);
  for (size_t row = 0; row < rows; ++row) {
    const size_t node = row * nodes / rows;
    shown.row_of_node[node] = static_cast<uint32_t>(row);
    shown.timeline.rows.push_back({.name = outcome.nodes[node]});
  }
  return shown;
}

/// The spans with the largest area, in order.
void keep_largest(std::vector<const JobSpan*>& spans, size_t limit, NodeTimeline& timeline) {
  timeline.periods = spans.size();
  double area = 0, kept_area = 0;
  for (const JobSpan* span : spans) area += area_of(*span);
  if (spans.size() > limit) {
    const auto middle = spans.begin() + static_cast<std::ptrdiff_t>(limit);
    std::ranges::nth_element(spans, middle, [](const JobSpan* a, const JobSpan* b) {
      const double area_a = area_of(*a), area_b = area_of(*b);
      return area_a != area_b ? area_a > area_b : is_before(*a, *b);
    });
    spans.erase(middle, spans.end());
  }
  for (const JobSpan* span : spans) kept_area += area_of(*span);
  timeline.periods_left_out = timeline.periods - spans.size();
  timeline.left_out_share = timeline.periods_left_out > 0 && area > 0 ? std::max(0.0, 1 - kept_area / area) : 0;
  std::ranges::sort(spans, [](const JobSpan* a, const JobSpan* b) { return is_before(*a, *b); });
}

}  // namespace

NodeTimeline draw_node_timeline(const RunOutcome& outcome, Instant epoch, const PictureLimits& limits) {
  if (outcome.spans.empty()) return {};
  Shown shown = choose_nodes(outcome, limits.nodes);
  NodeTimeline& timeline = shown.timeline;
  std::vector<std::vector<const JobSpan*>> by_row(timeline.rows.size());
  std::vector<const JobSpan*> spans;
  for (const JobSpan& span : outcome.spans) {
    const uint32_t row = shown.row_of_node[span.node];
    if (row == kHidden || span.gpus <= 0 || span.to <= span.from) continue;
    spans.push_back(&span);
    by_row[row].push_back(&span);
  }
  std::vector<Lanes> lanes;
  for (size_t row = 0; row < timeline.rows.size(); ++row) {
    timeline.rows[row].lanes = most_in_use(by_row[row]);
    lanes.emplace_back(timeline.rows[row].lanes);
  }
  keep_largest(spans, limits.bars, timeline);
  for (const JobSpan* span : spans) {
    const uint32_t row = shown.row_of_node[span->node];
    for (const auto& [first, count] : lanes[row].take(*span)) {
      timeline.bars.push_back({.row = row,
                               .lane = first,
                               .lanes = count,
                               .from = in_seconds(span->from - epoch),
                               .to = in_seconds(span->to - epoch),
                               .size_class = static_cast<uint8_t>(size_class(outcome.jobs[span->job].gpus))});
    }
  }
  return std::move(timeline);
}

}  // namespace weft::sim
