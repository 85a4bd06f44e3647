#include "base/check.h"
#include "service/info.h"
#include "service/job_request.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Whatever the text, the reader gives a request or an error; a request that it took survives being written and read
/// again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto request = weft::service::read_job_request(text)) {
    const auto again = weft::service::read_job_request(weft::service::write_job_request(*request));
    WEFT_CHECK(again.has_value() && *again == *request, "a request that was read is written and read alike");
    const auto spec = weft::service::to_spec(*request, {}, "user");
    WEFT_CHECK(!spec.name.empty(), "every job has a name");
  } else {
    WEFT_CHECK(request.error().message.find('\n') == std::string::npos, "an error is one line");
  }
  // What clients read comes from a server, but must not bring them down either.
  (void)weft::service::read_jobs(text);
  (void)weft::service::read_nodes(text);
  (void)weft::service::read_cluster(text);
  (void)weft::service::read_news(text);
  (void)weft::service::read_error(text);
  return 0;
}
