#include "model/vocabulary.h"

namespace weft {

LevelId Vocabulary::find_level(std::string_view name) const {
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] == name) return make_id<LevelId>(i);
  }
  return kNone<LevelId>;
}

std::string label_text(std::string_view key, std::string_view value) {
  std::string text;
  text.reserve(key.size() + 1 + value.size());
  text += key;
  text += '=';
  text += value;
  return text;
}

}  // namespace weft
