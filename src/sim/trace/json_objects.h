#pragma once

#include "base/result.h"
#include "sim/text_window.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::sim {

/// The objects of a JSON array one by one, each as its text: an array of any length is read in bounded memory. Also
/// takes objects that stand one behind the other without an array around them.
class JsonObjects {
 public:
  static constexpr size_t kObjectBytesMax = size_t{1} << 20;

  explicit JsonObjects(TextWindow window) : window_(std::move(window)) {}

  /// The next object, from its { to its }; valid until the next call. False: there is none. Errors: something else than
  /// an object; a text that ends inside; an object of more than kObjectBytesMax. Whether the object itself is JSON is
  /// for its reader to find out.
  Result<bool> next(std::string_view& object);
  /// False after an error behind which no next object can be found.
  bool goes_on() const { return !is_broken_; }

  const std::string& name() const { return window_.name(); }
  /// Of a place in the object that was given last, in bytes from its start.
  std::unexpected<Error> error_at(size_t offset, std::string_view message) const;

 private:
  /// Passes over blanks; the character that follows, '\0' at the end.
  Result<char> next_sign();
  Result<size_t> find_end_of_object();
  void pass(size_t bytes);
  std::unexpected<Error> broken(std::string_view message);

  TextWindow window_;
  uint32_t line_ = 1;    ///< of the front of the window
  uint32_t column_ = 1;  ///< the same, from 1
  size_t given_ = 0;     ///< bytes of the object given last
  bool is_started_ = false;
  bool is_list_ = false;
  bool is_after_object_ = false;
  bool is_broken_ = false;
};

/// Where the value of `key` stands in an object, right below it; 0 where it has no such key.
size_t place_of_key(std::string_view object, std::string_view key);

}  // namespace weft::sim
