#pragma once

#include "base/result.h"
#include "store/database.h"

#include <cstdint>

namespace weft::store {

/// Marks a database as weft's: "weft" in the header of the file.
inline constexpr int64_t kApplicationId = 0x77656674;
/// The form of the tables, in the header too (user_version). The scripts journal_1.sql … lead from each form to the
/// next.
inline constexpr int64_t kSchemaVersion = 1;

/// Brings the tables to kSchemaVersion, from whatever form they have; a new database has none. All or nothing.
Result<void> migrate(Database& database);

}  // namespace weft::store
