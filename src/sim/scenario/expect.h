#pragma once

#include "sim/scenario/scenario.h"
#include "sim/scenario/world.h"

#include <string>
#include <vector>

namespace weft::scenario {

/// An expectation that does not hold.
struct Mismatch {
  Place at;
  std::string expected;
  std::string found;
};

/// The word by which scenarios know the job's state.
StateWord state_word(const JobView& view);

/// What of the expectation does not hold in the present state of the world; empty when all holds.
std::vector<Mismatch> find_mismatches(const Expectation& expectation, World& world);

}  // namespace weft::scenario
