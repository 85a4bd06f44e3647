#pragma once

#include "base/result.h"
#include "sim/text_window.h"
#include "sim/trace/trace_reader.h"

#include <string>

namespace weft::sim {

/// The format of a file by its first line that is not blank; passes over nothing. Errors: the file is empty, a first
/// line without an end, or one like which none of the formats begins (with a list of them).
Result<TraceFormat> recognise_trace(TextWindow& file);

/// The format of a folder by the tables in it.
Result<TraceFormat> recognise_trace_folder(const std::string& folder);

/// Where the table `file` of `folder` is: as it is called or with ".gz" behind; empty: nowhere.
std::string table_in(const std::string& folder, const std::string& file);

}  // namespace weft::sim
