#include "sim/trace/recognise.h"

#include "base/printable.h"
#include "base/text.h"
#include "sim/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <vector>

namespace weft::sim {

namespace {

/// The columns that tell a CSV from those of the other formats. The first that fits counts.
struct Signature {
  TraceFormat format;
  std::vector<std::string_view> columns;
};

const std::vector<Signature>& signatures() {
  static const std::vector<Signature> kAll{
      {TraceFormat::kMuri, {"job_id", "num_gpu", "submit_time", "duration", "iteration_time"}},
      {TraceFormat::kTiresias, {"job_id", "num_gpu", "submit_time", "duration"}},
      {TraceFormat::kHelios, {"job_id", "gpu_num", "node_num", "submit_time"}},
      {TraceFormat::kOpenb, {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}},
      {TraceFormat::kPhilly, {"timestamp", "duration", "num_gpus"}},
      {TraceFormat::kWeftCsv, {"id", "submit", "run_time"}},
  };
  return kAll;
}

constexpr std::string_view kKnown =
    "openb (name,cpu_milli,memory_mib,num_gpu,gpu_milli,…), philly (timestamp,duration,num_gpus,…), "
    "tiresias (job_id,num_gpu,submit_time,duration,…), muri (the same and iteration_time), "
    "helios (job_id,…,gpu_num,node_num,…,submit_time,…), philly-log (JSON), pai and lingjun (folders), "
    "swf (lines of 18 numbers, comments with ;), sacct (JobID|…), weft (id,submit,run_time,… or YAML with weft_trace: "
    "1)";

/// The names of columns, without quotes.
std::vector<std::string_view> names_in(std::string_view line, char separator) {
  std::vector<std::string_view> names = split(line, separator);
  for (std::string_view& name : names) {
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
  }
  return names;
}

bool has(const std::vector<std::string_view>& fields, std::string_view name) {
  return std::ranges::find(fields, name) != fields.end();
}

/// A line of the Standard Workload Format: 18 numbers.
bool is_swf(std::string_view line) {
  size_t count = 0;
  while (!line.empty()) {
    const size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos) break;
    line.remove_prefix(start);
    const size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    if (!parse_number(line.substr(0, end))) return false;
    ++count;
    line.remove_prefix(end);
  }
  return count == 18;
}

std::optional<TraceFormat> format_of(std::string_view line) {
  const char first = line[line.find_first_not_of(" \t")];
  if (first == '[' || first == '{') return TraceFormat::kPhillyLog;
  if (first == ';') return TraceFormat::kSwf;
  if (first == '#' || first == '%' || line.starts_with("---") || line.starts_with("weft_trace:") ||
      line.starts_with("epoch:") || line.starts_with("jobs:"))
    return TraceFormat::kWeftYaml;
  const std::vector<std::string_view> bars = names_in(line, '|');
  if (has(bars, "JobID") || has(bars, "JobIDRaw")) return TraceFormat::kSacct;
  const std::vector<std::string_view> commas = names_in(line, ',');
  for (const Signature& signature : signatures()) {
    if (std::ranges::all_of(signature.columns, [&](std::string_view column) { return has(commas, column); }))
      return signature.format;
  }
  if (is_swf(line)) return TraceFormat::kSwf;
  return std::nullopt;
}

/// The first line that is not blank, of what is here.
struct FirstLine {
  std::string_view text;
  uint32_t number = 1;
  bool is_whole = false;
};

FirstLine first_line(std::string_view head) {
  FirstLine line;
  for (;;) {
    const size_t end = head.find('\n');
    line.text = head.substr(0, end);
    line.is_whole = end != std::string_view::npos;
    if (!line.is_whole || line.text.find_first_not_of(" \t\r") != std::string_view::npos) break;
    head.remove_prefix(end + 1);
    ++line.number;
  }
  if (line.is_whole && line.text.ends_with('\r')) line.text.remove_suffix(1);
  return line;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace

Result<TraceFormat> recognise_trace(TextWindow& file) {
  constexpr size_t kLook = size_t{64} << 10;
  const auto wrong = [&](std::string_view message) {
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: {}", file.name(), message));
  };
  Result<std::string_view> head = file.head(kLook);
  if (!head) return std::unexpected(std::move(head.error()));
  FirstLine line = first_line(*head);
  if (!line.is_whole && !is_blank(line.text) && format_of(line.text) == TraceFormat::kPhillyLog) {
    return TraceFormat::kPhillyLog;  // an array on one line may be of any length
  }
  if (!line.is_whole && head->size() == kLook) {
    head = file.head(kLineBytesMax + 2);
    if (!head) return std::unexpected(std::move(head.error()));
    line = first_line(*head);
  }
  if (is_blank(line.text)) return wrong("the file is empty; expected a trace");
  if (line.text.size() > kLineBytesMax) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}:{}:{}: the row goes on here; expected its end within {} bytes", file.name(),
                            line.number, kLineBytesMax + 1, format_count(static_cast<int64_t>(kLineBytesMax))));
  }
  if (const std::optional<TraceFormat> format = format_of(line.text)) return *format;
  return fail(ErrorCode::kInvalidInput, fmt::format("{}:{}:1: no format begins like this: {}; expected one of {}",
                                                    file.name(), line.number, quote(line.text), kKnown));
}

std::string table_in(const std::string& folder, const std::string& file) {
  std::error_code code;
  for (const char* const ending : {"", ".gz"}) {
    std::string path = (std::filesystem::path(folder) / (file + ending)).string();
    if (std::filesystem::exists(path, code)) return path;
  }
  return {};
}

Result<TraceFormat> recognise_trace_folder(const std::string& folder) {
  if (!table_in(folder, "pai_job_table.csv").empty()) return TraceFormat::kPai;
  if (!table_in(folder, "job.csv").empty()) return TraceFormat::kLingjun;
  return fail(ErrorCode::kInvalidInput,
              fmt::format("{}: is a directory; expected a file, or a folder with pai_job_table.csv and "
                          "pai_task_table.csv (pai) or job.csv and worker.csv (lingjun)",
                          printable(folder)));
}

}  // namespace weft::sim
