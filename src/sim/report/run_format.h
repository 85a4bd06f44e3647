#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::sim {

struct RunMetrics;

// Numbers of reports as people read them. What is not known (NaN) is "-".

/// 45792.13 -> "45,792.1", 333 -> "333", 4728812.5 -> "4,728,813": one decimal where it is not whole and below a
/// million.
std::string number_text(double value);
/// The same at the right of a column of `width`, with a blank before it: a number too long for that is rounded,
/// as 9.88e+07.
std::string number_cell(double value, size_t width);
/// With `decimals` decimals and without thousands.
std::string decimal_text(double value, int decimals);
std::string decimal_cell(double value, int decimals, size_t width);  ///< as number_cell()
/// 0.862 -> "86.2 %".
std::string percent_text(double share);
/// 0.1687 -> "0.17x", 0.0062 -> "0.006x", 123.4 -> "123x".
std::string ratio_text(double ratio);
/// 45792.13 -> "12h43m".
std::string duration_text(double seconds);
/// 12345 -> "12,345".
std::string count_text(uint64_t n);
/// What became of a run's jobs: "980 done, 12 failed".
std::string ends_text(const RunMetrics& metrics);
/// GPU seconds as GPU hours.
std::string gpu_hours_text(double gpu_seconds);

/// Printable text of exactly `width` characters: cut with an ellipsis, or filled with blanks behind.
std::string fitted(std::string_view text, size_t width);
/// At most `width` characters of it.
std::string cut_to(std::string_view text, size_t width);

}  // namespace weft::sim
