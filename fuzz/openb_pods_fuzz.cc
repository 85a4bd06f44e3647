// The list of pods under arbitrary bytes, and the table reader below it: what is read must be in range and make
// arrivals, and what is refused must be refused with one short printable line that names a place.

#include "base/check.h"
#include "base/text.h"
#include "sim/csv.h"
#include "sim/saturation/openb.h"
#include "sim/saturation/protocol.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

void check_message(const std::string& message) {
  WEFT_CHECK(message.starts_with("f.csv:"), "an error names the file");
  WEFT_CHECK(message.size() < 1000 && weft::is_utf8(message), "a message is short text, whatever the input was");
  for (const char c : message) WEFT_CHECK(static_cast<unsigned char>(c) >= 0x20, "a message is one line");
}

/// Every field lies where it is said to lie, and every row ends.
void check_rows(std::string_view text) {
  weft::sim::CsvReader reader(text, "f.csv");
  std::vector<weft::sim::CsvField> fields;
  uint32_t last_line = 0;
  for (size_t rows = 0;; ++rows) {
    WEFT_CHECK(rows <= text.size(), "a row takes at least a byte");
    const auto step = reader.next(fields);
    if (!step) {
      check_message(step.error().message);
      return;
    }
    if (*step == weft::sim::CsvReader::Step::kEnd) return;
    WEFT_CHECK(!fields.empty() && fields.front().line > last_line, "rows come line by line");
    last_line = fields.front().line;
    for (const weft::sim::CsvField& field : fields)
      WEFT_CHECK(field.column >= 1 && field.line >= last_line, "places count from one");
  }
}

void check_arrivals(const std::vector<weft::sim::OpenbPod>& pods) {
  const std::vector<weft::sim::OpenbNode> nodes{
      {.name = "n", .cpu_milli = 1000, .memory_mib = 1, .gpus = 1, .model = "T4"}};
  const auto arrivals = weft::sim::make_arrivals(nodes, pods, 42, 1.3);
  if (!arrivals) return;
  for (const uint32_t pod : arrivals->pods) WEFT_CHECK(pod < pods.size(), "arrivals are of the list");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_rows(text);
  const auto pods = weft::sim::read_openb_pods(text, "f.csv");
  if (!pods) {
    check_message(pods.error().message);
    return 0;
  }
  for (const weft::sim::OpenbPod& pod : *pods) {
    WEFT_CHECK(!pod.name.empty() && pod.cpu_milli >= 0 && pod.memory_mib >= 0 && pod.gpus >= 0, "numbers are in range");
    const bool is_cpu_only = pod.gpus == 0 && pod.gpu_milli == 0;
    const bool is_part = pod.gpus == 1 && pod.gpu_milli >= 1 && pod.gpu_milli <= 1000;
    WEFT_CHECK(is_cpu_only || is_part || (pod.gpus > 1 && pod.gpu_milli == 1000),
               "thousandths match the number of GPUs");
    WEFT_CHECK(std::ranges::is_sorted(pod.models), "models are sorted");
  }
  if (pods->size() <= 64) check_arrivals(*pods);
  return 0;
}
