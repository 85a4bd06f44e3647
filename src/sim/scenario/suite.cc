#include "sim/scenario/suite.h"

#include "base/printable.h"
#include "sim/scenario/yaml.h"
#include "sim/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace weft::scenario {
namespace {

namespace fs = std::filesystem;

bool is_scenario_file(const fs::path& path) { return path.extension() == ".yaml" || path.extension() == ".yml"; }

/// Files under a folder, sorted by their whole paths. Links to folders are not followed: they could lead round in a
/// ring.
std::vector<std::string> files_under(const fs::path& folder, std::string& problem) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (is_scenario_file(it->path()) && !it->is_directory(error)) files.push_back(it->path().string());
    error.clear();
  }
  if (error)
    problem = fmt::format("{}: the folder cannot be read: {}", printable(folder.string()), error.message());
  else if (files.empty())
    problem = fmt::format("{}: the folder holds no *.yaml or *.yml file", printable(folder.string()));
  std::sort(files.begin(), files.end());
  return files;
}

void count(const SuiteEntry& entry, SuiteResult& suite) {
  if (!entry.problems.empty()) {
    ++suite.failed;
    ++suite.malformed;
    return;
  }
  switch (entry.result.outcome) {
    case Outcome::kPassed: ++suite.passed; return;
    case Outcome::kFailed: ++suite.failed; return;
    case Outcome::kNotSupported: ++suite.not_supported; return;
  }
}

void run_file(const std::string& file, Transcript transcript, SuiteResult& suite) {
  const auto text = sim::read_file(file, static_cast<int64_t>(kYamlBytesMax));
  if (!text) {
    suite.unreadable.push_back(text.error().message);
    return;
  }
  for (ScenarioDocument& document : read_scenarios(*text)) {
    SuiteEntry entry{.file = file,
                     .at = document.at,
                     .title = document.title,
                     .tags = {},
                     .problems = document.problems,
                     .result = {}};
    if (document.scenario) {
      entry.tags = document.scenario->tags;
      entry.result = run_scenario(*document.scenario, transcript);
      if (entry.result.refused) entry.problems.push_back(*entry.result.refused);
    }
    count(entry, suite);
    suite.entries.push_back(std::move(entry));
  }
}

std::string place_text(const SuiteEntry& entry, Place at) {
  return fmt::format("{}:{}:{}", printable(entry.file), at.line, at.column);
}

void append_entry(const SuiteEntry& entry, Transcript transcript, std::string& out) {
  const bool is_verbose = transcript == Transcript::kOn;
  if (!entry.problems.empty()) return;
  const Outcome outcome = entry.result.outcome;
  if (outcome == Outcome::kNotSupported) {
    out += fmt::format("{}:{}: not supported yet: {} ({})\n", printable(entry.file), entry.at.line,
                       fmt::join(entry.result.needs, ", "), printable(entry.title));
    for (const Failure& note : entry.result.need_notes)
      out += fmt::format("  {}: {}\n", place_text(entry, note.at), printable(note.text));
  } else if (outcome == Outcome::kFailed || is_verbose) {
    out += fmt::format("{}:{}: {}: {}\n", printable(entry.file), entry.at.line, outcome_word(entry),
                       printable(entry.title));
  }
  if (is_verbose) {
    for (const std::string& line : entry.result.transcript) out += line + "\n";
  }
  if (outcome != Outcome::kFailed) return;
  for (const Failure& failure : entry.result.failures)
    out += fmt::format("  {}: {}\n", place_text(entry, failure.at), printable(failure.text));
}

}  // namespace

std::string_view outcome_word(const SuiteEntry& entry) {
  if (!entry.problems.empty()) return "malformed";
  switch (entry.result.outcome) {
    case Outcome::kPassed: return "passed";
    case Outcome::kFailed: return "failed";
    case Outcome::kNotSupported: return "not supported yet";
  }
  return "failed";
}

SuiteResult run_suite(const std::vector<std::string>& paths, Transcript transcript) {
  SuiteResult suite;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      run_file(path, transcript, suite);
      continue;
    }
    std::string problem;
    for (const std::string& file : files_under(path, problem)) run_file(file, transcript, suite);
    if (!problem.empty()) suite.unreadable.push_back(problem);
  }
  return suite;
}

std::string closing_line(const SuiteResult& suite) {
  std::string out = fmt::format("{} passed, {} failed", suite.passed, suite.failed);
  if (suite.not_supported > 0) out += fmt::format(", {} not supported yet", suite.not_supported);
  if (!suite.unreadable.empty()) out += fmt::format("; {} not read", suite.unreadable.size());
  return out;
}

std::string suite_errors(const SuiteResult& suite) {
  std::string out;
  for (const std::string& line : suite.unreadable) out += line + "\n";
  for (const SuiteEntry& entry : suite.entries) {
    for (const Problem& problem : entry.problems) {
      out += fmt::format("{}: {}\n", place_text(entry, problem.at), printable(problem.message));
    }
  }
  return out;
}

std::string suite_text(const SuiteResult& suite, Transcript transcript) {
  if (suite.entries.empty()) return {};
  std::string out;
  for (const SuiteEntry& entry : suite.entries) append_entry(entry, transcript, out);
  return out + closing_line(suite) + "\n";
}

}  // namespace weft::scenario
