#include "sim/trace/slurm_words.h"

#include "base/text.h"
#include "sim/trace/numbers.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weft::sim {

namespace {

constexpr std::array<std::pair<std::string_view, SlurmState>, 22> kStates{{
    {"COMPLETED", SlurmState::kDone},       {"COMPLETING", SlurmState::kNotEnded},
    {"CONFIGURING", SlurmState::kNotEnded}, {"CANCELLED", SlurmState::kCancelled},
    {"FAILED", SlurmState::kFailed},        {"TIMEOUT", SlurmState::kFailed},
    {"NODE_FAIL", SlurmState::kFailed},     {"OUT_OF_MEMORY", SlurmState::kFailed},
    {"BOOT_FAIL", SlurmState::kFailed},     {"DEADLINE", SlurmState::kFailed},
    {"PREEMPTED", SlurmState::kFailed},     {"LAUNCH_FAILED", SlurmState::kFailed},
    {"REVOKED", SlurmState::kCancelled},    {"PENDING", SlurmState::kNotEnded},
    {"RUNNING", SlurmState::kNotEnded},     {"SUSPENDED", SlurmState::kNotEnded},
    {"REQUEUED", SlurmState::kNotEnded},    {"RESIZING", SlurmState::kNotEnded},
    {"SIGNALING", SlurmState::kNotEnded},   {"STAGE_OUT", SlurmState::kNotEnded},
    {"STOPPED", SlurmState::kNotEnded},     {"RECONFIG_FAIL", SlurmState::kFailed},
}};

constexpr int64_t kCountMax = 1'000'000'000;

/// Calls `take` with each piece between separators until it says false.
template <typename Take>
bool for_each_piece(std::string_view text, char separator, const Take& take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (!take(text.substr(0, end))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

void add_model(std::string_view model, std::vector<std::string>& models) {
  const auto place = std::ranges::lower_bound(models, model);
  if (place == models.end() || *place != model) models.emplace(place, model);
}

}  // namespace

SlurmState read_slurm_state(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" +"));
  for (const auto& [known, state] : kStates) {
    if (known == word) return state;
  }
  return SlurmState::kUnknownWord;
}

TraceEnd end_of(SlurmState state) {
  switch (state) {
    case SlurmState::kDone: return TraceEnd::kDone;
    case SlurmState::kFailed: return TraceEnd::kFailed;
    case SlurmState::kCancelled: return TraceEnd::kCancelled;
    case SlurmState::kUnknownWord:
    case SlurmState::kNotEnded: break;
  }
  return TraceEnd::kNotTold;
}

std::optional<Duration> read_slurm_time(std::string_view text) {
  if (text == "UNLIMITED" || text == "Partition_Limit") return kEndless;
  constexpr int64_t kDaysMax = 20'000;
  int64_t days = 0;
  const size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const Result<int64_t> number = parse_integer(text.substr(0, dash), 0, kDaysMax);
    if (!number) return std::nullopt;
    days = *number;
    text.remove_prefix(dash + 1);
  }
  std::array<int64_t, 3> parts{};
  size_t count = 0;
  text = text.substr(0, text.find('.'));  // a fraction of a second, of steps
  const bool is_good = for_each_piece(text, ':', [&](std::string_view piece) {
    const Result<int64_t> number = parse_integer(piece, 0, kDaysMax * 24 * 60);
    if (!number || count == parts.size()) return false;
    parts[count++] = *number;
    return true;
  });
  if (!is_good || count == 0 || text.ends_with(':')) return std::nullopt;
  const bool has_days = dash != std::string_view::npos;
  int64_t total = 0;
  if (has_days || count == 3) {  // hours first
    total = parts[0] * 3600 + parts[1] * 60 + parts[2];
  } else {  // minutes first
    total = parts[0] * 60 + parts[1];
  }
  total += days * 86'400;
  if (total > kTraceTimeMax / 1'000'000'000) return std::nullopt;
  return seconds(total);
}

std::optional<int64_t> read_slurm_memory(std::string_view text) {
  int64_t unit = kMiB;
  if (!text.empty()) {
    constexpr std::string_view kUnits = "KMGTP";
    const size_t power = kUnits.find(text.back());
    if (power != std::string_view::npos) {
      unit = kKiB << (10 * power);
      text.remove_suffix(1);
    }
  }
  int64_t thousandths = 0;
  if (read_decimal(text, 1000, thousandths) != NumberFault::kNone || thousandths < 0) return std::nullopt;
  if (thousandths > (int64_t{1} << 60) / unit * 1000) return std::nullopt;
  return thousandths / 1000 * unit + thousandths % 1000 * (unit / 1024) * 1024 / 1000;
}

bool read_slurm_resources(std::string_view text, SlurmResources& resources) {
  int64_t typed_gpus = 0;
  const bool is_good = for_each_piece(text, ',', [&](std::string_view piece) {
    constexpr std::string_view kGpu = "gres/gpu";
    const size_t equals = piece.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = piece.substr(0, equals);
    const std::string_view value = piece.substr(equals + 1);
    if (key == "mem") {
      const std::optional<int64_t> bytes = read_slurm_memory(value);
      resources.memory_bytes = bytes.value_or(0);
      return bytes.has_value();
    }
    const bool is_typed = key.starts_with(kGpu) && key.size() > kGpu.size() + 1 && key[kGpu.size()] == ':';
    if (key != "node" && key != "cpu" && key != kGpu && !is_typed) return true;
    const Result<int64_t> number = parse_integer(value, 0, kCountMax);
    if (!number) return false;
    if (key == "node") resources.nodes = *number;
    if (key == "cpu") resources.cpus = *number;
    if (key == kGpu) resources.gpus = *number;
    if (is_typed && *number > 0) {
      typed_gpus = std::min(typed_gpus + *number, kCountMax);
      add_model(key.substr(kGpu.size() + 1), resources.gpu_models);
    }
    return true;
  });
  if (resources.gpus == 0) resources.gpus = typed_gpus;
  return is_good;
}

bool read_slurm_gres(std::string_view text, SlurmResources& resources) {
  return for_each_piece(text, ',', [&](std::string_view piece) {
    piece = piece.substr(0, piece.find('('));  // "(S:0-1)": sockets
    if (piece.starts_with("gres:")) piece.remove_prefix(5);
    if (piece != "gpu" && !piece.starts_with("gpu:")) return true;
    const size_t colon = piece.rfind(':');
    const Result<int64_t> number =
        colon == std::string_view::npos ? Result<int64_t>(1) : parse_integer(piece.substr(colon + 1), 0, kCountMax);
    if (!number) return false;
    resources.gpus = std::min(resources.gpus + *number, kCountMax);
    if (colon != std::string_view::npos && colon > 4 && *number > 0)
      add_model(piece.substr(4, colon - 4), resources.gpu_models);
    return true;
  });
}

}  // namespace weft::sim
