#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

/// The words between separators, sorted, each once; nothing between two separators is passed over.
void read_words(std::string_view text, char separator, std::vector<std::string>& words);

}  // namespace weft::sim
