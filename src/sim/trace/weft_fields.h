#pragma once

#include "sim/trace/trace_job.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft::sim {

/// A field of TraceJob as both of weft's own formats write it.
struct WeftField {
  std::string_view name;      ///< column of the CSV, key of the YAML
  std::string_view expected;  ///< for errors: "a number of seconds"
  enum class Kind : uint8_t { kText, kNumber } kind = Kind::kNumber;
  /// False: not what is expected.
  bool (*read)(std::string_view text, TraceJob& job);
  /// Appends the text; nothing where the field is as in TraceJob{}.
  void (*write)(const TraceJob& job, std::string& out);
};

/// All fields, in the order in which they are written. The first three must be given, the others may.
std::span<const WeftField> weft_fields();
inline constexpr size_t kWeftIdField = 0;
inline constexpr size_t kWeftSubmitField = 1;
inline constexpr size_t kWeftRunTimeField = 2;

/// What is wrong with a job whose every field is good alone; empty: nothing.
std::string_view weft_job_fault(const TraceJob& job);

}  // namespace weft::sim
