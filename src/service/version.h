#pragma once

#include <string_view>

namespace weft::service {

/// The same as in CMakeLists.txt.
inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace weft::service
