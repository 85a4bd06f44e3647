#include "base/check.h"
#include "cli/script_directives.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Whatever the script, its directives are read or refused in one line; lines are ascending and never empty.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = weft::cli::read_directives(text, "script");
  if (!lines) {
    WEFT_CHECK(lines.error().message.find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  size_t before = 0;
  for (const weft::cli::DirectiveLine& line : *lines) {
    WEFT_CHECK(line.line > before && !line.words.empty(),
               "each line of directives is given once, and only if it has any");
    before = line.line;
  }
  return 0;
}
