#pragma once

#include "base/result.h"
#include "model/vocabulary.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace weft {

// Words for Errors about specs. For the edge of the core only: nothing here is on a decision path.

/// "; did you mean 'x'?" when a candidate is near enough, else empty.
std::string suggest_model(std::string_view word, const DeviceCatalogue& catalogue);
std::string suggest_queue(std::string_view word, const Vocabulary& names);
std::string suggest_node(std::string_view word, const Vocabulary& names);
/// Also "nvlink" and "node".
std::string suggest_level(std::string_view word, const Vocabulary& names);
/// "; it has 1g.10gb, 2g.20gb" or "; it has no MIG".
std::string known_profiles(const DeviceModel& model);

/// Text of one field that came from outside, short enough for one line.
std::string quoted(std::string_view text);

/// Where in a job's spec: "job 'x'" or "job 'x', role 'y'". Text is made only when an error needs it.
struct SpecPlace {
  std::string_view job;
  const char* part = nullptr;  ///< "role" or "group"; null: the job itself
  std::string_view name;       ///< of the part
  std::string text() const;
};
inline std::string operator+(const SpecPlace& place, std::string_view text) { return place.text().append(text); }

inline std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::kInvalidInput, std::move(message));
}

}  // namespace weft

template <>
struct fmt::formatter<weft::SpecPlace> : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(const weft::SpecPlace& place, Context& context) const {
    return fmt::formatter<std::string_view>::format(place.text(), context);
  }
};
