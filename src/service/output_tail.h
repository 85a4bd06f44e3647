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
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int64_t begin_ = 0;
  int fd_ = -1;
};

}  // namespace weft::service
