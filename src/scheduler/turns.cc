#include "scheduler/turns.h"

#include "base/check.h"
#include "scheduler/ceiling.h"
#include "scheduler/quota.h"

#include <algorithm>
#include <limits>

namespace weft {
namespace {

__extension__ using Wide = __int128;

constexpr int64_t kEndlessShare = std::numeric_limits<int64_t>::max() / 2;

/// part / whole in 2^-40; of a whole of nothing every part is endless.
int64_t part_of(int64_t part, int64_t whole) {
  if (part <= 0) return 0;
  if (whole <= 0) return kEndlessShare;
  return static_cast<int64_t>(std::min<Wide>((static_cast<Wide>(part) << 40) / whole, kEndlessShare));
}

/// The resource of which the amount is the largest part of the totals.
int64_t ResourceVector::* dominant(const ResourceVector& amount, const ResourceVector& totals) {
  int64_t ResourceVector::* best = &ResourceVector::gpu_units;
  for (const auto resource : {&ResourceVector::cpu_milli, &ResourceVector::memory_bytes}) {
    if (totals.*resource <= 0) continue;
    const bool is_more =
        totals.*best <= 0 || Wide{amount.*resource} * (totals.*best) > Wide{amount.*best} * (totals.*resource);
    if (is_more) best = resource;
  }
  return best;
}

}  // namespace

bool Turns::is_later_line(const LineTurn& a, const LineTurn& b) {
  return a.head != b.head ? b.head < a.head : b.role < a.role;
}

void Turns::begin(const ClusterState& state, const JobLines& lines, const JobOrder& jobs, const QueueOrder& queues,
                  const ShareMeasure& measure) {
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
  measure_ = measure;
}

QueueId Turns::parent_of(QueueId queue) const {
  return order_->scope() == QueueOrder::Scope::kLeaves ? kNone<QueueId> : state_->queues().parent[index(queue)];
}

HeadKey Turns::key_of(EntryId entry) const {
  const JobId job = lines_->job_of(entry);
  const JobTable& table = state_->jobs();
  const size_t j = index(job);
  const JobKey key{.job = job,
                   .shape = &state_->shapes()[table.shape[j]],
                   .user = table.user[j],
                   .submitted = table.submitted[j],
                   .estimate = table.estimate[j]};
  return {.rank = jobs_->rank(key), .submitted = key.submitted, .job = job};
}

/// What the first job of the line asks for, at least.
ResourceVector Turns::charge_of(LineId id) {
  if (measure_.basis == ShareBasis::kCluster) return {};
  const Line& line = (*lines_)[id];
  const Shape& shape = state_->shapes()[line.shape];
  fill_counts(shape, line.role, counts_);
  return Quota::least_charge(*state_, shape, counts_);
}

int64_t Turns::share_of(QueueId queue, const ResourceVector& charge) const {
  const QueueTable& table = state_->queues();
  const ResourceVector amount = table.usage[index(queue)] + charge;
  const auto resource = dominant(amount, measure_.totals);
  const int64_t of_cluster = part_of(amount.*resource, measure_.totals.*resource);
  if (measure_.basis == ShareBasis::kCluster) return of_cluster;
  const int64_t whole = measure_.basis == ShareBasis::kEntitlement ? measure_.shares->entitlement(queue).*resource
                                                                   : table.spec[index(queue)].weight_milli;
  // Those to whom nothing is due come after all others, by what they have.
  if (whole <= 0) return kEndlessShare + of_cluster;
  if (measure_.basis == ShareBasis::kEntitlement) return part_of(amount.*resource, whole);
  return static_cast<int64_t>(std::min<Wide>(Wide{of_cluster} * 1000 / whole, kEndlessShare));
}

Turns::ChildTurn Turns::turn_of(QueueId queue) const {
  const Node& node = nodes_[index(queue)];
  const bool is_leaf = !node.lines.empty();
  ChildTurn turn;
  turn.queue = queue;
  turn.priority = state_->queues().spec[index(queue)].priority;
  turn.head = is_leaf ? node.lines.front().head : node.children.front().head;
  turn.charge = is_leaf ? node.lines.front().charge : node.children.front().charge;
  turn.share = share_of(queue, turn.charge);
  return turn;
}

void Turns::add(LineId line) {
  const QueueId queue = (*lines_)[line].queue;
  Node& node = nodes_[index(queue)];
  if (node.lines.empty()) {
    used_.push_back(queue);
    unarranged_.push_back(queue);
  }
  const EntryId first = (*lines_)[line].first;
  node.lines.push_back(
      {.head = key_of(first), .role = (*lines_)[line].role, .line = line, .entry = first, .charge = charge_of(line)});
}

void Turns::arrange() {
  const auto goes_after = [this](const ChildTurn& a, const ChildTurn& b) { return order_->goes_before(b, a); };
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

const Turns::Node& Turns::next_node() const {
  const Node* node = &nodes_.back();
  while (!node->children.empty()) node = &nodes_[index(node->children.front().queue)];
  WEFT_CHECK(!node->lines.empty(), "a queue that has a turn has a line");
  return *node;
}

LineId Turns::next() const { return next_node().lines.front().line; }
JobId Turns::next_job() const { return lines_->job_of(next_node().lines.front().entry); }

void Turns::sift_down(std::vector<ChildTurn>& heap) const {
  const ChildTurn moving = heap.front();
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

void Turns::update(LineId line) { advance(line, (*lines_)[line].first); }

void Turns::advance(LineId line, EntryId entry) {
  const QueueId queue = (*lines_)[line].queue;
  std::vector<LineTurn>& heap = nodes_[index(queue)].lines;
  WEFT_CHECK(heap.front().line == line, "only the line that has its turn changes");
  std::ranges::pop_heap(heap, is_later_line);
  heap.back().head = key_of(entry);
  heap.back().entry = entry;
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
