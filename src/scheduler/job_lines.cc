#include "scheduler/job_lines.h"

#include "base/check.h"
#include "base/hash.h"

#include <fmt/format.h>

namespace weft {
namespace {

// The shape of a treap follows from its entries' weights alone, and those from the row: the same on every machine.
uint64_t weight(EntryId id) { return mix64(index(id)); }

}  // namespace

LineId JobLines::new_line() {
  if (free_lines_.empty()) {
    lines_.emplace_back();
    return make_id<LineId>(lines_.size() - 1);
  }
  const LineId id = free_lines_.back();
  free_lines_.pop_back();
  lines_[index(id)] = Line{};
  return id;
}

LineId JobLines::line_of_shape(ShapeId shape, QueueId queue, int32_t role) {
  if (index(shape) >= lines_of_shape_.size()) lines_of_shape_.resize(index(shape) + 1);
  std::vector<LineId>& of_shape = lines_of_shape_[index(shape)];
  const auto slot = static_cast<size_t>(role + 1);
  if (slot >= of_shape.size()) of_shape.resize(slot + 1, kNone<LineId>);
  if (!is_set(of_shape[slot])) {
    of_shape[slot] = new_line();
    Line& line = lines_[index(of_shape[slot])];
    line.shape = shape;
    line.queue = queue;
    line.role = role;
  }
  return of_shape[slot];
}

LineId JobLines::open_own_line(JobId owner, Line like) {
  const LineId id = new_line();
  Line& line = lines_[index(id)];
  line.shape = like.shape;
  line.queue = like.queue;
  line.role = like.role;
  line.owner = owner;
  return id;
}

JobLines::JobLines() : sleepers_(kMasks) { sleeping_masks_.resize(kMasks); }

bool JobLines::is_before(EntryId a, EntryId b) const {
  const Entry& x = at(a);
  const Entry& y = at(b);
  return x.key != y.key ? x.key < y.key : x.job < y.job;
}

void JobLines::replace_child(Line& line, EntryId parent, EntryId old_child, EntryId new_child) {
  if (!is_set(parent)) {
    line.root = new_child;
  } else if (at(parent).left == old_child) {
    at(parent).left = new_child;
  } else {
    at(parent).right = new_child;
  }
  if (is_set(new_child)) at(new_child).parent = parent;
}

void JobLines::rotate_up(Line& line, EntryId child) {
  const EntryId parent = at(child).parent;
  replace_child(line, at(parent).parent, parent, child);
  const bool is_left = at(parent).left == child;
  const EntryId inner = is_left ? at(child).right : at(child).left;
  (is_left ? at(parent).left : at(parent).right) = inner;
  if (is_set(inner)) at(inner).parent = parent;
  (is_left ? at(child).right : at(child).left) = parent;
  at(parent).parent = child;
}

void JobLines::insert(Line& line, EntryId entry) {
  if (!is_set(line.root)) {
    line.root = line.first = line.last = entry;
    return;
  }
  EntryId parent = line.last;  // most jobs join at the end
  if (is_before(entry, parent)) {
    EntryId next = line.root;
    while (is_set(next)) {
      parent = next;
      next = is_before(entry, parent) ? at(parent).left : at(parent).right;
    }
  }
  const bool is_left = is_before(entry, parent);
  (is_left ? at(parent).left : at(parent).right) = entry;
  at(entry).parent = parent;
  if (is_left && parent == line.first) line.first = entry;
  if (!is_left && parent == line.last) line.last = entry;
  while (is_set(at(entry).parent) && weight(entry) < weight(at(entry).parent)) rotate_up(line, entry);
}

EntryId JobLines::next_in_line(EntryId entry) const {
  if (EntryId e = at(entry).right; is_set(e)) {
    while (is_set(at(e).left)) e = at(e).left;
    return e;
  }
  while (is_set(at(entry).parent) && at(at(entry).parent).right == entry) entry = at(entry).parent;
  return at(entry).parent;
}

EntryId JobLines::previous_in_line(EntryId entry) const {
  if (EntryId e = at(entry).left; is_set(e)) {
    while (is_set(at(e).right)) e = at(e).right;
    return e;
  }
  while (is_set(at(entry).parent) && at(at(entry).parent).left == entry) entry = at(entry).parent;
  return at(entry).parent;
}

void JobLines::erase(Line& line, EntryId entry) {
  if (line.first == entry) line.first = next_in_line(entry);
  if (line.last == entry) line.last = previous_in_line(entry);
  while (is_set(at(entry).left) && is_set(at(entry).right)) {
    rotate_up(line, weight(at(entry).left) < weight(at(entry).right) ? at(entry).left : at(entry).right);
  }
  const EntryId child = is_set(at(entry).left) ? at(entry).left : at(entry).right;
  replace_child(line, at(entry).parent, entry, child);
}

void JobLines::join(JobId job, LineKey key, LineId line_id) {
  if (free_entries_.empty()) {
    free_entries_.push_back(make_id<EntryId>(entries_.size()));
    entries_.emplace_back();
    free_entries_.reserve(entries_.capacity());
  }
  const EntryId id = free_entries_.back();
  free_entries_.pop_back();
  at(id) = {.job = job, .line = line_id, .key = key, .next_of_job = first_entry_[index(job)]};
  first_entry_[index(job)] = id;
  Line& line = lines_[index(line_id)];
  insert(line, id);
  ++line.size;
  if (line.state == Line::State::kIdle) wake(line_id);
}

void JobLines::leave(JobId job, EntryId entry) {
  const LineId line_id = at(entry).line;
  Line& line = lines_[index(line_id)];
  erase(line, entry);
  --line.size;
  EntryId* link = &first_entry_[index(job)];
  while (*link != entry) link = &at(*link).next_of_job;
  *link = at(entry).next_of_job;
  free_entries_.push_back(entry);
  if (line.size > 0) return;
  unlist(line_id);
  line.state = Line::State::kIdle;
  line.is_retry = 0;
  if (is_set(line.owner)) given_up_.push_back(line_id);
}

void JobLines::leave_all(JobId job) {
  while (is_set(first_entry_[index(job)])) leave(job, first_entry_[index(job)]);
}

EntryId JobLines::find(JobId job, int32_t role) const {
  EntryId entry = first_entry_[index(job)];
  while (is_set(entry) && lines_[index(at(entry).line)].role != role) entry = at(entry).next_of_job;
  return entry;
}

std::vector<LineId>& JobLines::list_of(const Line& line) {
  return line.state == Line::State::kAwake ? awake_ : sleepers_[mask_of(line)];
}

void JobLines::unlist(LineId id) {
  Line& line = lines_[index(id)];
  if (line.state == Line::State::kIdle) return;
  std::vector<LineId>& list = list_of(line);
  const LineId moved = list.back();
  list[line.list_position] = moved;
  lines_[index(moved)].list_position = line.list_position;
  list.pop_back();
  if (line.state == Line::State::kAsleep && list.empty()) sleeping_masks_.reset(mask_of(line));
}

void JobLines::recycle() {
  free_lines_.insert(free_lines_.end(), given_up_.begin(), given_up_.end());
  given_up_.clear();
}

void JobLines::forget_retries() {
  for (const LineId id : awake_) lines_[index(id)].is_retry = 0;
}

void JobLines::wake(LineId id) {
  Line& line = lines_[index(id)];
  line.is_retry = 0;
  if (line.state == Line::State::kAwake) return;
  unlist(id);
  line.state = Line::State::kAwake;
  line.list_position = static_cast<uint32_t>(awake_.size());
  awake_.push_back(id);
}

void JobLines::sleep(LineId id, const Verdict& verdict) {
  Line& line = lines_[index(id)];
  WEFT_CHECK(line.size > 0, "nobody can be refused in an empty line");
  unlist(id);
  line.state = Line::State::kAsleep;
  line.is_retry = 0;
  line.verdict = verdict;
  std::vector<LineId>& list = list_of(line);
  line.list_position = static_cast<uint32_t>(list.size());
  list.push_back(id);
  sleeping_masks_.set(mask_of(line));
}

std::vector<std::string> JobLines::audit() const {
  std::vector<std::string> faults;
  size_t awake = 0;
  for (size_t i = 0; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    uint32_t size = 0;
    EntryId last = kNone<EntryId>;
    for (EntryId e = line.first; is_set(e) && size <= line.size; e = next_in_line(e), ++size) {
      if (is_set(last) && !is_before(last, e)) faults.push_back(fmt::format("line {}: jobs out of order", i));
      if (at(e).line != make_id<LineId>(i)) faults.push_back(fmt::format("line {}: an entry of another line", i));
      if (is_set(at(e).parent) && weight(e) < weight(at(e).parent))
        faults.push_back(fmt::format("line {}: no heap", i));
      last = e;
    }
    if (size != line.size || last != line.last)
      faults.push_back(fmt::format("line {}: {} jobs, counted {}", i, line.size, size));
    if ((line.size == 0) != (line.state == Line::State::kIdle))
      faults.push_back(fmt::format("line {}: wrong state", i));
    if (line.state == Line::State::kIdle) continue;
    const auto& list = line.state == Line::State::kAwake ? awake_ : sleepers_[mask_of(line)];
    if (line.list_position >= list.size() || list[line.list_position] != make_id<LineId>(i)) {
      faults.push_back(fmt::format("line {}: not in its list", i));
    }
    awake += line.state == Line::State::kAwake ? 1 : 0;
  }
  for (size_t mask = 0; mask < kMasks; ++mask) {
    if (sleeping_masks_.test(mask) == sleepers_[mask].empty())
      faults.push_back(fmt::format("mask {}: {} sleepers, marked otherwise", mask, sleepers_[mask].size()));
  }
  if (awake != awake_.size()) faults.push_back(fmt::format("{} lines are awake, {} are listed", awake, awake_.size()));
  return faults;
}

}  // namespace weft
