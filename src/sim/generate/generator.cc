#include "sim/generate/generator.h"

#include "base/hash.h"
#include "base/text.h"
#include "sim/trace/job_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace weft::sim {

namespace {

constexpr int64_t kMonday = 1'514'764'800;  ///< 2018-01-01, in Unix seconds
constexpr int64_t kDay = 86'400;
constexpr double kHour = 3600;
constexpr double kHoursOfYear = 365.25 * 24;
constexpr double kYearsMax = 10;
constexpr double kUsualLoad = 0.7;

std::unexpected<Error> wrong(std::string message) { return fail(ErrorCode::kInvalidInput, std::move(message)); }

bool is_positive(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

bool ClusterRoom::fits(int32_t gpu_milli) const {
  if (gpu_milli <= 1000) return node_gpus_max > 0;
  const int32_t wanted = gpu_milli / 1000;
  if (wanted <= node_gpus_max) return true;
  if (node_gpus_max == 0) return false;
  const int64_t whole = wanted / node_gpus_max;
  const int32_t rest = wanted % node_gpus_max;
  return whole < largest_nodes || (whole == largest_nodes && rest <= node_gpus_next);
}

ClusterRoom room_of(const ClusterSpec& cluster) {
  ClusterRoom room{.gpus = cluster.gpu_count(), .node_gpus_max = cluster.gpus_per_node_max()};
  for (const NodeSpec& node : cluster.nodes) {
    const auto gpus = static_cast<int32_t>(node.devices.size());
    if (gpus == room.node_gpus_max) {
      ++room.largest_nodes;
    } else {
      room.node_gpus_next = std::max(room.node_gpus_next, gpus);
    }
  }
  return room;
}

Result<JobGenerator::Pace> JobGenerator::pace_of(const GeneratorPlan& plan, const WorkloadProfile& profile,
                                                 const CalibratedWorkload& workload) {
  if (int{plan.jobs_per_hour.has_value()} + int{plan.span.has_value()} + int{plan.load.has_value()} > 1)
    return wrong("rate, span and load say the same in three ways; expected one of them");
  if (plan.jobs_per_hour && !is_positive(*plan.jobs_per_hour)) return wrong("rate: expected more than 0 jobs per hour");
  if (plan.span && plan.span->ns <= 0) return wrong("span: expected more than 0 s");
  if (plan.load && !is_positive(*plan.load)) return wrong("load: expected more than 0");
  if (plan.load && !plan.cluster) return wrong("load: of which cluster? expected one to be named");
  const auto jobs = static_cast<double>(plan.jobs);
  const double run_time_h = plan.is_steady != 0 ? workload.run_time_mean_s / kHour : 0;
  double rate = profile.jobs_per_hour;
  if (plan.jobs_per_hour) {
    rate = *plan.jobs_per_hour;
  } else if (plan.span) {
    rate = jobs / (plan.span->seconds() / kHour + run_time_h);
  } else if (plan.cluster) {
    rate = plan.load.value_or(kUsualLoad) * static_cast<double>(plan.cluster->gpus) / workload.gpu_time_mean_s * kHour;
  }
  const double under_way = std::floor(rate * run_time_h + 0.5);  // Little's law
  if (under_way >= jobs) {
    return wrong(
        fmt::format("steady: at {:.6g} jobs per hour {:.0f} jobs run already at the beginning; expected more "
                    "jobs than that",
                    rate, under_way));
  }
  const double span_h = (jobs - under_way) / rate;
  if (!is_positive(rate) || span_h > kYearsMax * kHoursOfYear) {
    return wrong(
        fmt::format("{} jobs would come over {:.1f} years; expected at most {:.0f}: fewer jobs, or more per hour",
                    format_count(static_cast<int64_t>(plan.jobs)), span_h / kHoursOfYear, kYearsMax));
  }
  return Pace{.jobs_per_hour = rate, .under_way = static_cast<uint64_t>(under_way)};
}

Result<std::unique_ptr<JobGenerator>> JobGenerator::make(const GeneratorPlan& plan) {
  const WorkloadProfile* const profile = find_profile(plan.profile);
  if (profile == nullptr) return wrong(unknown_name_text("profile", plan.profile, profile_names()));
  if (plan.jobs == 0) return wrong("jobs: expected at least one");
  if (plan.cluster && plan.cluster->gpus == 0) return wrong("the cluster has no GPUs; expected at least one");
  CalibratedWorkload workload =
      calibrate(*profile, [&](int32_t gpu_milli) { return !plan.cluster || plan.cluster->fits(gpu_milli); });
  const Result<Pace> pace = pace_of(plan, *profile, workload);
  if (!pace) return std::unexpected(pace.error());
  return std::unique_ptr<JobGenerator>(new JobGenerator(plan, *profile, std::move(workload), *pace));
}

JobGenerator::JobGenerator(const GeneratorPlan& plan, const WorkloadProfile& profile, CalibratedWorkload workload,
                           const Pace& pace)
    : profile_(profile),
      workload_(std::move(workload)),
      jobs_per_hour_(pace.jobs_per_hour),
      under_way_count_(pace.under_way),
      under_way_left_(pace.under_way),
      jobs_left_(plan.jobs - pace.under_way),
      under_way_(under_way(workload_)),
      clock_(profile.week, plan.first_day, static_cast<double>(jobs_left_) / jobs_per_hour_ * kHour),
      population_({.users = plan.users > 0 ? plan.users : profile.users,
                   .queues = plan.queues > 0 ? plan.queues : profile.queues,
                   .run_time_max_s = profile.run_time_max_s,
                   .seed = mix64(plan.seed)}),
      planner_(workload_.classes, mix64(plan.seed + 1)),
      under_way_planner_(under_way_, mix64(plan.seed + 4)),
      arrivals_(mix64(plan.seed + 2)),
      people_(mix64(plan.seed + 3)) {
  notes_.format = TraceFormat::kWeftCsv;
  notes_.epoch = kMonday + kDay * static_cast<int64_t>(plan.first_day);
  look_ahead();
}

void JobGenerator::plan_block() {
  const bool is_under_way = under_way_left_ > 0;
  uint64_t& left = is_under_way ? under_way_left_ : jobs_left_;
  const uint64_t jobs = std::min(left, BurstPlanner::kBlockJobs);
  left -= jobs;
  block_ = (is_under_way ? under_way_planner_ : planner_).plan(jobs);
  block_at_ = 0;
  burst_gap_s_ = 0;
  if (!is_under_way)
    burst_gap_s_ = static_cast<double>(jobs) / static_cast<double>(block_.size()) / jobs_per_hour_ * kHour;
}

void JobGenerator::look_ahead() {
  has_burst_ = 0;
  if (block_at_ == block_.size()) {
    if (under_way_left_ + jobs_left_ == 0) return;
    plan_block();
  }
  burst_at_s_ = clock_.advance(burst_at_s_, -std::log(1 - arrivals_.unit()) * burst_gap_s_);
  has_burst_ = 1;
}

void JobGenerator::open_burst() {
  if (spare_.empty()) {
    spare_.push_back(pool_.size());
    pool_.emplace_back();
  }
  const size_t index = spare_.back();
  spare_.pop_back();
  const Burst& burst = block_[block_at_++];
  const JobClass& of = workload_.classes[burst.class_index];
  Open& open = pool_[index];
  open.next_s = static_cast<int64_t>(burst_at_s_);
  open.number = ++bursts_;
  open.user = population_.draw_user(people_);
  open.gpu_milli = of.gpu_milli;
  open.program = population_.program(open.user, of.gpu_milli, burst.intended_s);
  open.taken = 0;
  open.is_at_once = burst_gap_s_ > 0 ? 0 : 1;
  open.jobs.assign(burst.jobs.begin(), burst.jobs.end());
  open_.push_back(index);
}

Result<TraceReader::Step> JobGenerator::next(TraceJob& job) {
  const auto is_later = [&](size_t left, size_t right) {
    const Open& one = pool_[left];
    const Open& other = pool_[right];
    return one.next_s != other.next_s ? one.next_s > other.next_s : one.number > other.number;
  };
  while (has_burst_ != 0 && (open_.empty() || static_cast<int64_t>(burst_at_s_) < pool_[open_.front()].next_s)) {
    open_burst();
    std::ranges::push_heap(open_, is_later);
    look_ahead();
  }
  if (open_.empty()) return Step::kEnd;
  std::ranges::pop_heap(open_, is_later);
  Open& open = pool_[open_.back()];
  describe(open, job);
  if (++open.taken == open.jobs.size()) {
    spare_.push_back(open_.back());
    open_.pop_back();
  } else {
    if (open.is_at_once == 0) open.next_s += arrivals_.between(0, 3);
    std::ranges::push_heap(open_, is_later);
  }
  return Step::kJob;
}

void JobGenerator::describe(const Open& open, TraceJob& job) {
  reset(job);
  const PlannedJob& planned = open.jobs[open.taken];
  ++notes_.rows;
  fmt::format_to(std::back_inserter(job.id), "j{}", notes_.rows);
  fmt::format_to(std::back_inserter(job.name), "{}-{:05x}", open.program.model, open.program.number >> 44);
  job.user = population_.user_name(open.user);
  job.queue = population_.queue_name(open.user);
  job.model = open.program.model;
  job.submit.ns = seconds(open.next_s).ns;
  job.run_time = seconds(planned.run_time_s);
  job.estimate = open.program.limit;
  job.limit = open.program.limit;
  job.priority = open.program.priority;
  job.end = planned.end;
  if (open.gpu_milli < 1000) {
    job.gpu_milli = open.gpu_milli;
  } else {
    job.gpus_per_task = open.gpu_milli / 1000;
    job.is_gpu_count = 1;
  }
}

}  // namespace weft::sim
