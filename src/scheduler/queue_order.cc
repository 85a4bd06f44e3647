#include "scheduler/queue_order.h"

namespace weft {
namespace {

class ShareOrder final : public QueueOrder {
 public:
  Scope scope() const override { return Scope::kSiblings; }
  bool goes_before(const QueueTurn& a, const QueueTurn& b) const override {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.share != b.share) return a.share < b.share;
    return a.queue < b.queue;
  }
};

class HeadOrder final : public QueueOrder {
 public:
  Scope scope() const override { return Scope::kLeaves; }
  bool goes_before(const QueueTurn& a, const QueueTurn& b) const override {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.head != b.head) return a.head < b.head;
    return a.queue < b.queue;
  }
};

}  // namespace

std::unique_ptr<QueueOrder> make_share_order() { return std::make_unique<ShareOrder>(); }
std::unique_ptr<QueueOrder> make_head_order() { return std::make_unique<HeadOrder>(); }

}  // namespace weft
