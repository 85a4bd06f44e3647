#include "scheduler/attempts.h"

#include "base/check.h"
#include "base/hash.h"

#include <utility>

namespace weft {

size_t AttemptTable::home_of(JobId job, uint32_t number) const {
  return mix64(uint64_t{index(job)} << 32 | number) & (slots_.size() - 1);
}

void AttemptTable::grow() {
  const std::vector<AttemptId> old = std::exchange(slots_, {});
  slots_.resize(old.empty() ? 64 : old.size() * 2, kNone<AttemptId>);
  for (const AttemptId id : old) {
    if (!is_set(id)) continue;
    size_t slot = home_of(rows_[index(id)].job, rows_[index(id)].number);
    while (is_set(slots_[slot])) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = id;
  }
}

void AttemptTable::link(AttemptId id) {
  Attempt& row = rows_[index(id)];
  Ends& ends = ends_[index(row.job)];
  row.previous = ends.last;
  row.next = kNone<AttemptId>;
  (is_set(ends.last) ? rows_[index(ends.last)].next : ends.first) = id;
  ends.last = id;
}

void AttemptTable::unlink(AttemptId id) {
  const Attempt& row = rows_[index(id)];
  Ends& ends = ends_[index(row.job)];
  (is_set(row.previous) ? rows_[index(row.previous)].next : ends.first) = row.next;
  (is_set(row.next) ? rows_[index(row.next)].previous : ends.last) = row.previous;
}

AttemptId AttemptTable::add(JobId job, uint32_t number, int32_t only_task, uint32_t live) {
  if ((size_ + 1) * 2 > slots_.size()) grow();
  if (free_rows_.empty()) {
    free_rows_.push_back(make_id<AttemptId>(rows_.size()));
    rows_.emplace_back();
    free_rows_.reserve(rows_.capacity());
  }
  const AttemptId id = free_rows_.back();
  free_rows_.pop_back();
  rows_[index(id)] = {.job = job, .number = number, .only_task = only_task, .live = live};
  link(id);
  size_t slot = home_of(job, number);
  while (is_set(slots_[slot])) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = id;
  ++size_;
  return id;
}

AttemptId AttemptTable::find(JobId job, uint32_t number) const {
  if (slots_.empty()) return kNone<AttemptId>;
  for (size_t slot = home_of(job, number); is_set(slots_[slot]); slot = (slot + 1) & (slots_.size() - 1)) {
    const Attempt& row = rows_[index(slots_[slot])];
    if (row.job == job && row.number == number) return slots_[slot];
  }
  return kNone<AttemptId>;
}

void AttemptTable::remove(AttemptId id) {
  const size_t last = slots_.size() - 1;
  size_t hole = home_of(rows_[index(id)].job, rows_[index(id)].number);
  while (slots_[hole] != id) {
    WEFT_CHECK(is_set(slots_[hole]), "an attempt that is removed is in the table");
    hole = (hole + 1) & last;
  }
  // Close the gap: whoever stands behind it and could stand in it moves up, so that no tombstones are needed.
  for (size_t slot = (hole + 1) & last; is_set(slots_[slot]); slot = (slot + 1) & last) {
    const size_t home = home_of(rows_[index(slots_[slot])].job, rows_[index(slots_[slot])].number);
    if (((slot - home) & last) >= ((slot - hole) & last)) {
      slots_[hole] = slots_[slot];
      hole = slot;
    }
  }
  slots_[hole] = kNone<AttemptId>;
  unlink(id);
  free_rows_.push_back(id);
  --size_;
}

}  // namespace weft
