#pragma once

#include "base/text.h"
#include "model/catalogue.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/scenario.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft::scenario {

// The parts of the reader. Each reads one section into ReadContext::out, checks it against what stands above it, and
// notes problems.

/// What a document has defined so far.
struct ReadContext {
  Problems& problems;
  Scenario& out;
  const DeviceCatalogue& catalogue;
  int64_t& names_left;  ///< nodes and jobs that the file may still define, all documents together
  std::unordered_map<std::string, NodeIndex> nodes{};
  std::unordered_map<std::string, JobIndex> jobs{};
  std::unordered_map<std::string, uint32_t> queues{};
  std::vector<uint8_t> has_children{};  ///< by queue
  int64_t task_total = 0;

  /// Takes `count` of names_left; false, with a problem, where there are not so many.
  bool take_names(uint32_t count, Place at);
  std::optional<NodeIndex> find_node(const YamlNode& name);
  std::optional<JobIndex> find_job(const YamlNode& name);
  std::optional<JobIndex> find_job(std::string_view name, Place at);
  /// kNone: a problem was noted.
  /// All that a person means by the name: see DeviceCatalogue::match(). Empty, with a problem, when there is none.
  std::vector<DeviceModelId> find_models(const YamlNode& name);
  /// The one model of a node's devices; kNone, with a problem, when the name means none or several.
  DeviceModelId find_model(const YamlNode& name);
  /// "nvlink", "node" or a level of the cluster; with `also_device` "device", too.
  enum class Also : uint8_t { kNothing, kDevice };
  std::string find_level(const YamlNode& name, std::string_view key, Also also);
};

void read_cluster(const YamlNode& node, ReadContext& context);
void read_queues(const YamlNode& node, ReadContext& context);

enum class JobSection : uint8_t { kJobs, kSubmit };
/// Adds one group to Scenario::jobs; false where it could not be read.
bool read_job(const YamlNode& node, JobSection section, ReadContext& context);
/// `roles`, or the short form: one role whose keys stand on the job.
void read_roles(MapReader& reader, JobSpec& job, ReadContext& context);
/// `within` and `prefer`.
void read_topology(MapReader& reader, TopologyNeed& need, ReadContext& context);
/// `groups`. The roles must be known.
void read_groups(const YamlNode& node, JobSpec& job, ReadContext& context);
/// Members of the job itself: groups and roles that no group holds.
int64_t top_member_count(const JobSpec& job);
/// Reads `at` into the group's seats. Its roles must be known.
void read_seats(const YamlNode& node, JobGroup& group, ReadContext& context);
/// "0", or "0:2g.20gb@4" for a MIG instance.
std::optional<DeviceWord> read_device_word(const YamlNode& node, std::string_view key, ReadContext& context);

/// "JOB/w/1" behind its job: the task's index. `text` is "w/1".
std::optional<TaskIndex> find_task(const JobSpec& job, std::string_view text, std::string_view job_name, Place at,
                                   Problems& problems);

void read_steps(const YamlNode& node, ReadContext& context);
Expectation read_expectation(const YamlNode& node, ReadContext& context);
/// The words that `expect` uses as keys: no job may have them for a name.
std::span<const std::string_view> expectation_keys();

}  // namespace weft::scenario
