#pragma once

#include "base/result.h"
#include "sim/trace/trace_job.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

class ByteSource;

/// The formats of `--format`; kAuto recognises one by its header (or first line).
enum class TraceFormat : uint8_t {
  kAuto,
  kOpenb,      ///< Alibaba 2023 pods: CSV with name, cpu_milli, …, creation_time, deletion_time
  kPhilly,     ///< the reduced Philly CSV
  kTiresias,   ///< job_id,num_gpu,submit_time,iterations,model_name,duration,interval; seconds
  kMuri,       ///< the same with batch_size, iteration_time, resource_time_*, priority; milliseconds
  kHelios,     ///< cluster_log.csv
  kPhillyLog,  ///< cluster_job_log, JSON
  kPai,        ///< Alibaba PAI 2020: the folder with its job, task and (if there) tag tables, no header rows
  kLingjun,    ///< the folder with job.csv and worker.csv
  kSwf,        ///< Standard Workload Format 2.2
  kSacct,      ///< Slurm's `sacct --parsable2`
  kWeftCsv,
  kWeftYaml,
};
std::string_view trace_format_name(TraceFormat format);  ///< as --format writes it; both of weft's own are "weft"
/// Error: lists the names there are.
Result<TraceFormat> parse_trace_format(std::string_view name);

enum class BadRows : uint8_t { kRefuse, kSkip };

struct TraceOptions {
  TraceFormat format = TraceFormat::kAuto;
  BadRows bad_rows = BadRows::kRefuse;
};

/// What reading found beside the jobs.
struct TraceNotes {
  TraceFormat format = TraceFormat::kAuto;  ///< as recognised
  uint64_t rows = 0;                        ///< jobs given out
  uint64_t skipped = 0;                     ///< bad rows left out (BadRows::kSkip)
  std::string first_skipped;                ///< what was wrong with the first of them: "file:line:column: …"
  uint64_t left_out = 0;                    ///< good rows of jobs that never ran or ask for nothing, as the format says
  int64_t epoch = 0;  ///< Unix seconds of Instant{0}, from the first job on; 0 where times are relative already
};

/// A trace, job by job, in order of submission. Streams: memory does not grow with the trace (but for its ids, see
/// IdSet) where the format's rows come in order of submission (tiresias, muri, swf, weft); the others (openb, philly,
/// helios, philly-log, pai, lingjun, sacct) are read whole, some 60 bytes a job, and sorted by submission, then by
/// their place in the file. Dates become instants from the second of the first submission on.
///
/// Reads plain and gzip files (by content, not by name), LF and CRLF, with or without a byte order mark. Errors are one
/// line, "file:line:column: what was wrong; what is expected": truncated and malformed rows, a submission before that
/// of the row above (formats that stream), run times of zero or less, an id twice, a row of more than 1 MiB, an empty
/// trace.
class TraceReader {
 public:
  virtual ~TraceReader() = default;
  enum class Step : uint8_t { kJob, kEnd };
  /// The next job into `job` (its strings' memory is used again). After an error or the end: the same again.
  virtual Result<Step> next(TraceJob& job) = 0;
  virtual const TraceNotes& notes() const = 0;
  /// How much of the trace has been given out, about, in 0 … 1; NaN where nobody can tell (a pipe, say).
  virtual double share_given() const { return std::numeric_limits<double>::quiet_NaN(); }
};

/// `path` is a file, or the folder of a format with several tables. kWeftCsv, which parse_trace_format() gives for
/// "weft", takes both of weft's own formats.
Result<std::unique_ptr<TraceReader>> open_trace(const std::string& path, const TraceOptions& options);

/// The same of bytes from elsewhere, plain or gzip; no format with several tables.
Result<std::unique_ptr<TraceReader>> open_trace(std::unique_ptr<ByteSource> source, const TraceOptions& options);

/// All jobs of a trace. For those who need the whole.
Result<std::vector<TraceJob>> read_trace(const std::string& path, const TraceOptions& options,
                                         TraceNotes* notes = nullptr);

}  // namespace weft::sim
