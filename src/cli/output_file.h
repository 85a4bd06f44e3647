#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

/// A file that an option names.
struct NamedFile {
  std::string_view option;  ///< "--json"
  std::string path;         ///< "-": standard output
};

/// One of them is standard output, which then holds nothing else.
bool takes_standard_output(const std::vector<NamedFile>& outputs);

/// Can these files be written, as far as one can tell before hours of work go into them? Errors: an empty name, a
/// directory, no folder to write in, two outputs in one place, or an output in the place of one of `inputs`.
Result<void> check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

/// Writes all of `text`, or leaves what was there as it was: into a new file beside `path`, which then takes its place
/// and its permissions. A link is followed. What is no regular file (a pipe, a terminal, /dev/null) is written to
/// directly, and "-" is standard output; those are never replaced.
Result<void> write_output(const std::string& path, std::string_view text);

}  // namespace weft::cli
