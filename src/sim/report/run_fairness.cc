#include "sim/report/run_fairness.h"

#include "base/ids.h"
#include "base/interner.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace weft::sim {

namespace {

/// What one party had, and would have had alone.
struct Account {
  double share_is_busy_until = 0;  ///< seconds since the first submission
  double speed_sum = 0;            ///< of 1 / bounded_slowdown()
  uint64_t ended = 0;
};

/// The end of `job` if its party were alone on `share_gpus`; moves the account on. In seconds since `epoch`.
double isolated_end(const JobOutcome& job, Account& account, double share_gpus, Instant epoch) {
  const double submit = in_seconds(job.submit - epoch);
  const double run_time = in_seconds(job.run_time);
  if (job.gpu_milli <= 0) return submit + run_time;  // it needs nothing of the share
  const double work = static_cast<double>(job.gpu_milli) / 1000 * run_time;
  account.share_is_busy_until = std::max(account.share_is_busy_until, submit) + work / share_gpus;
  return std::max(account.share_is_busy_until, submit + run_time);
}

/// Between whom the jobs of a run are shared out, and whose each is.
struct Parties {
  FairParties kind = FairParties::kNone;
  size_t count = 0;
  std::vector<UserId> of_job;  ///< by index of the job; a queue's number where the parties are queues
};

Parties parties_of(const std::vector<JobOutcome>& jobs) {
  for (const auto& [kind, name] :
       {std::pair{FairParties::kUsers, &JobOutcome::user}, std::pair{FairParties::kQueues, &JobOutcome::queue}}) {
    Interner<UserId> names;
    std::vector<UserId> of_job;
    for (const JobOutcome& job : jobs) of_job.push_back(names.intern(job.*name));
    if (names.size() >= 2) return {.kind = kind, .count = names.size(), .of_job = std::move(of_job)};
  }
  return {.of_job = std::vector<UserId>(jobs.size(), UserId{0})};
}

}  // namespace

double jain_index(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(shares.size()) * squares) : kUnknown;
}

RunFairness measure_fairness(const RunOutcome& outcome) {
  const Parties parties = parties_of(outcome.jobs);
  std::vector<Account> accounts(std::max<size_t>(parties.count, 1));
  const double share_gpus = static_cast<double>(outcome.total_gpu_milli) / 1000 / static_cast<double>(accounts.size());
  const bool has_shares = parties.count > 0 && share_gpus > 0;
  std::vector<double> ratios, speeds;
  for (size_t i = 0; i < outcome.jobs.size(); ++i) {
    const JobOutcome& job = outcome.jobs[i];
    if (job.how == JobEnd::kRejected) continue;
    Account& account = accounts[index(parties.of_job[i])];
    const Instant epoch = outcome.jobs.front().submit;
    const double alone =
        has_shares ? isolated_end(job, account, share_gpus, epoch) - in_seconds(job.submit - epoch) : 0;
    if (!has_ended(job)) continue;
    if (alone > 0) ratios.push_back(in_seconds(job.jct()) / alone);
    speeds.push_back(1 / bounded_slowdown(job));
    account.speed_sum += speeds.back();
    ++account.ended;
  }
  RunFairness fairness{.kind = parties.kind, .parties = parties.count, .finish_time_ratio = {}};
  fairness.jain_jobs = jain_index(speeds);
  if (!ratios.empty()) {
    // Rounding must not make a job that had just its share look wronged.
    const auto above = std::ranges::count_if(ratios, [](double ratio) { return ratio > 1 + 1e-9; });
    fairness.share_above_one = static_cast<double>(above) / static_cast<double>(ratios.size());
  }
  fairness.finish_time_ratio = distribution_of(std::move(ratios));
  if (parties.count > 0) {
    std::vector<double> means;
    for (const Account& account : accounts) {
      if (account.ended > 0) means.push_back(account.speed_sum / static_cast<double>(account.ended));
    }
    fairness.jain_parties = jain_index(means);
  }
  return fairness;
}

}  // namespace weft::sim
