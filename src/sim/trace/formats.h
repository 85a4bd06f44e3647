#pragma once

#include "base/result.h"
#include "sim/text_window.h"
#include "sim/trace/trace_reader.h"
#include "sim/trace/trace_rows.h"

#include <memory>
#include <optional>
#include <string>

namespace weft::sim {

// The readers of the formats. Each is given its file from the start (or its folder), knows nothing of the others, and
// reads rows as they come; open_trace() puts the common checks and the order on top.

using OpenedRows = Result<std::unique_ptr<TraceRows>>;

OpenedRows open_openb_rows(TextWindow file);
OpenedRows open_philly_rows(TextWindow file);
OpenedRows open_tiresias_rows(TextWindow file);
OpenedRows open_muri_rows(TextWindow file);
OpenedRows open_helios_rows(TextWindow file);
OpenedRows open_philly_log_rows(TextWindow file);
OpenedRows open_swf_rows(TextWindow file);
OpenedRows open_sacct_rows(TextWindow file);
OpenedRows open_weft_csv_rows(TextWindow file);
OpenedRows open_weft_yaml_rows(TextWindow file);

struct PaiTables {
  TextWindow jobs;
  TextWindow tasks;
  std::optional<TextWindow> tags;  ///< pai_group_tag_table, which may be missing
};
OpenedRows open_pai_rows(PaiTables tables);

struct LingjunTables {
  TextWindow jobs;
  TextWindow workers;
};
OpenedRows open_lingjun_rows(LingjunTables tables);

/// The same of the tables in a folder, each as it is called or with ".gz" behind.
OpenedRows open_pai_folder(const std::string& folder);
OpenedRows open_lingjun_folder(const std::string& folder);

/// The common checks and the order on top of rows: what open_trace() gives.
Result<std::unique_ptr<TraceReader>> open_trace(OpenedRows rows, TraceFormat format, BadRows bad_rows);

}  // namespace weft::sim
