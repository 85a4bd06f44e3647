#pragma once

#include "sim/scenario/scenario.h"
#include "sim/scenario/world.h"

#include <map>
#include <string>
#include <vector>

namespace weft::scenario {

/// An expectation that does not hold.
struct Mismatch {
  Place at;
  std::string expected;
  std::string found;
};

/// Jobs whose state is to be read as another one: for asking what an expectation would say then.
using StateOverlay = std::map<JobIndex, StateWord>;

/// The word by which scenarios know the job's state.
StateWord state_word(const JobView& view);

/// What of the expectation does not hold in the present state of the world; empty when all holds.
std::vector<Mismatch> find_mismatches(const Expectation& expectation, World& world, const StateOverlay& overlay = {});

}  // namespace weft::scenario
