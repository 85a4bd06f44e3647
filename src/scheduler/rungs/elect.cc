#include "scheduler/rungs/elect.h"

#include "base/check.h"

#include <algorithm>
#include <limits>

namespace weft {

ElectRung::ElectRung(Core& core, Lifecycle& lifecycle)
    : core_(core), lifecycle_(lifecycle), order_(*core.parts.job_order) {}

void ElectRung::run() {
  for (const JobId job : core_.elect.adopted) {
    runners_.push_back(runner_of({.turn = core_.line_key(job).turn, .job = job}, need_of(job)));
    next_look_ = std::min(next_look_, runners_.back().look);
  }
  core_.elect.adopted.clear();
  if (core_.elect.is_due != 0) elect();
  place_chosen();
  // Who was stopped has come to wait since the election, and is to be told why.
  while (chosen_.empty() && !core_.lines.awake().empty()) {
    const LineId line = core_.lines.awake().front();
    core_.lines.sleep(line,
                      short_of(core_.state.capacity().free_devices(DomainId{0}), need_of(core_.lines.head(line))));
  }
}

void ElectRung::elect() {
  core_.elect.is_due = 0;
  chosen_.clear();
  planned_.clear();
  planned_roles_.clear();
  has_losers_ = 0;
  if (has_absent_ != 0) forget_absent();
  has_absent_ = 0;
  see_waiters();
  if (!is_calm() || !(are_waiters_counted() ? add_all_by_count() : add_all_by_placement())) {
    see_runners();
    if (!waiters_.empty()) is_counting() ? choose_by_count() : choose_by_placement();
    settle();
    seen_ = runners_.size();
  }
  WEFT_DCHECK(is_everybody_once(), "nobody stands among those who run twice");
  core_.elect.look = look();
  core_.elect.has_returned = 0;
  ++core_.elect.round;
  core_.elect.arrivals = 0;
}

bool ElectRung::is_everybody_once() const {
  std::vector<JobId> jobs;
  for (const Runner& runner : runners_) jobs.push_back(runner.place.job);
  std::ranges::sort(jobs);
  return std::ranges::adjacent_find(jobs) == jobs.end();
}

/// Everybody who waits fits into what is free, so that nobody who runs is in question and none of them need be looked
/// at: their order follows from what they are when it is needed next. (But levels must be seen when they change, those
/// that have gone must leave the list at times, and those that come back before they are in it twice.)
bool ElectRung::is_calm() const {
  return core_.config().elect_places == ElectPlaces::kKept && !order_.renews_looks() &&
         (!order_.has_levels() || next_look_ > core_.now) && core_.elect.has_returned == 0 &&
         runners_.size() < 2 * seen_ + kRunnersUnseen;
}

/// When runners are to be looked at again though nothing happens. Where only ranks change nobody's turn can come while
/// nobody waits.
Instant ElectRung::look() const { return order_.has_levels() || has_losers_ != 0 ? next_look_ : kNever; }

bool ElectRung::add_all_by_count() {
  int64_t needed = 0;
  for (const Waiter& waiter : waiters_) {
    needed += waiter.need * core_.lines[waiter.line].size;
  }
  if (needed > core_.state.capacity().free_devices(DomainId{0})) return false;
  while (Waiter* waiter = first_waiter()) {
    chosen_.push_back({.place = waiter->place, .need = waiter->need});
    advance(*waiter);
  }
  add_chosen();
  return true;
}

/// Those chosen come to the runners, behind the others for now.
void ElectRung::add_chosen() {
  for (const Chosen& chosen : chosen_) {
    runners_.push_back(runner_of(chosen.place, chosen.need));
    // A tie with one who runs is settled as at this moment: who waited already goes before it.
    if (order_.ties() == JobOrder::Ties::kWaitingFirst && chosen.place.phase == 0) runners_.back().place.phase = 0;
    next_look_ = std::min(next_look_, runners_.back().look);
  }
}

/// `place` as it was when it waited.
ElectRung::Runner ElectRung::runner_of(Place place, int64_t need) const {
  const JobKey key = core_.job_key(place.job);
  place.rank = running_rank(key);
  place.phase = order_.ties() == JobOrder::Ties::kWaitingFirst ? 1 : 0;
  Runner runner{.place = place, .need = need, .fall = order_.fall(key)};
  note_look(runner, key);
  return runner;
}

void ElectRung::note_look(Runner& runner, const JobKey& key) const {
  runner.look = order_.next_look(key, core_.now);
  // Who has had enough to sink again does so at the next election, whenever that is: one level at a time.
  runner.is_steady = order_.is_steady_until_look(key) && !order_.sinks(key) ? 1 : 0;
}

int64_t ElectRung::need_of(JobId job) const {
  int64_t need = 0;
  for (const RoleShape& role : core_.shape_of(job).roles) {
    if (role.demand.devices.kind == DeviceNeedKind::kWhole) need += int64_t{role.min} * role.demand.devices.count;
  }
  return need;
}

// ---- The order

int64_t ElectRung::running_rank(const JobKey& key) const {
  const bool is_firm = order_.disturbs() == JobOrder::Disturbs::kNobody || !key.shape->is_preemptible;
  return is_firm ? std::numeric_limits<int64_t>::min() : order_.rank(key);
}

ElectRung::Place ElectRung::waiting_place(EntryId entry) const {
  const LineKey key = core_.lines.key_of(entry);
  Place place{.rank = key.rank, .turn = key.turn, .job = core_.lines.job_of(entry)};
  const bool has_just_come = key.turn >= core_.elect.first_arrival();
  if (order_.ties() == JobOrder::Ties::kWaitingFirst) place.phase = has_just_come ? 2 : 0;
  if (order_.ties() == JobOrder::Ties::kRunningFirst) place.phase = 1;
  return place;
}

/// It holds nothing, or only what it was told to leave.
bool ElectRung::is_absent(JobId job) const {
  const JobRecord& record = core_.book[job];
  return record.live == 0 || record.intent != Intent::kNone;
}

/// Who was chosen and waits still is chosen anew, and must not stand among those who run twice then.
void ElectRung::forget_absent() {
  std::erase_if(runners_, [&](const Runner& runner) {
    return is_absent(runner.place.job) && !core_.has_ended(runner.place.job);
  });
}

/// Those who are gone leave the list; the others are ranked as of now. Ranks change little from event to event: the
/// list is nearly in order already.
void ElectRung::see_runners() {
  std::erase_if(runners_,
                [&](const Runner& runner) { return is_absent(runner.place.job) || core_.has_ended(runner.place.job); });
  const bool is_by_service = order_.rank_of() == JobOrder::RankOf::kService;
  const bool is_running_first = order_.ties() == JobOrder::Ties::kRunningFirst;
  for (Runner& runner : runners_) {
    runner.fate = Fate::kKept;
    if (!is_by_service) continue;
    if (is_running_first) runner.place.phase = 0;
    if (runner.is_steady != 0 && runner.look > core_.now) {
      WEFT_DCHECK(is_as_it_was(runner), "who is steady neither sinks nor changes its rank before it is looked at");
      continue;
    }
    JobKey key = core_.job_key(runner.place.job);
    const bool sinks = order_.sinks(key);
    if (sinks) key.level = ++core_.book[key.job].level;
    runner.place.rank = running_rank(key);
    if (is_running_first && sinks) runner.place.phase = 2;
    if (sinks || order_.renews_looks() || runner.look <= core_.now) note_look(runner, key);
  }
  sort_runners();
}

bool ElectRung::is_as_it_was(const Runner& runner) const {
  const JobKey key = core_.job_key(runner.place.job);
  return !order_.sinks(key) && running_rank(key) == runner.place.rank;
}

/// By rank, stable: whoever was before another of equal rank stays before it. Where ranks fall as jobs run, those of
/// two that meet have come from where the one that falls faster, the wider one, was behind.
void ElectRung::sort_runners() {
  const JobOrder::Ties ties = order_.ties();
  const auto goes_before = [ties](const Runner& a, const Runner& b) {
    if (a.place.rank != b.place.rank) return a.place.rank < b.place.rank;
    if (a.fall != b.fall) return a.fall < b.fall;
    if (a.place.phase != b.place.phase) return a.place.phase < b.place.phase;
    return ties == JobOrder::Ties::kArrival && a.place.turn < b.place.turn;
  };
  for (size_t i = 1; i < runners_.size(); ++i) {
    if (!goes_before(runners_[i], runners_[i - 1])) continue;
    const Runner moving = runners_[i];
    const auto end = runners_.begin() + static_cast<std::ptrdiff_t>(i);
    const auto to = std::upper_bound(runners_.begin(), end, moving, goes_before);
    std::move_backward(to, end, end + 1);
    *to = moving;
  }
  if (ties != JobOrder::Ties::kWaitingFirst) return;
  for (Runner& runner : runners_) runner.place.phase = 1;
}

void ElectRung::see_waiters() {
  waiters_.clear();
  for (size_t i = 0; i < core_.lines.size(); ++i) {
    const LineId id = make_id<LineId>(i);
    Line& line = core_.lines[id];
    if (line.size == 0) continue;
    if (core_.ceiling.is_never(line)) {
      Verdict verdict = core_.ceiling.explain(line);
      verdict.wakes_on = wake_bit(WakeKind::kNodeAdded);
      core_.lines.sleep(id, verdict);
      continue;
    }
    waiters_.push_back(
        {.place = waiting_place(line.first), .need = need_of(core_.lines.head(id)), .line = id, .entry = line.first});
  }
}

ElectRung::Waiter* ElectRung::first_waiter() {
  Waiter* first = nullptr;
  for (Waiter& waiter : waiters_) {
    if (is_set(waiter.entry) && (first == nullptr || waiter.place < first->place)) first = &waiter;
  }
  return first;
}

void ElectRung::advance(Waiter& waiter) {
  waiter.entry = core_.lines.next_in_line(waiter.entry);
  if (is_set(waiter.entry)) waiter.place = waiting_place(waiter.entry);
}

void ElectRung::close(Waiter& waiter, const Verdict& verdict) {
  has_losers_ = 1;
  core_.lines.sleep(waiter.line, verdict);
  waiter.entry = kNone<EntryId>;
}

// ---- What follows from the choice

/// True, and all is said, when those who run go on as they are.
bool ElectRung::settle_unchanged() {
  if (!chosen_.empty()) return false;
  Instant first_look = kNever;
  for (Runner& runner : runners_) {
    if (runner.fate != Fate::kKept) return false;
    if (runner.place.phase == 2) runner.place.phase = 0;
    first_look = std::min(first_look, runner.look);
  }
  next_look_ = first_look;
  return true;
}

/// Stops who was not chosen and puts those chosen among the runners, in order.
void ElectRung::settle() {
  if (settle_unchanged()) return;
  merged_.clear();
  size_t next = 0;
  const auto take_chosen = [&](const Chosen& chosen) {
    if (chosen.is_move == 0)
      merged_.push_back(runner_of(chosen.place, chosen.need));  // else it stands among the runners
  };
  int64_t stopped = 0;
  for (Runner& runner : runners_) {
    for (; next < chosen_.size() && (chosen_[next].is_move != 0 || chosen_[next].place < runner.place); ++next)
      take_chosen(chosen_[next]);
    if (runner.fate == Fate::kKept) {
      if (runner.place.phase == 2) runner.place.phase = 0;
      merged_.push_back(runner);
      continue;
    }
    has_losers_ = 1;
    int64_t& turn = core_.book[runner.place.job].turn;
    const int64_t round = core_.elect.round * ElectState::kTurnsPerRound;
    if (order_.ties() == JobOrder::Ties::kWaitingFirst) turn = round + stopped++;
    // Before those who wait on its level, but behind them when it has sunk there only now.
    if (order_.ties() == JobOrder::Ties::kRunningFirst) turn = stopped++ + (runner.place.phase == 2 ? round : -round);
    if (runner.fate == Fate::kMoved) merged_.push_back(runner);
    leaving_.push_back(runner.place.job);
    lifecycle_.unelect(runner.place.job);
  }
  for (; next < chosen_.size(); ++next) take_chosen(chosen_[next]);
  runners_.swap(merged_);
  next_look_ = kNever;
  for (const Runner& runner : runners_) next_look_ = std::min(next_look_, runner.look);
}

/// Gives those chosen what is free. What they were promised comes free when those stopped have gone; when nobody is
/// left to wait for and one still does not fit, something else has taken it: the next election will see.
void ElectRung::place_chosen() {
  std::erase_if(leaving_, [&](JobId job) { return core_.book[job].intent == Intent::kNone; });
  size_t kept = 0;
  for (size_t i = 0; i < chosen_.size(); ++i) {
    const Chosen chosen = chosen_[i];
    if (try_chosen(chosen)) continue;
    has_absent_ = 1;
    if (!leaving_.empty()) chosen_[kept++] = chosen;
  }
  chosen_.resize(kept);
}

/// True when nothing is left to do for it.
bool ElectRung::try_chosen(const Chosen& chosen) {
  const JobId job = chosen.place.job;
  const EntryId entry = core_.lines.find(job, kWholeGang);
  if (!is_set(entry)) return std::ranges::find(leaving_, job) == leaving_.end();  // it is to be moved and still there
  const LineId line = core_.lines.line_of(entry);
  const Shape& shape = core_.shape_of(job);
  fill_counts(shape, kWholeGang, counts_);
  const ResourceVector least = Quota::least_charge(core_.state, shape, counts_);
  if (!core_.quota.check(core_.state, shape, least, 1).is_yes()) return false;
  Transaction txn(core_.state);
  bool is_placed = false;
  placement_.clear();
  if (chosen.count > 0) is_placed = take_plan(txn, chosen);
  if (!is_placed && chosen.count > 0 && !leaving_.empty()) return false;  // its place is about to come free
  if (!is_placed) {
    const GangRequest request{.shape_id = core_.lines[line].shape, .job = job, .counts = counts_};
    if (!core_.placer.place_gang(txn, request, placement_).is_yes()) return false;
  }
  lifecycle_.hold(txn, job, placement_);
  txn.commit();
  lifecycle_.sync_lines(job);
  return true;
}

}  // namespace weft
