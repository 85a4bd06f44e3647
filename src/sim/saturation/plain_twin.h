#pragma once

#include "sim/saturation/openb.h"
#include "sim/saturation/protocol.h"
#include "sim/saturation/saturation.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace weft::sim::testing {

// The protocol and the published scores once more, over plain arrays and straight from their descriptions: no index, no
// cache, no transaction, doubles where the core has integers. Slow (every node is scored for every pod), and
// independent of the core: it shares the readers and the arrivals only. For tests; not part of the library.

struct PlainNode {
  int64_t cpu_free = 0, memory_free = 0;
  std::string model;
  std::vector<int32_t> gpus;           ///< free thousandths
  std::map<std::string, int> classes;  ///< of the tasks with GPUs on it
  int64_t gpu_free() const;
};

struct PlainChoice {
  int64_t score = 0;
  int device = -1;  ///< of a fraction
};

/// One run; `policy` is one of bestfit, dotprod, packing, clustering, fgd.
class PlainTwin {
 public:
  PlainTwin(const SaturationInput& input, std::string_view policy, int64_t seed);
  /// Where each arrival went, as PlacementTrace has it.
  PlacementTrace run();
  /// Fragments of the whole cluster, in thousandths of a GPU, as it stands.
  double fragments() const;
  size_t shape_count() const { return workload_.size(); }

 private:
  struct Shape {
    OpenbPod pod;
    double popularity = 0;
  };

  static bool fits(const PlainNode& node, const OpenbPod& pod);
  double fragments_of(const PlainNode& node) const;
  PlainChoice score(const PlainNode& node, const OpenbPod& pod) const;
  PlainChoice fgd(const PlainNode& node, const OpenbPod& pod) const;
  static PlainChoice bestfit(const PlainNode& node, const OpenbPod& pod);
  static PlainChoice dotprod(const PlainNode& node, const OpenbPod& pod);
  static PlainChoice packing(const PlainNode& node, const OpenbPod& pod);
  static PlainChoice clustering(const PlainNode& node, const OpenbPod& pod);
  static void take(PlainNode& node, const OpenbPod& pod, int device);
  void count_shapes();

  const SaturationInput& input_;
  std::string policy_;
  Arrivals arrivals_;
  std::vector<PlainNode> nodes_;  ///< in the run's order
  std::vector<Shape> workload_;
};

}  // namespace weft::sim::testing
