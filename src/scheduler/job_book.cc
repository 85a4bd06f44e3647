#include "scheduler/job_book.h"

#include <algorithm>

namespace weft {

JobRecord& JobBook::add(const JobSpec& spec, const Shape* shape, Instant now, Instant begin) {
  JobRecord& record = records_.emplace_back();
  record.name = spec.name;
  record.begin = begin;
  record.grace = spec.grace.value_or(Duration{0});
  record.stale_after = spec.stale_after;
  record.time_limit = spec.time_limit;
  record.patience = spec.patience;
  if (spec.checkpoint) {
    record.saves = 1;
    record.checkpoint_every = spec.checkpoint->every;
    if (spec.checkpoint->last) record.checkpoint_last = now + *spec.checkpoint->last;
    record.restore = spec.checkpoint->restore;
  }
  record.retries_left = spec.retries;
  record.deadline = spec.deadline.value_or(kNever);
  record.left = spec.estimate;
  record.role_names = intern_role_names(spec.roles);
  record.gates = gate_bit(Gate::kNotAdmitted);
  if (shape != nullptr) {
    record.role_count = static_cast<uint16_t>(shape->roles.size());
    record.first_role = claim_counts(record.role_count);
  }
  return record;
}

uint32_t JobBook::intern_role_names(const std::vector<RoleSpec>& roles) {
  const auto same = [&](const std::vector<std::string>& names) {
    return std::ranges::equal(names, roles, {}, {}, &RoleSpec::name);
  };
  if (!role_names_.empty() && same(role_names_.back())) return static_cast<uint32_t>(role_names_.size() - 1);
  if (!role_names_.empty() && same(role_names_.front())) return 0;
  std::vector<std::string> names;
  for (const RoleSpec& role : roles) names.push_back(role.name);
  const auto [found, is_new] = role_name_ids_.try_emplace(names, static_cast<uint32_t>(role_names_.size()));
  if (is_new) role_names_.push_back(std::move(names));
  return found->second;
}

uint32_t JobBook::claim_counts(uint16_t roles) {
  if (roles < free_counts_.size() && !free_counts_[roles].empty()) {
    const uint32_t first = free_counts_[roles].back();
    free_counts_[roles].pop_back();
    std::ranges::fill(std::span(counts_).subspan(first, roles), RoleCounts{});
    return first;
  }
  const auto first = static_cast<uint32_t>(counts_.size());
  counts_.resize(counts_.size() + roles);
  return first;
}

void JobBook::retire(JobId job) {
  JobRecord& record = records_[index(job)];
  if (record.role_count == 0) return;
  if (record.role_count >= free_counts_.size()) free_counts_.resize(size_t{record.role_count} + 1);
  free_counts_[record.role_count].push_back(record.first_role);
  record.role_count = 0;
}

void JobBook::add_dependent(JobId job, JobId dependent) {
  if (free_dependents_.empty()) {
    free_dependents_.push_back(static_cast<uint32_t>(dependents_.size()));
    dependents_.emplace_back();
  }
  const uint32_t link = free_dependents_.back();
  free_dependents_.pop_back();
  dependents_[link] = {.job = dependent, .next = records_[index(job)].first_dependent};
  records_[index(job)].first_dependent = link;
}

std::span<const uint32_t> JobBook::after(JobId job) const {
  const auto found = after_.find(job);
  return found == after_.end() ? std::span<const uint32_t>() : std::span<const uint32_t>(found->second);
}

const std::string& JobBook::remark(JobId job) const {
  static const std::string kEmpty;
  const auto found = remarks_.find(job);
  return found == remarks_.end() ? kEmpty : found->second;
}

}  // namespace weft
