#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace weft {

void check_failed(std::string_view condition, std::string_view reason, std::source_location where) {
  std::fprintf(stderr, "%s:%u: check failed: %.*s: %.*s\n", where.file_name(), static_cast<unsigned>(where.line()),
               static_cast<int>(condition.size()), condition.data(), static_cast<int>(reason.size()), reason.data());
  std::abort();
}

}  // namespace weft
