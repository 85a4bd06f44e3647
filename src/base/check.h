#pragma once

#include <source_location>
#include <string_view>

namespace weft {

/// Prints the condition, the place and the reason to stderr and aborts. Never returns.
[[noreturn]] void check_failed(std::string_view condition, std::string_view reason,
                               std::source_location where = std::source_location::current());

}  // namespace weft

/// A bug if false: stops the process in every build. The reason says why the condition must hold.
#define WEFT_CHECK(condition, reason)           \
  do {                                          \
    if (!(condition)) [[unlikely]]              \
      ::weft::check_failed(#condition, reason); \
  } while (false)

/// The same for audits that cost more than O(1); compiled in only where WEFT_DEBUG_CHECKS is 1.
#if defined(WEFT_DEBUG_CHECKS) && WEFT_DEBUG_CHECKS
#define WEFT_DCHECK(condition, reason) WEFT_CHECK(condition, reason)
#else
#define WEFT_DCHECK(condition, reason) \
  do {                                 \
  } while (false)
#endif
