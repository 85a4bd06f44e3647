#include "base/check.h"
#include "sim/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>
#include <zlib.h>

namespace weft::sim {

namespace {

/// Unpacks one gzip member after the other, as gzip itself does.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed) : packed_(std::move(packed)), input_(size_t{1} << 16) {
    constexpr int kGzipWindow = 15 + 16;  // 15: the largest window; 16: a gzip header and nothing else
    WEFT_CHECK(inflateInit2(&stream_, kGzipWindow) == Z_OK, "zlib needs but memory to begin");
  }
  ~GzipSource() override { (void)inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<size_t> read(char* into, size_t size) override {
    if (failure_) return std::unexpected(*failure_);
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    stream_.avail_out = static_cast<uInt>(std::min(size, size_t{std::numeric_limits<uInt>::max()}));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room && !is_at_end_) {
      if (Result<void> step = unpack_some(); !step) {
        failure_ = std::move(step.error());
        if (stream_.avail_out == room) return std::unexpected(*failure_);
      }
    }
    return room - stream_.avail_out;
  }
  const std::string& name() const override { return packed_->name(); }

 private:
  Result<void> unpack_some() {
    if (stream_.avail_in == 0) {
      const Result<size_t> count = packed_->read(input_.data(), input_.size());
      if (!count) return std::unexpected(count.error());
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream_.avail_in = static_cast<uInt>(*count);
      if (*count == 0) {
        if (!is_between_members_) return wrong("the gzip file is cut off; expected more of it");
        is_at_end_ = true;
        return {};
      }
    }
    if (is_between_members_) {
      if (inflateReset(&stream_) != Z_OK) return wrong("zlib cannot go on");
      is_between_members_ = false;
    }
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      is_between_members_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      return wrong(fmt::format("the gzip file is damaged: {}", stream_.msg != nullptr ? stream_.msg : "zlib gives up"));
    }
    return {};
  }
  std::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: {}", packed_->name(), what));
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  z_stream stream_{};
  bool is_between_members_ = false;
  bool is_at_end_ = false;
  std::optional<Error> failure_;
};

}  // namespace

std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<GzipSource>(std::move(packed));
}

}  // namespace weft::sim
