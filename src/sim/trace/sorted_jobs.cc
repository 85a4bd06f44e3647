#include "sim/trace/sorted_jobs.h"

#include "sim/trace/job_pack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>
#include <utility>

namespace weft::sim {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr unsigned kKeyBits = 64;
/// A place is the number of a block and, in so many bits, where in it a job starts. Those that came later have larger
/// ones.
constexpr unsigned kStartBits = 20;
constexpr size_t kBlockBytes = size_t{1} << kStartBits;

}  // namespace

void SortedJobs::add(const TraceJob& job) {
  constexpr size_t kUsualBytes = 32;
  const size_t bytes_max = packed_bytes_max(job);
  if (room_ < bytes_max) {
    Block& block = blocks_.emplace_back(std::make_unique_for_overwrite<char[]>(std::max(kBlockBytes, bytes_max)));
    block.starts.reserve(kBlockBytes / kUsualBytes);
    used_ = 0;
    room_ = kBlockBytes;
  }
  Block& block = blocks_.back();
  char* const start = block.bytes.get() + used_;
  const auto bytes = static_cast<size_t>(pack(job, start) - start);
  block.starts.push_back(static_cast<uint32_t>(used_));
  used_ += bytes;
  room_ -= std::min(room_, bytes);
  ++size_;
  note_submit(job.submit.ns);
}

void SortedJobs::note_submit(int64_t submit_ns) {
  if (size_ == 1) first_ns_ = last_ns_ = submit_ns;
  const int64_t since_last = submit_ns - last_ns_;
  if (since_last % kSecond != 0) [[unlikely]] {
    while (since_last % unit_ns_ != 0) unit_ns_ /= 1000;
  }
  if (since_last < 0) is_in_order_ = 0;
  first_ns_ = std::min(first_ns_, submit_ns);
  last_ns_ = std::max(last_ns_, submit_ns);
}

template <typename Visit>
void SortedJobs::for_each_place(Visit&& visit) const {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const char* const bytes = blocks_[b].bytes.get();
    for (const uint32_t start : blocks_[b].starts) visit(b << kStartBits | start, packed_submit(bytes + start).ns);
  }
}

void SortedJobs::sort() {
  keys_.reserve(size_);
  const auto units = static_cast<uint64_t>((last_ns_ - first_ns_) / unit_ns_);
  const auto time_bits = is_in_order_ != 0 ? 0U : static_cast<unsigned>(std::bit_width(units));
  place_bits_ = static_cast<unsigned>(std::bit_width(blocks_.size())) + kStartBits;
  if (time_bits + place_bits_ <= kKeyBits) {
    sort_by_digits(time_bits);
  } else {
    sort_by_comparing();
  }
  for (Block& block : blocks_) std::exchange(block.starts, {});
}

/// Digit by digit from the last to the first; keys alike in a digit keep their order, and so in the end those of one
/// instant do. Cost: O(jobs) for each digit, of which times in seconds have three.
void SortedJobs::sort_by_digits(unsigned time_bits) {
  constexpr unsigned kBits = 8;  // more would scatter over more memory than a cache holds
  constexpr size_t kDigits = size_t{1} << kBits;
  for_each_place([&](uint64_t place, int64_t submit_ns) {
    const int64_t since = submit_ns - first_ns_;
    const int64_t units = unit_ns_ == kSecond ? since / kSecond : since / unit_ns_;
    keys_.push_back(time_bits == 0 ? place : static_cast<uint64_t>(units) << place_bits_ | place);
  });
  if (time_bits == 0) return;
  std::vector<uint64_t> to(keys_.size());
  for (unsigned shift = place_bits_; shift < place_bits_ + time_bits; shift += kBits) {
    const auto digit = [&](uint64_t key) { return (key >> shift) & (kDigits - 1); };
    std::array<size_t, kDigits + 1> starts{};
    for (const uint64_t key : keys_) ++starts[digit(key) + 1];
    for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    for (const uint64_t key : keys_) to[starts[digit(key)]++] = key;
    std::swap(keys_, to);
  }
}

/// Where a submission and a place do not fit into a key: nanoseconds of a long trace.
void SortedJobs::sort_by_comparing() {
  std::vector<std::pair<int64_t, uint64_t>> order;
  order.reserve(size_);
  for_each_place([&](uint64_t place, int64_t submit_ns) { order.emplace_back(submit_ns, place); });
  std::ranges::sort(order);
  for (const auto& [submit_ns, place] : order) keys_.push_back(place);
}

/// The job that next() gives as number `i`.
const char* SortedJobs::packed(size_t i) const {
  const uint64_t place = keys_[i] & ((uint64_t{1} << place_bits_) - 1);
  return blocks_[place >> kStartBits].bytes.get() + (place & (kBlockBytes - 1));
}

bool SortedJobs::next(TraceJob& job) {
  if (given_ == size_) return false;
  // Where jobs came in no order they lie scattered over memory: the processor is told of those to come.
  constexpr size_t kAhead = 24;
  if (given_ + kAhead < size_) __builtin_prefetch(packed(given_ + kAhead));
  unpack(packed(given_++), job);
  return true;
}

}  // namespace weft::sim
