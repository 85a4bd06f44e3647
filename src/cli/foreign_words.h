#pragma once

#include <string_view>

namespace weft::cli {

// Words that people bring along from other schedulers, and what weft has in their place: "there are no job arrays yet;
// …". Empty for a word that means nothing here.

std::string_view foreign_command_text(std::string_view command);
/// `option` with its dashes, without a value.
std::string_view foreign_option_text(std::string_view option);

}  // namespace weft::cli
