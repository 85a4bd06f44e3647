#include "sim/simulation/run_clock.h"

#include <algorithm>
#include <array>
#include <bit>

namespace weft::sim {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
__extension__ using Wide = __int128;

/// Seconds by the number of GPUs: 1, 2, 4, 8, 16, 32 and more.
struct StartCost {
  std::string_view model;  ///< the beginning of its name
  std::array<uint8_t, 6> seconds;
};
constexpr std::array kStartCosts{
    StartCost{"a2c", {38, 39, 39, 46, 46, 46}}, StartCost{"bert", {10, 10, 10, 10, 10, 10}},
    StartCost{"dqn", {5, 5, 6, 6, 8, 8}},       StartCost{"gpt2", {10, 10, 10, 10, 10, 10}},
    StartCost{"resnet18", {4, 5, 5, 7, 7, 7}},  StartCost{"shufflenet", {4, 4, 5, 5, 8, 8}},
    StartCost{"vgg16", {7, 7, 8, 9, 10, 10}},   StartCost{"vgg19", {7, 7, 8, 9, 10, 10}},
};

int64_t round_half_even(int64_t ns) {
  int64_t whole = ns / kSecond;
  const int64_t rest = ns % kSecond;
  if (rest > kSecond / 2 || (rest == kSecond / 2 && whole % 2 != 0)) ++whole;
  return whole * kSecond;
}

}  // namespace

Duration muri_overhead(std::string_view model, int64_t gpus) {
  const auto known =
      std::ranges::find_if(kStartCosts, [&](const StartCost& cost) { return model.starts_with(cost.model); });
  if (known == kStartCosts.end()) return Duration{0};
  const auto size = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(gpus - 1, 0))));
  return seconds(known->seconds[std::min(size, known->seconds.size() - 1)]);
}

Duration run_time_by(Rules rules, const TraceJob& job) {
  if (rules == Rules::kTiresias) return Duration{round_half_even(job.run_time.ns)};
  if (rules == Rules::kMuri && job.iterations > 0 && job.iteration_time.ns > 0) {
    return Duration{static_cast<int64_t>(static_cast<Wide>(job.iterations) * job.iteration_time.ns * 1015 / 1000)};
  }
  return job.run_time;
}

Instant submit_by(Rules rules, const TraceJob& job) {
  return rules == Rules::kTiresias ? Instant{job.submit.ns / kSecond * kSecond} : job.submit;
}

RunClock::Work RunClock::admit(const TraceJob& job, Duration run_time) const {
  Work work{.left = run_time};
  if (rules_ == Rules::kMuri) work.overhead = muri_overhead(job.model, job.gpu_count());
  return work;
}

void RunClock::pass(Work& work, Instant now) {
  const Duration passed = now - work.since;
  const Duration delayed = std::min(passed, work.delay);
  work.delay = work.delay - delayed;
  work.lost = work.lost + delayed;
  const Wide done = Wide{(passed - delayed).ns} * work.speed_ppm / kFullSpeed;
  work.done = std::min(work.left, work.done + Duration{static_cast<int64_t>(std::min(done, Wide{kEndless.ns}))});
  work.since = now;
}

Duration RunClock::time_for(Duration work, int64_t speed_ppm) {
  const Wide needed = (Wide{work.ns} * kFullSpeed + speed_ppm - 1) / speed_ppm;
  return Duration{static_cast<int64_t>(std::min(needed, Wide{kEndless.ns / 2}))};
}

Instant RunClock::end_of(const Work& work) {
  return work.since + work.delay + time_for(work.left - work.done, work.speed_ppm);
}

Duration RunClock::left_at(Work work, Instant now) {
  if (work.since != kNever) pass(work, now);
  return work.left - work.done;
}

Instant RunClock::start(Work& work, Instant now, int64_t speed_ppm) const {
  work.delay = rules_ == Rules::kNative && work.starts > 0 ? restart_cost_ : Duration{0};
  ++work.starts;
  work.since = now;
  work.done = Duration{0};
  work.speed_ppm = speed_ppm;
  return end_of(work);
}

Instant RunClock::change_speed(Work& work, Instant now, int64_t speed_ppm) const {
  pass(work, now);
  work.speed_ppm = speed_ppm;
  return end_of(work);
}

void RunClock::stop(Work& work, Instant now) const {
  if (rules_ != Rules::kMuri) {  // by which all was counted at the event
    pass(work, now);
    const Duration lost = every_.ns > 0 ? Duration{work.done.ns % every_.ns} : Duration{0};
    work.lost = work.lost + lost;
    work.left = work.left - (work.done - lost);
  }
  work.done = Duration{0};
  work.since = kNever;
}

void RunClock::end(Work& work, Instant now) const {
  if (rules_ != Rules::kMuri) pass(work, now);
  work.left = work.done = Duration{0};
  work.since = kNever;
}

Instant RunClock::pass_event(Work& work, Instant now) const {
  const Duration passed = std::max(Duration{0}, now - work.since - work.overhead);
  work.lost = work.lost + (now - work.since - passed);
  work.left = work.left - passed;
  work.since = now;
  return now + work.left;
}

}  // namespace weft::sim
