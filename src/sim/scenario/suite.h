#pragma once

#include "base/result.h"
#include "sim/scenario/runner.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::scenario {

/// One document of one file and what came of it.
struct SuiteEntry {
  std::string file;
  Place at;
  std::string title;
  std::vector<std::string> tags;
  std::vector<Problem> problems;  ///< what is wrong with the document; then it was not run and counts as failed
  RunResult result;
};

/// "passed", "failed", "not supported yet" or "malformed".
std::string_view outcome_word(const SuiteEntry& entry);

struct SuiteResult {
  std::vector<SuiteEntry> entries;
  std::vector<std::string> unreadable;  ///< files and folders that could not be read at all, a line each
  int64_t passed = 0;
  int64_t failed = 0;
  int64_t not_supported = 0;
  int64_t malformed = 0;  ///< of the failed ones
};

/// Runs every scenario of the files, and of all *.yaml and *.yml files under the folders, in the order of their names.
SuiteResult run_suite(const std::vector<std::string>& paths, Transcript transcript);

/// What was wrong with the input: files that could not be read and documents that are no scenarios, a line each. For
/// the error output.
std::string suite_errors(const SuiteResult& suite);
/// What failed or could not be judged, and the closing line; nothing where nothing was read. With `kOn` every scenario
/// and its decisions, too.
std::string suite_text(const SuiteResult& suite, Transcript transcript);
std::string suite_json(const SuiteResult& suite);
/// "12 passed, 1 failed, 3 not supported yet; 1 not read": files and folders the last
std::string closing_line(const SuiteResult& suite);

}  // namespace weft::scenario
