#include "policy/score/scores.h"

namespace weft {

namespace {

/// First fit: all nodes are alike, so that the lowest NodeId goes first.
class FirstScore final : public NodeScore {
 public:
  std::string_view name() const override { return "first"; }
  int32_t score(const ScoreContext&, NodeId, const TaskDemand&, int&) const override { return 0; }
};

}  // namespace

std::unique_ptr<NodeScore> make_first_score() { return std::make_unique<FirstScore>(); }

}  // namespace weft
