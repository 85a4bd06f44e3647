#pragma once

#include "base/result.h"

#include <boost/json/fwd.hpp>

#include <string_view>

namespace weft::service {

/// Parses one JSON text whole: valid UTF-8, nesting of at most 32, no key twice in one object.
/// Errors name line and column, both from 1.
Result<boost::json::value> parse_strict_json(std::string_view text);

}  // namespace weft::service
