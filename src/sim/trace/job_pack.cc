#include "sim/trace/job_pack.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

namespace weft::sim {

namespace {

// Who adds a field to TraceJob adds it to the list below too: without it a trace that is sorted would lose the field.
static_assert(sizeof(TraceJob) == 304, "every field of TraceJob stands in kFields");

// The submission stands first, for packed_submit().
constexpr std::tuple kFields{
    &TraceJob::submit,       &TraceJob::run_time,       &TraceJob::id,           &TraceJob::gpus_per_task,
    &TraceJob::is_gpu_count, &TraceJob::queue,          &TraceJob::user,         &TraceJob::name,
    &TraceJob::model,        &TraceJob::estimate,       &TraceJob::limit,        &TraceJob::deadline,
    &TraceJob::tasks,        &TraceJob::gpu_milli,      &TraceJob::cpu_milli,    &TraceJob::memory_bytes,
    &TraceJob::gpu_models,   &TraceJob::priority,       &TraceJob::iterations,   &TraceJob::iteration_time,
    &TraceJob::end,          &TraceJob::recorded_start, &TraceJob::recorded_end,
};
constexpr size_t kFieldCount = std::tuple_size_v<decltype(kFields)>;
using Indices = std::make_index_sequence<kFieldCount>;

const TraceJob kDefaults;

template <typename Word>
void copy_ends(char* into, const char* from, size_t bytes) {
  Word first = 0;
  Word last = 0;
  std::memcpy(&first, from, sizeof(Word));
  std::memcpy(&last, from + bytes - sizeof(Word), sizeof(Word));
  std::memcpy(into, &first, sizeof(Word));
  std::memcpy(into + bytes - sizeof(Word), &last, sizeof(Word));
}

/// memcpy() without a call for texts of up to 16 bytes, as most are.
inline void copy_short(char* into, const char* from, size_t bytes) {
  if (bytes > 2 * sizeof(uint64_t)) {
    std::memcpy(into, from, bytes);
  } else if (bytes >= sizeof(uint64_t)) {
    copy_ends<uint64_t>(into, from, bytes);
  } else if (bytes >= sizeof(uint32_t)) {
    copy_ends<uint32_t>(into, from, bytes);
  } else if (bytes > 0) {
    into[0] = from[0];
    into[bytes / 2] = from[bytes / 2];
    into[bytes - 1] = from[bytes - 1];
  }
}

bool is_usual(const std::string& text, const std::string& /*empty*/) { return text.empty(); }
bool is_usual(const std::vector<std::string>& texts, const std::vector<std::string>& /*empty*/) {
  return texts.empty();
}
template <typename Plain>
bool is_usual(const Plain& value, const Plain& usual) {
  return value == usual;
}

void make_usual(std::string& text, const std::string& /*empty*/) { text.clear(); }
void make_usual(std::vector<std::string>& texts, const std::vector<std::string>& /*empty*/) { texts.clear(); }
template <typename Plain>
void make_usual(Plain& value, const Plain& usual) {
  value = usual;
}

template <typename Plain>
char* put(const Plain& value, char* into) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  std::memcpy(into, &value, sizeof value);
  return into + sizeof value;
}
/// A byte for sizes below 255, as nearly all are.
char* put_size(size_t size, char* into) {
  constexpr uint8_t kLarge = 255;
  if (size < kLarge) return put(static_cast<uint8_t>(size), into);
  return put(static_cast<uint32_t>(size), put(kLarge, into));
}
char* put(const std::string& text, char* into) {
  into = put_size(text.size(), into);
  copy_short(into, text.data(), text.size());
  return into + text.size();
}
char* put(const std::vector<std::string>& texts, char* into) {
  into = put_size(texts.size(), into);
  for (const std::string& text : texts) into = put(text, into);
  return into;
}

template <typename Plain>
const char* take(const char* from, Plain& value) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  std::memcpy(&value, from, sizeof value);
  return from + sizeof value;
}
const char* take_size(const char* from, uint32_t& size) {
  uint8_t byte = 0;
  from = take(from, byte);
  size = byte;
  return byte < 255 ? from : take(from, size);
}
const char* take(const char* from, std::string& text) {
  uint32_t size = 0;
  from = take_size(from, size);
  text.assign(from, size);
  return from + size;
}
const char* take(const char* from, std::vector<std::string>& texts) {
  uint32_t count = 0;
  from = take_size(from, count);
  texts.resize(count);
  for (std::string& text : texts) from = take(from, text);
  return from;
}

template <size_t index>
const char* take_field(const char* from, TraceJob& job) {
  return take(from, job.*std::get<index>(kFields));
}

template <size_t... index>
constexpr auto make_takers(std::index_sequence<index...> /*indices*/) {
  return std::array{&take_field<index>...};
}
constexpr auto kTakers = make_takers(Indices());

template <size_t... index>
void reset_fields(TraceJob& job, std::index_sequence<index...> /*indices*/) {
  (make_usual(job.*std::get<index>(kFields), kDefaults.*std::get<index>(kFields)), ...);
}

template <size_t... index>
char* pack_fields(const TraceJob& job, char* into, std::index_sequence<index...> /*indices*/) {
  uint32_t mask = 0;
  char* at = into + sizeof mask;
  const auto pack_field = [&](const auto& field, const auto& usual, uint32_t bit) {
    if (is_usual(field, usual)) return;
    mask |= bit;
    at = put(field, at);
  };
  (pack_field(job.*std::get<index>(kFields), kDefaults.*std::get<index>(kFields), uint32_t{1} << index), ...);
  std::memcpy(into, &mask, sizeof mask);
  return at;
}

}  // namespace

size_t packed_bytes_max(const TraceJob& job) {
  size_t bytes =
      sizeof(TraceJob) + job.id.size() + job.name.size() + job.user.size() + job.queue.size() + job.model.size();
  for (const std::string& model : job.gpu_models) bytes += 1 + sizeof(uint32_t) + model.size();
  return bytes;
}

char* pack(const TraceJob& job, char* into) { return pack_fields(job, into, Indices()); }

void reset(TraceJob& job) { reset_fields(job, Indices()); }

const char* unpack(const char* from, TraceJob& job) {
  reset(job);
  uint32_t mask = 0;
  from = take(from, mask);
  for (; mask != 0; mask &= mask - 1) from = kTakers[static_cast<size_t>(std::countr_zero(mask))](from, job);
  return from;
}

Instant packed_submit(const char* from) {
  uint32_t mask = 0;
  from = take(from, mask);
  Instant submit;
  if ((mask & 1U) != 0) take(from, submit);
  return submit;
}

}  // namespace weft::sim
