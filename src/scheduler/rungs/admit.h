#pragma once

#include "scheduler/core.h"
#include "scheduler/lifecycle.h"
#include "scheduler/rung.h"

namespace weft {

/// Takes in the jobs that have arrived: closes the gates that keep a job waiting (dependencies, begin
/// time), finds out whether it can ever run here, and puts it in line. Disturbs nobody. Cost: O(1) per job, one
/// placement per new shape.
class AdmitRung final : public Rung {
 public:
  AdmitRung(Core& core, Lifecycle& lifecycle) : core_(core), lifecycle_(lifecycle) {}
  std::string_view name() const override { return "admit"; }
  void run() override;

 private:
  void admit(JobId job);
  bool close_gates(JobId job);

  Core& core_;
  Lifecycle& lifecycle_;
};

}  // namespace weft
