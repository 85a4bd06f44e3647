#include "sim/byte_source.h"

#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace weft::sim {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};

class FileSource final : public ByteSource {
 public:
  FileSource(std::unique_ptr<std::FILE, CloseFile> file, std::string name)
      : file_(std::move(file)), name_(std::move(name)) {}

  Result<size_t> read(char* into, size_t size) override {
    const size_t count = std::fread(into, 1, size, file_.get());
    if (count == 0 && std::ferror(file_.get()) != 0)
      return fail(ErrorCode::kInvalidInput, fmt::format("{}: cannot be read to its end", name_));
    return count;
  }
  const std::string& name() const override { return name_; }

 private:
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::string name_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string_view text, std::string name, size_t piece)
      : text_(text), name_(std::move(name)), piece_(std::max(piece, size_t{1})) {}

  Result<size_t> read(char* into, size_t size) override {
    const size_t count = std::min({size, piece_, text_.size()});
    (void)text_.copy(into, count);
    text_.remove_prefix(count);
    return count;
  }
  const std::string& name() const override { return name_; }

 private:
  std::string_view text_;
  std::string name_;
  size_t piece_;
};

/// Bytes that were read to look at them, then the rest.
class LookedAt final : public ByteSource {
 public:
  LookedAt(std::string head, std::unique_ptr<ByteSource> rest) : head_(std::move(head)), rest_(std::move(rest)) {}

  Result<size_t> read(char* into, size_t size) override {
    if (given_ == head_.size()) return rest_->read(into, size);
    const size_t count = std::min(size, head_.size() - given_);
    std::copy_n(head_.data() + given_, count, into);
    given_ += count;
    return count;
  }
  const std::string& name() const override { return rest_->name(); }

 private:
  std::string head_;
  size_t given_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

}  // namespace

std::unique_ptr<ByteSource> bytes_of(std::string_view text, std::string_view name, size_t piece) {
  return std::make_unique<MemorySource>(text, printable(name), piece);
}

Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> source) {
  constexpr std::string_view kGzip = "\x1f\x8b\x08";
  std::string head;
  std::array<char, 3> block{};
  while (head.size() < kGzip.size()) {
    const Result<size_t> count = source->read(block.data(), kGzip.size() - head.size());
    if (!count) return std::unexpected(count.error());
    if (*count == 0) break;
    head.append(block.data(), *count);
  }
  const bool is_gzip = head == kGzip;
  auto whole = std::make_unique<LookedAt>(std::move(head), std::move(source));
  if (is_gzip) return make_gzip_source(std::move(whole));
  return whole;
}

Result<std::unique_ptr<ByteSource>> open_plain_bytes(const std::string& path) {
  const std::string name = printable(path);
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: {}", name, what));
  };
  if (path.empty()) return fail(ErrorCode::kInvalidInput, "the name of a file is empty; expected a file");
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::not_found) return wrong("there is no such file");
  if (status.type() == std::filesystem::file_type::directory) return wrong("is a directory; expected a file");
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (!file) return wrong(fmt::format("cannot be read: {}", std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
  (void)std::setvbuf(file.get(), nullptr, _IONBF, 0);  // whoever reads has a buffer of his own
  return std::make_unique<FileSource>(std::move(file), name);
}

Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> plain = open_plain_bytes(path);
  if (!plain) return plain;
  return unpacked(std::move(*plain));
}

}  // namespace weft::sim
