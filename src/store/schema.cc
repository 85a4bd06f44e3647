#include "store/schema.h"

#include "embedded/store/journal_1.sql.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

namespace weft::store {

namespace {

constexpr std::array<std::string_view, kSchemaVersion> kSteps{embedded::kJournal1Sql};

}  // namespace

Result<void> migrate(Database& database) {
  const Result<int64_t> form = database.integer("PRAGMA user_version");
  if (!form) return std::unexpected(form.error());
  std::string script = "BEGIN IMMEDIATE;\n";
  for (auto step = static_cast<size_t>(*form); step < kSteps.size(); ++step) script += kSteps[step];
  script +=
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;", kApplicationId, kSchemaVersion);
  return database.run(script);
}

}  // namespace weft::store
