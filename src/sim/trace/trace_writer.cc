#include "sim/trace/trace_writer.h"

#include "sim/csv.h"
#include "sim/trace/weft_fields.h"

#include <fmt/format.h>

#include <iterator>

namespace weft::sim {

namespace {

/// In double quotes, where only these have to be escaped.
void append_yaml_text(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: out += c;
    }
  }
  out += '"';
}

}  // namespace

void TraceCsvWriter::write(const TraceJob& job, std::string& out) {
  if (!has_header_) {
    for (const WeftField& field : weft_fields()) {
      if (&field != &weft_fields().front()) out += ',';
      out += field.name;
    }
    if (epoch_ != 0) out += ",epoch";
    out += '\n';
  }
  std::string text;
  for (const WeftField& field : weft_fields()) {
    if (&field != &weft_fields().front()) out += ',';
    if (field.kind == WeftField::Kind::kNumber) {
      field.write(job, out);
      continue;
    }
    text.clear();
    field.write(job, text);
    if (!text.empty()) out += csv_text(text);
  }
  if (epoch_ != 0) out += ',';
  if (epoch_ != 0 && !has_header_) fmt::format_to(std::back_inserter(out), "{}", epoch_);
  out += '\n';
  has_header_ = true;
}

std::string trace_csv(std::span<const TraceJob> jobs, int64_t epoch) {
  std::string out;
  TraceCsvWriter writer(epoch);
  for (const TraceJob& job : jobs) writer.write(job, out);
  return out;
}

std::string trace_yaml(std::span<const TraceJob> jobs, int64_t epoch) {
  constexpr size_t kJobsOfDocument = 5000;  // a parser holds a whole document
  std::string out;
  std::string text;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (i % kJobsOfDocument == 0) {
      out += i == 0 ? "weft_trace: 1\n" : "---\nweft_trace: 1\n";
      if (epoch != 0) fmt::format_to(std::back_inserter(out), "epoch: {}\n", epoch);
      out += "jobs:\n";
    }
    std::string_view before = "  - {";
    for (const WeftField& field : weft_fields()) {
      text.clear();
      field.write(jobs[i], text);
      if (text.empty()) continue;
      out += before;
      before = ", ";
      out += field.name;
      out += ": ";
      if (field.kind == WeftField::Kind::kText) {
        append_yaml_text(text, out);
      } else {
        out += text;
      }
    }
    out += "}\n";
  }
  return out;
}

}  // namespace weft::sim
