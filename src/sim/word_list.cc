#include "sim/word_list.h"

#include <algorithm>

namespace weft::sim {

void read_words(std::string_view text, char separator, std::vector<std::string>& words) {
  words.clear();
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

}  // namespace weft::sim
