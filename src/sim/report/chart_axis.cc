#include "base/text.h"
#include "sim/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::sim {

namespace {

constexpr size_t kColours = 12;

constexpr double kMinute = 60, kHour = 3600, kDay = 86400;
/// Steps that people divide time in.
constexpr std::array kTimeSteps{
    1.0,          2.0,          5.0,       10.0,      30.0,       kMinute,    2 * kMinute, 5 * kMinute, 10 * kMinute,
    15 * kMinute, 30 * kMinute, kHour,     2 * kHour, 3 * kHour,  6 * kHour,  12 * kHour,  kDay,        2 * kDay,
    5 * kDay,     10 * kDay,    20 * kDay, 50 * kDay, 100 * kDay, 200 * kDay, 500 * kDay,  1000 * kDay};
constexpr std::array kLogTimes{0.001, 0.01,      0.1,  1.0,       10.0,       kMinute,     10 * kMinute,
                               kHour, 6 * kHour, kDay, 10 * kDay, 100 * kDay, 1000 * kDay, 10000 * kDay};

std::vector<double> log_ticks(const ChartAxis& axis) {
  std::vector<double> ticks;
  const auto add = [&](double tick) {
    if (tick >= axis.low * (1 - 1e-9) && tick <= axis.high * (1 + 1e-9)) ticks.push_back(tick);
  };
  if (axis.unit == AxisUnit::kSeconds) {
    for (const double tick : kLogTimes) add(tick);
  } else {
    for (double power = std::floor(std::log10(axis.low)); power <= std::log10(axis.high) + 1e-9; ++power)
      add(std::pow(10, power));
  }
  return ticks;
}

std::vector<double> time_ticks(const ChartAxis& axis) {
  constexpr double kMost = 5;  // on a phone too
  const double span = axis.high - axis.low;
  const auto* fits = std::ranges::find_if(kTimeSteps, [&](double step) { return span / step <= kMost; });
  const double step = fits != kTimeSteps.end() ? *fits : std::ceil(span / kMost / kDay) * kDay;
  std::vector<double> ticks;
  for (double i = std::ceil(axis.low / step); i * step <= axis.high + span * 1e-9; ++i) ticks.push_back(i * step);
  return ticks;
}

}  // namespace

std::vector<double> axis_ticks(const ChartAxis& axis) {
  const double span = axis.high - axis.low;
  if (!(span > 0)) return {axis.low};
  if (axis.scale == AxisScale::kLog) return log_ticks(axis);
  if (axis.unit == AxisUnit::kSeconds && span > 1) return time_ticks(axis);
  double step = std::pow(10, std::floor(std::log10(span)));
  while (span / step < 3) step /= 2;
  if (span / step > 8) step *= 2;
  std::vector<double> ticks;
  for (double i = std::ceil(axis.low / step); i * step <= axis.high + span * 1e-9; ++i) ticks.push_back(i * step);
  const double rest = axis.high - ticks.back();
  if (rest > span * 1e-9 && rest < 0.6 * step) ticks.pop_back();  // no room for two numbers
  if (rest > span * 1e-9) ticks.push_back(axis.high);
  return ticks;
}

std::string tick_text(const ChartAxis& axis, double value) {
  if (axis.unit == AxisUnit::kSeconds) {
    return value == 0 ? "0" : format_duration({std::llround(std::clamp(value, -9e9, 9e9) * 1e9)});
  }
  return fmt::format("{:g}", std::round(value * 1e6) / 1e6);
}

double axis_share(const ChartAxis& axis, double value) {
  if (axis.scale == AxisScale::kLog) return std::log(value / axis.low) / std::log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

std::string series_class(size_t series) { return fmt::format("s{}", series % kColours); }

}  // namespace weft::sim
