// The bytes of a journal's calls: whatever they are, reading them ends with what they say or with one line of text, and
// what was read is written the same again.

#include "base/check.h"
#include "base/text.h"
#include "store/codec.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr weft::Instant kBase{1'000'000'000};

template <typename T>
void check_message(const weft::Result<T>& read) {
  if (read) return;
  const std::string& message = read.error().message;
  WEFT_CHECK(message.starts_with("byte ") && message.size() < 100 && weft::is_utf8(message), "one short line");
}

template <typename Decode, typename Encode>
void check_round(std::string_view bytes, Decode&& decode, Encode&& encode) {
  const auto read = decode(bytes);
  check_message(read);
  if (!read) return;
  std::string again;
  encode(again);
  WEFT_CHECK(again == bytes, "there is one way only to write a thing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: {
      std::vector<weft::Event> events;
      check_round(
          bytes, [&](std::string_view in) { return weft::store::decode_events(in, kBase, events); },
          [&](std::string& out) { weft::store::encode_events(events, kBase, out); });
      break;
    }
    case 1: {
      std::vector<weft::store::RecordedDecision> decisions;
      check_round(
          bytes, [&](std::string_view in) { return weft::store::decode_decisions(in, kBase, decisions); },
          [&](std::string& out) { weft::store::encode_decisions(decisions, kBase, out); });
      break;
    }
    case 2: {
      std::vector<weft::ExpectedTask> tasks;
      check_round(
          bytes, [&](std::string_view in) { return weft::store::decode_tasks(in, tasks); },
          [&](std::string& out) { weft::store::encode_tasks(tasks, out); });
      break;
    }
    default: {
      const weft::Result<weft::PolicyConfig> policy = weft::store::decode_policy(bytes);
      check_message(policy);
      if (!policy) break;
      std::string again;
      weft::store::encode_policy(*policy, again);
      // Older versions are read, and written as the present one.
      WEFT_CHECK(again == bytes || static_cast<uint8_t>(bytes[0]) < weft::store::kPolicyVersion,
                 "there is one way only to write a thing");
      const weft::Result<weft::PolicyConfig> back = weft::store::decode_policy(again);
      WEFT_CHECK(back.has_value(), "what is written can be read");
      std::string once_more;
      weft::store::encode_policy(*back, once_more);
      WEFT_CHECK(once_more == again, "what is written is read the same again");
    }
  }
  return 0;
}
