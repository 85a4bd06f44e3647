#pragma once

#include "base/ids.h"
#include "base/units.h"

#include <array>
#include <cstdint>
#include <string>

namespace weft {

/// Why a job does not run, as the scheduler's own answer. Not an error.
enum class Reason : uint8_t {
  kNone,  ///< it was placed, or nothing was asked yet
  // Gates of the job itself
  kDependency,
  kBeginTime,
  kHeld,  ///< by its user or an operator
  kPatience,
  // The queue's
  kLimit,
  kGuarantee,    ///< a job that is not preemptible must fit inside it
  kOrder,        ///< a strict order: somebody before it waits
  kReservation,  ///< it would delay a reservation
  // The cluster's total, one node's, a domain's
  kGpus,
  kGpuMemory,
  kCpus,
  kMemory,
  kDisk,
  kModel,
  kMig,
  kNuma,
  kNvlink,
  kNode,   ///< enough in total, but no node holds it, or the named node does not
  kLevel,  ///< no domain of `level` holds it
  kTaint,
  kLabel,
  kUnavailable,  ///< nodes are down or cordoned
  kEngine,       ///< the engine refused the hold or the start
  kBudget,       ///< the search stopped at its budget: not proven impossible
};
inline constexpr size_t kReasonCount = 25;

/// What the counts `have` and `need` are of.
enum class CountUnit : uint8_t { kGpus, kTasks, kNodes, kMilliCpu, kBytes, kSlices, kMilliGpu };

/// Kinds of events that could turn a "no" into a "yes": bits of EventMask.
enum class WakeKind : uint8_t {
  kCapacityFreed,  ///< devices, CPUs or memory came free
  kNodeAdded,      ///< a node or device was added, came back, or was uncordoned
  kQueueFreed,     ///< usage of a queue fell
  kQueueChanged,   ///< a guarantee, limit or weight changed
  kJobEnded,       ///< of a dependency
  kTime,           ///< a begin time, the end of a minimum run time
  kJobChanged,     ///< released, scaled
};
using WakeMask = uint16_t;
constexpr WakeMask wake_bit(WakeKind kind) { return static_cast<WakeMask>(1U << static_cast<unsigned>(kind)); }

/// A "no" with the counts behind it. A plain value; text comes from verdict_text().
/// Invariant: when nodes_total > 0, nodes_by_reason sums to nodes_total (a node is counted under the first filter that
/// it fails; nodes that would each take at least one task are counted under kNone).
struct Verdict {
  Reason reason = Reason::kNone;
  bool is_never = false;  ///< could not run here even if the cluster were empty and healthy
  CountUnit unit = CountUnit::kGpus;
  int64_t have = 0;  ///< "3 of 4": free, or fitting; with is_never what there would be if everything were free
  int64_t need = 0;
  QueueId queue = kNone<QueueId>;              ///< kLimit, kGuarantee: the queue that binds
  LevelId level = kNone<LevelId>;              ///< kLevel
  DomainId domain = kNone<DomainId>;           ///< kLevel: its best domain
  NodeId node = kNone<NodeId>;                 ///< kNode: the node that came nearest, or the named one
  bool is_node_named = false;                  ///< kNode: the role must run on `node`
  int32_t role = -1;                           ///< the role that found no place
  JobId blocker = kNone<JobId>;                ///< kOrder, kReservation, kDependency
  Instant until = kNever;                      ///< kBeginTime, kPatience
  DeviceModelId model = kNone<DeviceModelId>;  ///< kModel: the model asked for, if it is one alone
  uint32_t nodes_total = 0;
  std::array<uint32_t, kReasonCount> nodes_by_reason{};
  uint32_t nodes_down = 0;      ///< of nodes_by_reason[kUnavailable]; with the next 0 when not told apart
  uint32_t nodes_cordoned = 0;  ///< of nodes_by_reason[kUnavailable]: up, but cordoned
  int32_t most_free_gpus = 0;   ///< the most that one node that passes the other filters has free
  int32_t task_gpus = 0;        ///< what one task needs
  WakeMask wakes_on = 0;
  bool operator==(const Verdict&) const = default;

  bool is_yes() const { return reason == Reason::kNone; }
};

struct Vocabulary;

/// The word by which users and scenarios know the reason: "guarantee", "limit", "GPUs", "node", a level's name, …;
/// empty for a yes.
std::string reason_word(const Verdict& verdict, const Vocabulary& names);

/// One sentence with the binding reason, then the node counts, unless a single node's would only repeat it:
/// "GPUs: 7 of 10 needed are free; 1,213 nodes: 981 lack a G3, 30 have too few free GPUs (most: 3 of 4), 202 cordoned".
/// A job that could never run begins with "can never run here: ". Empty for a yes.
std::string verdict_text(const Verdict& verdict, const Vocabulary& names);
/// The same, with times as spans from `now`: "begin time: in 1h30m".
std::string verdict_text(const Verdict& verdict, const Vocabulary& names, Instant now);

}  // namespace weft
