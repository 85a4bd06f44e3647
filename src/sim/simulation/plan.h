#pragma once

#include "base/result.h"
#include "base/units.h"
#include "model/policy.h"
#include "sim/simulation/cluster_spec.h"
#include "sim/simulation/speed.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::scenario {
struct PolicyWish;
}

namespace weft::sim {

/// Whose rules a run keeps to. The published simulators differ from weft, and from each other, in units and quirks:
/// with their rules a run equals theirs job by job.
enum class Rules : uint8_t {
  kNative,
  kTiresias,  ///< whole seconds; levels of las and 2d-las are looked at as that simulator does; restarts cost nothing
  kMuri,  ///< run times are iterations x iteration time x 1.015; everybody is placed afresh at every event, and loses
          ///< the overhead of a start of its model at each; levels are looked at as that simulator does
};
std::string_view rules_name(Rules rules);

/// What the scheduler is told of a job's run time.
struct Estimates {
  enum class Kind : uint8_t {
    kOracle,  ///< the truth
    kUser,    ///< what the trace says that the user said: an estimate, else a limit, else nothing
    kNoise,   ///< the truth x exp(sigma x a normal number), drawn by the seed
  };
  Kind kind = Kind::kOracle;
  double sigma = 0;
};

/// What orders learn from that look at the past (gittins, 2d-gittins).
struct PastServices {
  std::vector<Duration> services;  ///< time x GPUs of jobs
  std::string source;              ///< in words, for reports
};

/// One run, as it is to be simulated.
struct RunPlan {
  ClusterSpec cluster;
  std::string policy = "default";                           ///< a name, or a file
  std::shared_ptr<const scenario::PolicyWish> policy_file;  ///< what the file says; none: plan_policy() reads it
  std::shared_ptr<const PastServices> past;                 ///< none: nothing is known but what the policy's file says
  std::string placement;                                    ///< empty: that of the rules
  Rules rules = Rules::kNative;
  Estimates estimates;
  Duration restart_cost{0};                  ///< without progress, at every start but a job's first
  Duration checkpoint_every{0};              ///< of run time: what was done since is lost with a stop; 0: nothing is
  Duration round{0};                         ///< who runs is decided at its multiples only; 0: at every event
  std::shared_ptr<const SpeedModel> speeds;  ///< native rules only; none: everybody is at full speed
  uint64_t seed = 0;
  uint8_t wants_spans = 0;       ///< RunOutcome::spans
  uint8_t skips_impossible = 0;  ///< jobs that the cluster could never run are counted as rejected instead of refused
};

/// The names that --policy and --placement take.
std::vector<std::string_view> policy_names();
std::vector<std::string_view> placement_names();

/// What becomes of a number of GPUs.
enum class Layout : uint8_t {
  kSingleGpus,  ///< single ones, wherever they are
  kNodes,       ///< as few nodes as can hold them: one, or whole ones and a rest
};
struct PolicyPlan {
  std::string name;  ///< of the policy, or of its file without the folder
  PolicyConfig config;
  Layout layout = Layout::kNodes;
  std::string placement;  ///< as it is named, or the scores of a file
  std::string past;       ///< what the order has learnt from; empty: nothing, or it does not learn
};
/// A placement that is named counts before what a policy file says, and that before the rules' own. Error: an unknown
/// name, with those there are; a file's with file:line:column.
Result<PolicyPlan> plan_policy(const RunPlan& run);

/// Whether the order learns from the past.
bool learns(const PolicyConfig& config);

/// Whether --policy means a file: no known name, and it holds a '/' or ends in .yaml or .yml.
bool is_policy_file(std::string_view policy);
/// For RunPlan::policy_file.
Result<std::shared_ptr<const scenario::PolicyWish>> read_policy(const std::string& file);

}  // namespace weft::sim
