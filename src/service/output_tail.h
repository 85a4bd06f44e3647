#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::service {

/// Reads a file that grows, from byte `begin` on. The file may not be there yet. What is no regular file (/dev/null,
/// say) counts as empty.
class OutputTail {
 public:
  explicit OutputTail(std::string path, int64_t begin = 0) : path_(std::move(path)), begin_(begin) {}
  ~OutputTail();
  OutputTail(OutputTail&& other) noexcept;
  OutputTail& operator=(OutputTail&&) = delete;
  OutputTail(const OutputTail&) = delete;
  OutputTail& operator=(const OutputTail&) = delete;

  /// Appends at most `size` further bytes; the number of them. 0: there are no more at the moment.
  size_t read(std::string& out, size_t size);
  /// True when the file could not be opened for want of file descriptors or memory: it may hold more than was read.
  bool is_short() const { return is_short_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int64_t begin_ = 0;
  int fd_ = -1;
  bool is_short_ = false;
};

}  // namespace weft::service
