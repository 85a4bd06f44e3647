#pragma once

#include "base/check.h"

#include <string>
#include <string_view>
#include <zlib.h>

namespace weft::sim {

/// The text as a gzip file of one member.
inline std::string gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  WEFT_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK,
             "zlib needs but memory to begin");
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  std::string input(text);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  WEFT_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "the bound holds");
  packed.resize(packed.size() - stream.avail_out);
  (void)deflateEnd(&stream);
  return packed;
}

}  // namespace weft::sim
