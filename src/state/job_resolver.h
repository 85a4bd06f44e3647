#pragma once

#include "base/result.h"
#include "model/job.h"
#include "model/shape.h"
#include "state/cluster_state.h"
#include "state/spec_text.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Checks one JobSpec and turns its names into ids. Used once. Nothing is interned before everything has been found
/// right.
class JobResolver {
 public:
  JobResolver(const JobSpec& spec, const ClusterState& state, Vocabulary& names);
  Result<Shape> run();

 private:
  // job_resolver.cc
  Result<void> queue();
  Result<void> times();
  Result<void> elasticity();
  Result<void> dependencies();
  Result<void> data();
  Result<LevelNeed> level(const SpecPlace& where, const char* field, const std::string& name) const;
  Result<ScopeNeed> scope(const SpecPlace& where, const TopologyNeed& need) const;
  void intern_labels();

  // role_resolver.cc
  Result<void> roles();
  Result<void> role(const RoleSpec& spec);
  Result<void> role_counts(const SpecPlace& where, const RoleSpec& spec, RoleShape& out);
  Result<void> role_amounts(const SpecPlace& where, const RoleSpec& spec, TaskDemand& out);
  Result<void> role_place(const SpecPlace& where, const RoleSpec& spec, TaskDemand& out) const;
  Result<void> models(const SpecPlace& where, const DeviceConstraint& constraint, DeviceDemand& out) const;
  Result<void> devices(const SpecPlace& where, const DeviceNeed& need, DeviceDemand& out) const;
  Result<void> mig(const SpecPlace& where, const std::string& profile, DeviceDemand& out) const;
  Result<void> totals();

  // group_resolver.cc
  Result<void> groups();
  Result<void> group_names();
  Result<void> group_members();
  std::vector<int32_t> lay_out_groups();
  Result<void> group_rule(int32_t group, GroupShape& out);

  const JobSpec& spec_;
  const ClusterState& state_;
  Vocabulary& names_;
  SpecPlace where_;
  Shape shape_;
  // Of groups: indices into the spec, before they are laid out parents first.
  std::vector<std::vector<int32_t>> roles_of_;
  std::vector<std::vector<int32_t>> groups_of_;
  std::vector<int32_t> group_of_role_;  ///< -1: the job itself
  std::vector<int32_t> group_of_group_;
};

}  // namespace weft
