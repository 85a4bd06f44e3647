#pragma once

#include "base/result.h"
#include "sim/scenario/fields.h"

#include <functional>
#include <string>
#include <string_view>

namespace weft::scenario {

using TakeRoot = std::function<void(const YamlNode& root, Problems& problems)>;

/// Hands the one document of a YAML text to `take`. `name` is the file's, `what` what the document should be ("a
/// policy"). Errors: one line, "file:line:column: …": no YAML, no document or several, and the first of the problems
/// that `take` notes, with how many more there are.
Result<void> read_yaml_text(std::string_view text, const std::string& name, std::string_view what,
                            const TakeRoot& take);
/// The same of a file. Errors also: it cannot be read, or is no text.
Result<void> read_yaml_file(const std::string& path, std::string_view what, const TakeRoot& take);

}  // namespace weft::scenario
