#pragma once

#include "state/cluster_state.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// The slow twins: recomputes from the plain facts what is kept incrementally, by other means, and says where they
/// differ.
class Auditor {
 public:
  explicit Auditor(const ClusterState& state) : state_(state) {}
  void check_indices();
  /// What tasks hold, and what is taken beside them, against what is taken.
  void check_tasks(std::span<const TakenPlace> beside);
  std::vector<std::string> findings() && { return std::move(findings_); }

 private:
  static constexpr size_t kFindingsMax = 100;  // one fault shows everywhere: more lines tell nothing more

  static bool in_range(int64_t free, int64_t total) { return free >= 0 && free <= total; }
  template <typename Condition, typename... Args>
  void expect(const Condition& condition, fmt::format_string<Args...> text, Args&&... args) {
    if (!condition && findings_.size() < kFindingsMax)
      findings_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  // audit.cc
  void masks();
  void devices();
  void shapes();
  void timeline();
  // audit_capacity.cc
  void domains();
  void domain_ranges();
  void capacity();
  void pools();
  void histograms(DomainId domain, const std::vector<size_t>& nodes);
  std::vector<size_t> nodes_of(DomainId domain) const;
  // audit_tasks.cc
  void owners();
  void holdings(std::span<const TakenPlace> beside);
  void node_holdings(size_t node, const std::vector<TakenPlace>& places);
  void usage(std::span<const TakenPlace> beside);
  std::vector<TakenPlace> places_of_tasks();

  const ClusterState& state_;
  std::vector<std::string> findings_;
};

}  // namespace weft
