#pragma once

#include "base/result.h"
#include "sim/simulation/outcome.h"

#include <functional>
#include <string>
#include <string_view>

namespace weft::sim {

/// Takes the next part of a text that may be large. Errors: of what it writes to; then no more comes.
using TextSink = std::function<Result<void>(std::string_view)>;

/// One row per job, in order of submission, with the columns
///   job_id,num_gpu,submit_time,start_time,end_time,executed_time,jct,pending_time,preempts
/// in seconds since the trace's epoch. What did not happen is empty: both instants of a job that never ran, the end
/// (and with it jct and pending_time) of one that had not ended. `pending_time` is jct - executed_time. In parts of
/// about 64 KiB.
Result<void> write_jobs_csv(const RunOutcome& outcome, const TextSink& sink);

/// A number of seconds, exactly: whole where it is, else up to 9 decimals without zeros at the end.
std::string seconds_text(Duration duration);

}  // namespace weft::sim
