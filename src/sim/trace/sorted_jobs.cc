#include "sim/trace/sorted_jobs.h"

#include "sim/trace/job_pack.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace weft::sim {

void SortedJobs::add(const TraceJob& job) {
  constexpr size_t kBlock = size_t{1} << 20;
  const size_t bytes_max = packed_bytes_max(job);
  if (block_bytes_ - used_ < bytes_max) {
    block_bytes_ = std::max(kBlock, bytes_max);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_bytes_));
    used_ = 0;
  }
  char* const start = blocks_.back().get() + used_;
  order_.push_back({.submit_ns = job.submit.ns,
                    .block = static_cast<uint32_t>(blocks_.size() - 1),
                    .offset = static_cast<uint32_t>(used_)});
  used_ += static_cast<size_t>(pack(job, start) - start);
}

void SortedJobs::sort() {
  if (std::ranges::is_sorted(order_, {}, &Entry::submit_ns)) return;
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t first = std::ranges::min(order_, {}, &Entry::submit_ns).submit_ns;
  const bool are_seconds =
      std::ranges::all_of(order_, [&](const Entry& entry) { return (entry.submit_ns - first) % kSecond == 0; });
  sort_by_digits(are_seconds ? kSecond : 1);
}

/// Digit by digit from the last to the first; entries alike in a digit keep their order, and so in the end those of one
/// instant do. Cost: O(entries) for each digit, of which times in seconds have three.
void SortedJobs::sort_by_digits(int64_t unit) {
  constexpr unsigned kBits = 8;  // more would scatter over more memory than a cache holds
  constexpr size_t kDigits = size_t{1} << kBits;
  const auto [low, high] = std::ranges::minmax(order_, {}, &Entry::submit_ns);
  const int64_t first = low.submit_ns;
  const auto range = static_cast<uint64_t>((high.submit_ns - first) / unit);
  const std::span<Entry> all = order_;
  const auto buffer = std::make_unique_for_overwrite<Entry[]>(all.size());
  std::span<Entry> from = all;
  std::span<Entry> to(buffer.get(), all.size());
  for (Entry& entry : from) entry.submit_ns = (entry.submit_ns - first) / unit;
  for (unsigned shift = 0; shift < 64 && (range >> shift) != 0; shift += kBits) {
    const auto digit = [&](const Entry& entry) {
      return (static_cast<uint64_t>(entry.submit_ns) >> shift) & (kDigits - 1);
    };
    std::array<size_t, kDigits + 1> starts{};
    for (const Entry& entry : from) ++starts[digit(entry) + 1];
    for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    for (const Entry& entry : from) to[starts[digit(entry)]++] = entry;
    std::swap(from, to);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = from[i];
    all[i].submit_ns = all[i].submit_ns * unit + first;
  }
}

bool SortedJobs::next(TraceJob& job) {
  if (given_ == order_.size()) return false;
  // Where jobs came in no order they lie scattered over memory: the processor is told of those to come.
  constexpr size_t kAhead = 12;
  if (given_ + kAhead < order_.size()) {
    const Entry& ahead = order_[given_ + kAhead];
    __builtin_prefetch(blocks_[ahead.block].get() + ahead.offset);
  }
  const Entry& entry = order_[given_++];
  unpack(blocks_[entry.block].get() + entry.offset, job);
  return true;
}

}  // namespace weft::sim
