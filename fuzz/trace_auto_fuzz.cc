// Files of which nobody said the format: recognised by their beginning, also where they are packed, or refused with a
// list of formats.

#include "sim/trace/trace_checks_testing.h"
#include "sim/trace/trace_reader.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  weft::fuzz::check_trace(text, weft::sim::TraceFormat::kAuto);
  return 0;
}
