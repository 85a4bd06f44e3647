#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

namespace weft::service {

/// The news of a server: numbered messages, of which the last ones are kept, and a bell for whoever waits for something
/// to happen. One thread. Listeners are called in the order of their subscription; they may subscribe and unsubscribe
/// while they are called.
class Feed {
 public:
  using Listener = std::function<void()>;

  /// Numbers the message, from 1, and rings.
  uint64_t publish(std::string message);
  void ring();

  /// The number of the latest message, 0 before the first.
  uint64_t last() const { return first_ + messages_.size() - 1; }
  /// The oldest number that is still kept.
  uint64_t oldest() const { return first_; }
  /// Requires: oldest() <= number <= last().
  const std::string& message(uint64_t number) const { return messages_[number - first_]; }

  uint64_t subscribe(Listener listener);
  void unsubscribe(uint64_t subscription);

 private:
  std::deque<std::string> messages_;
  uint64_t first_ = 1;
  std::map<uint64_t, Listener> listeners_;
  uint64_t next_subscription_ = 1;
};

}  // namespace weft::service
