#include "sim/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::sim {

size_t run_side_by_side(size_t count, size_t threads, const std::function<bool(size_t)>& work,
                        const std::function<void(size_t, size_t)>& report) {
  std::atomic<size_t> next = 0;
  std::atomic<size_t> first_failed = count;
  std::mutex reporting;
  size_t done = 0;
  const auto take_turns = [&] {
    for (size_t i = next++; i < count && i < first_failed; i = next++) {
      const bool is_good = work(i);
      const std::lock_guard lock(reporting);
      if (!is_good) first_failed = std::min<size_t>(first_failed, i);
      report(++done, count);
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t t = 1; t < std::min(threads, count); ++t) others.emplace_back(take_turns);
    take_turns();
  }
  return first_failed;  // whatever stands before it was taken up before it, so it has ended well
}

}  // namespace weft::sim
