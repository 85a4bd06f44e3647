#include "store/recorded_decision.h"

namespace weft::store {

namespace {

std::vector<RecordedPlace> places_of(std::span<const TaskPlacement> placements) {
  std::vector<RecordedPlace> places;
  for (const TaskPlacement& placement : placements) {
    if (places.empty() || places.back().node != placement.node) places.push_back({.node = placement.node});
    places.back().devices |= placement.devices;
  }
  return places;
}

}  // namespace

void record_decisions(const Decisions& decisions, std::vector<RecordedDecision>& out) {
  out.clear();
  for (const Decision& decision : decisions.list) {
    out.push_back({.at = decision.at,
                   .kind = decision.kind,
                   .cause = decision.cause,
                   .end_state = decision.end_state,
                   .job = decision.job,
                   .attempt = decision.attempt,
                   .task = decision.task,
                   .grace = decision.grace,
                   .places = places_of(decisions.placements_of(decision))});
  }
}

}  // namespace weft::store
