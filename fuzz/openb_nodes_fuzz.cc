// The list of nodes under arbitrary bytes: what is read must be in range and sorted, and what is refused must be
// refused with one short printable line that names a place.

#include "base/check.h"
#include "base/text.h"
#include "sim/saturation/openb.h"

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto nodes = weft::sim::read_openb_nodes(text, "f.csv");
  if (!nodes) {
    WEFT_CHECK(nodes.error().code == weft::ErrorCode::kInvalidInput, "a bad list is the user's");
    check_message(nodes.error().message);
    return 0;
  }
  WEFT_CHECK(!nodes->empty(), "a list without rows is refused");
  const auto is_before = [](const auto& a, const auto& b) { return a.name < b.name; };
  WEFT_CHECK(std::ranges::is_sorted(*nodes, is_before), "rows come back by name");
  const auto is_same = [](const auto& a, const auto& b) { return a.name == b.name; };
  WEFT_CHECK(std::ranges::adjacent_find(*nodes, is_same) == nodes->end(), "names are distinct");
  for (const weft::sim::OpenbNode& node : *nodes) {
    WEFT_CHECK(!node.name.empty() && node.cpu_milli >= 0 && node.memory_mib >= 0, "numbers are in range");
    WEFT_CHECK(node.gpus >= 0 && node.gpus <= 64 && (node.gpus > 0) == !node.model.empty(), "GPUs have a model");
  }
  return 0;
}
