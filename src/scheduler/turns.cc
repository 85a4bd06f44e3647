#include "scheduler/turns.h"

#include "base/check.h"

#include <algorithm>

namespace weft {
namespace {

__extension__ using Wide = __int128;

/// part / whole in 2^-40; a whole of nothing has no share.
int64_t share_of(int64_t part, int64_t whole) {
  if (whole <= 0 || part <= 0) return 0;
  return static_cast<int64_t>((static_cast<Wide>(part) << 40) / whole);
}

}  // namespace

bool Turns::is_later_line(const LineTurn& a, const LineTurn& b) {
  return a.head != b.head ? b.head < a.head : b.role < a.role;
}

void Turns::begin(const ClusterState& state, const JobLines& lines, const JobOrder& jobs, const QueueOrder& queues,
                  const ResourceVector& totals) {
  state_ = &state;
  lines_ = &lines;
  jobs_ = &jobs;
  order_ = &queues;
  for (const QueueId queue : used_) {
    nodes_[index(queue)].lines.clear();
    nodes_[index(queue)].children.clear();
  }
  used_.clear();
  if (!nodes_.empty()) nodes_.back().children.clear();
  if (nodes_.size() != state.queues().size() + 1) nodes_.resize(state.queues().size() + 1);
  totals_ = totals;
}

QueueId Turns::parent_of(QueueId queue) const {
  return order_->scope() == QueueOrder::Scope::kLeaves ? kNone<QueueId> : state_->queues().parent[index(queue)];
}

HeadKey Turns::key_of(LineId line) const {
  const JobId job = lines_->head(line);
  const JobTable& table = state_->jobs();
  const size_t j = index(job);
  const JobKey key{.job = job,
                   .shape = &state_->shapes()[table.shape[j]],
                   .user = table.user[j],
                   .submitted = table.submitted[j],
                   .estimate = table.estimate[j]};
  return {.rank = jobs_->rank(key), .submitted = key.submitted, .job = job};
}

QueueTurn Turns::turn_of(QueueId queue) const {
  const Node& node = nodes_[index(queue)];
  const QueueTable& table = state_->queues();
  const ResourceVector& usage = table.usage[index(queue)];
  const int64_t share =
      std::max({share_of(usage.gpu_units, totals_.gpu_units), share_of(usage.cpu_milli, totals_.cpu_milli),
                share_of(usage.memory_bytes, totals_.memory_bytes)});
  const HeadKey head = !node.lines.empty() ? node.lines.front().head : node.children.front().head;
  return {.queue = queue, .priority = table.spec[index(queue)].priority, .share = share, .head = head};
}

void Turns::add(LineId line) {
  const QueueId queue = (*lines_)[line].queue;
  Node& node = nodes_[index(queue)];
  if (node.lines.empty()) {
    used_.push_back(queue);
    unarranged_.push_back(queue);
  }
  node.lines.push_back({.head = key_of(line), .role = (*lines_)[line].role, .line = line});
}

void Turns::arrange() {
  const auto goes_after = [this](const QueueTurn& a, const QueueTurn& b) { return order_->goes_before(b, a); };
  std::ranges::make_heap(unarranged_);
  while (!unarranged_.empty()) {
    std::ranges::pop_heap(unarranged_);
    const QueueId queue = unarranged_.back();
    unarranged_.pop_back();
    Node& node = nodes_[index(queue)];
    std::ranges::make_heap(node.lines, is_later_line);
    std::ranges::make_heap(node.children, goes_after);
    const QueueId parent_id = parent_of(queue);
    Node& parent = nodes_[slot(parent_id)];
    if (is_set(parent_id) && !has_turn(parent)) {
      used_.push_back(parent_id);
      unarranged_.push_back(parent_id);
      std::ranges::push_heap(unarranged_);
    }
    parent.children.push_back(turn_of(queue));
  }
  std::ranges::make_heap(nodes_.back().children, goes_after);
}

LineId Turns::next() const {
  const Node* node = &nodes_.back();
  while (!node->children.empty()) node = &nodes_[index(node->children.front().queue)];
  WEFT_CHECK(!node->lines.empty(), "a queue that has a turn has a line");
  return node->lines.front().line;
}

void Turns::sift_down(std::vector<QueueTurn>& heap) const {
  const QueueTurn moving = heap.front();
  size_t at = 0;
  for (size_t child = 1; child < heap.size(); child = 2 * at + 1) {
    if (child + 1 < heap.size() && order_->goes_before(heap[child + 1], heap[child])) ++child;
    if (!order_->goes_before(heap[child], moving)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moving;
}

void Turns::refresh_path(QueueId queue) {
  for (; is_set(queue); queue = parent_of(queue)) {
    Node& parent = nodes_[slot(parent_of(queue))];
    WEFT_CHECK(parent.children.front().queue == queue, "only the queue that has its turn changes");
    if (!has_turn(nodes_[index(queue)])) {
      parent.children.front() = parent.children.back();
      parent.children.pop_back();
      if (parent.children.empty()) continue;
    } else {
      parent.children.front() = turn_of(queue);
    }
    sift_down(parent.children);
  }
}

void Turns::update(LineId line) {
  const QueueId queue = (*lines_)[line].queue;
  std::vector<LineTurn>& heap = nodes_[index(queue)].lines;
  WEFT_CHECK(heap.front().line == line, "only the line that has its turn changes");
  std::ranges::pop_heap(heap, is_later_line);
  heap.back().head = key_of(line);
  std::ranges::push_heap(heap, is_later_line);
  refresh_path(queue);
}

void Turns::remove(LineId line) {
  const QueueId queue = (*lines_)[line].queue;
  std::vector<LineTurn>& heap = nodes_[index(queue)].lines;
  WEFT_CHECK(heap.front().line == line, "only the line that has its turn leaves");
  std::ranges::pop_heap(heap, is_later_line);
  heap.pop_back();
  refresh_path(queue);
}

}  // namespace weft
