// The readers that are no CSV: the first byte chooses between the Standard Workload Format, Philly's log and weft's
// YAML, the rest is the file.

#include "sim/trace/trace_checks_testing.h"
#include "sim/trace/trace_reader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using Format = weft::sim::TraceFormat;
  constexpr std::array kFormats{Format::kSwf, Format::kPhillyLog, Format::kWeftYaml};
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  weft::fuzz::check_trace(text, kFormats[data[0] % kFormats.size()]);
  return 0;
}
