#pragma once

#include "sim/replay/moment.h"
#include "sim/replay/replay.h"
#include "store/journal.h"

#include <cstddef>
#include <string>
#include <vector>

namespace weft::cli {

// What `weft replay` prints.

/// One line: "run.journal: weft simulate, trace jobs.csv, cluster 4x8, …".
std::string head_text(const std::string& path, const store::JournalHead& head);
/// "12,345 events, 6,789 decisions, hash 0123456789abcdef: the same as recorded", with a word on a journal that is not
/// finished.
std::string result_text(const sim::Replay& replay);
/// Where a replay was not what was recorded.
std::string difference_text(const store::JournalHead& head, const sim::ReplayDifference& difference);

/// "  12  3h20m  hold job 17, attempt 1: n0:0-3".
std::string decision_line(sim::Replay& replay, const sim::NumberedDecision& numbered);

/// Tables of at most `rows` rows each; long ones say what they leave out.
std::string moment_tables(sim::Replay& replay, const sim::Moment& moment, size_t rows);
/// All about one job, and the last of the decisions about it.
std::string job_text(sim::Replay& replay, const JobView& job, const std::vector<sim::NumberedDecision>& decisions,
                     size_t rows);

}  // namespace weft::cli
