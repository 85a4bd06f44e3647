#pragma once

#include <expected>
#include <string>

namespace weft {

/// What kind of failure of the world an Error reports; the CLI turns it into an exit status.
enum class ErrorCode : unsigned char {
  kInvalidInput,  ///< what the user wrote is wrong: exit status 2
  kNotFound,      ///< the named thing does not exist
  kPermission,    ///< the caller may not do this
  kUnavailable,   ///< a file, socket or process could not be reached
  kConflict,      ///< the request clashes with what exists
  kUnsupported,   ///< a feature that this build does not have
  kInternal,      ///< third-party code failed in an unforeseen way
};

/// A failure of the world (never a scheduler's "no", never a bug). The message says what, which object, what to do.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = std::expected<T, Error>;

/// `return fail(ErrorCode::kInvalidInput, "…");` from any function that returns a Result.
inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace weft
