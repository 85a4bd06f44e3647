// The formats of several tables: the first byte says which, a byte of zero ends a table.

#include "sim/byte_source.h"
#include "sim/text_window.h"
#include "sim/trace/formats.h"
#include "sim/trace/trace_checks_testing.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using Tables = std::array<std::string_view, 3>;

weft::sim::TextWindow window(std::string_view table, size_t piece) {
  return weft::sim::TextWindow(weft::sim::bytes_of(table, "t", piece));
}

weft::fuzz::Outcome read(const Tables& tables, size_t piece, uint8_t kind, weft::sim::BadRows bad_rows) {
  using weft::sim::TraceFormat;
  if (kind % 2 == 0) {
    weft::sim::PaiTables pai{.jobs = window(tables[0], piece), .tasks = window(tables[1], piece), .tags = std::nullopt};
    if (!tables[2].empty()) pai.tags = window(tables[2], piece);
    return weft::fuzz::drain(
        weft::sim::open_trace(weft::sim::open_pai_rows(std::move(pai)), TraceFormat::kPai, bad_rows));
  }
  return weft::fuzz::drain(weft::sim::open_trace(
      weft::sim::open_lingjun_rows({.jobs = window(tables[0], piece), .workers = window(tables[1], piece)}),
      TraceFormat::kLingjun, bad_rows));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  Tables tables;
  for (std::string_view& table : tables) {
    const size_t end = std::min(text.find('\0'), text.size());
    table = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  using weft::sim::BadRows;
  constexpr size_t kWhole = size_t{1} << 20;
  const weft::fuzz::Outcome refused = read(tables, kWhole, data[0], BadRows::kRefuse);
  WEFT_CHECK(refused == read(tables, 5, data[0], BadRows::kRefuse), "a trace is the same however its bytes come");
  const weft::fuzz::Outcome skipped = read(tables, kWhole, data[0], BadRows::kSkip);
  WEFT_CHECK(!refused.error.empty() || refused == skipped, "of a good trace nothing is skipped");
  weft::fuzz::check_round_trip(skipped);
  return 0;
}
