#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::sim {

/// Writes one JSON value of objects and arrays, two blanks to a level, with numbers as short as they can be read back
/// exactly. Text that is not UTF-8 has U+FFFD in the place of each wrong byte; NaN and infinities are null.
/// Requires: in an object every value and every open_ has a key, in an array none has; what is opened is closed.
class JsonWriter {
 public:
  void open_object(std::string_view key = {}) { open(key, '{', '}'); }
  void open_array(std::string_view key = {}) { open(key, '[', ']'); }
  void close();

  void add(std::string_view key, std::string_view text);
  void add(std::string_view key, const char* text) { add(key, std::string_view(text)); }
  void add(std::string_view key, double number);
  template <std::integral Integer>
  void add(std::string_view key, Integer number) {
    if constexpr (std::same_as<Integer, bool>) {
      add_literal(key, number ? "true" : "false");
    } else {
      add_literal(key, std::to_string(number));
    }
  }

  /// The text, with a line end. The writer is empty then.
  std::string take();

 private:
  struct Level {
    char end;
    size_t values = 0;
  };

  void open(std::string_view key, char begin, char end);
  void add_literal(std::string_view key, std::string_view literal);
  void begin_value(std::string_view key);
  void add_text(std::string_view text);
  void new_line();

  std::string text_;
  std::vector<Level> levels_;
};

}  // namespace weft::sim
