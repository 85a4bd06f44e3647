#include "base/printable.h"
#include "sim/scenario/suite.h"

#include <boost/json.hpp>

namespace weft::scenario {
namespace {

namespace json = boost::json;

json::array strings(const std::vector<std::string>& items) {
  json::array out;
  for (const std::string& item : items) out.push_back(json::value(as_utf8(item)));
  return out;
}

json::object place(Place at) { return {{"line", at.line}, {"column", at.column}}; }

json::object entry_object(const SuiteEntry& entry) {
  json::object out{{"file", as_utf8(entry.file)},
                   {"line", entry.at.line},
                   {"scenario", entry.title},
                   {"outcome", outcome_word(entry)}};
  out["tags"] = strings(entry.tags);
  json::array problems;
  for (const Problem& problem : entry.problems) {
    json::object row = place(problem.at);
    row["message"] = problem.message;
    problems.push_back(std::move(row));
  }
  out["problems"] = std::move(problems);
  json::array failures;
  if (entry.result.outcome == Outcome::kFailed) {
    for (const Failure& failure : entry.result.failures) {
      json::object row = place(failure.at);
      row["message"] = failure.text;
      failures.push_back(std::move(row));
    }
  }
  out["failures"] = std::move(failures);
  out["needs"] = strings(entry.result.needs);
  json::array notes;
  for (const Failure& note : entry.result.need_notes) {
    json::object row = place(note.at);
    row["message"] = note.text;
    notes.push_back(std::move(row));
  }
  out["need_notes"] = std::move(notes);
  out["decisions"] = strings(entry.result.transcript);
  return out;
}

}  // namespace

std::string suite_json(const SuiteResult& suite) {
  json::array scenarios;
  for (const SuiteEntry& entry : suite.entries) scenarios.push_back(entry_object(entry));
  json::object out{{"passed", suite.passed}, {"failed", suite.failed}, {"not_supported", suite.not_supported}};
  out["unreadable"] = strings(suite.unreadable);
  out["scenarios"] = std::move(scenarios);
  return json::serialize(out);
}

}  // namespace weft::scenario
