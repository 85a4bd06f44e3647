#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

/// The words of one `#WEFT` line of a script.
struct DirectiveLine {
  size_t line = 0;  ///< of the script, from 1
  std::vector<std::string> words;
  bool operator==(const DirectiveLine&) const = default;
};

/// Reads the lines `#WEFT --option value …` of a script, up to its first line that is neither blank nor a comment.
/// Quotes and backslashes keep blanks together as in a shell; `##WEFT` and `#WEFTfoo` are comments like any other, and
/// # starts one in a line. Errors are given as "name:line:column: …".
Result<std::vector<DirectiveLine>> read_directives(std::string_view script, std::string_view name);

/// The first line `#WEFT …` behind the first command, where it is not read; 0 where there is none.
size_t find_late_line(std::string_view script);

/// The first line `#SBATCH …` there, which is for another scheduler; 0 where there is none.
size_t find_slurm_line(std::string_view script);

}  // namespace weft::cli
