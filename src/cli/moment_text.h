#pragma once

#include "base/result.h"
#include "base/units.h"
#include "store/journal.h"

#include <string>

namespace weft::cli {

/// "3h20m05.25s": all of it, as --at takes it.
std::string instant_text(Instant at);
/// The same, with the time on the wall behind it where the run has one.
std::string moment_text(const store::JournalHead& head, Instant at);

/// A moment as --at names it: a time since the start ("3h20m", "5400"), or where the run has times on the wall also
/// "2025-03-01 14:05:00" (of this machine's zone; with a Z of UTC) and "@1740837900" (Unix seconds). Error: wrong, or
/// before the start.
Result<Instant> parse_moment(const std::string& written, const store::JournalHead& head);

}  // namespace weft::cli
