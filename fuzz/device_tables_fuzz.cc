// The reader of the device tables under arbitrary bytes. The tables are built in, but a broken one must be named, not
// crash.

#include "base/check.h"
#include "model/catalogue.h"
#include "model/device_tables.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t cut = text.find('\0');
  const std::string_view devices = text.substr(0, cut);
  const std::string_view profiles = cut == std::string_view::npos ? std::string_view() : text.substr(cut + 1);
  const auto records = weft::parse_device_tables(devices, profiles);
  if (!records) {
    WEFT_CHECK(records.error().message.find(".tsv:") != std::string::npos, "an error says where");
    return 0;
  }
  for (const weft::DeviceRecord& record : *records) {
    WEFT_CHECK(weft::check_device_model(record.model).has_value(), "what was read is sound");
  }
  return 0;
}
