#include "service/feed.h"

#include <utility>
#include <vector>

namespace weft::service {
namespace {

constexpr size_t kMessagesKept = 4096;

}  // namespace

uint64_t Feed::publish(std::string message) {
  messages_.push_back(std::move(message));
  if (messages_.size() > kMessagesKept) {
    messages_.pop_front();
    ++first_;
  }
  const uint64_t number = last();
  ring();
  return number;
}

void Feed::ring() {
  std::vector<uint64_t> due;
  due.reserve(listeners_.size());
  for (const auto& [subscription, listener] : listeners_) due.push_back(subscription);
  for (const uint64_t subscription : due) {
    const auto found = listeners_.find(subscription);
    if (found != listeners_.end()) found->second();
  }
}

uint64_t Feed::subscribe(Listener listener) {
  listeners_.emplace(next_subscription_, std::move(listener));
  return next_subscription_++;
}

void Feed::unsubscribe(uint64_t subscription) { listeners_.erase(subscription); }

}  // namespace weft::service
