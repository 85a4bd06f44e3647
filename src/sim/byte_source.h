#pragma once

#include "base/result.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace weft::sim {

/// Bytes from somewhere, in order, once. Memory does not grow with what is read.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Puts up to `size` (above 0) bytes into `into` and says how many; 0: that was all. After an error: the same again.
  virtual Result<size_t> read(char* into, size_t size) = 0;
  /// What errors call it; printable.
  virtual const std::string& name() const = 0;
};

/// The bytes of a file as they are. Errors as below.
Result<std::unique_ptr<ByteSource>> open_plain_bytes(const std::string& path);

/// The bytes of a file; those of a gzip file (by its first bytes, whatever it is called) unpacked. Pipes will do.
/// Errors: an empty name, nothing there, a directory, not readable; later, while reading, a gzip file that is cut off
/// or damaged.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

/// The bytes of `text`, which must outlive it; at most `piece` at a time.
std::unique_ptr<ByteSource> bytes_of(std::string_view text, std::string_view name, size_t piece = size_t{1} << 16);

/// The same bytes; unpacked where they are those of a gzip file, with one member or several.
Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> source);

/// Used by unpacked(): `packed` starts with the header of a gzip file.
std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<ByteSource> packed);

}  // namespace weft::sim
