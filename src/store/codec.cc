#include "store/codec.h"

#include "store/bytes.h"
#include "store/enumerators.h"
#include "store/members.h"

#include <bit>
#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace weft::store {

namespace {

/// The number of an event in journals is its place in this list. What is new comes last.
static_assert(
    std::is_same_v<EventBody,
                   std::variant<Tick, TopologyDefined, QueueDefined, NodeAdded, NodeDown, NodeUp, NodeCordoned,
                                NodeUncordoned, DeviceFailed, DeviceRecovered, NodeLoadReported, JobSubmitted,
                                JobAdopted, JobCancelled, JobHeld, JobReleased, HoldAccepted, HoldRefused, GangStarted,
                                StartFailed, TaskEnded, DeviceModelDefined, GangEnded, ProgressReported, JobScaled>>,
    "journals hold these events under these numbers: give the new one its place at the end");

template <typename T>
concept Number = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
concept Enumerator = std::is_enum_v<T> && !IsId<T> && sizeof(T) == 1;
template <typename T>
concept Listed = kMemberCount<T> != kNotListed;

// ---- Writing

void put(ByteWriter& out, bool value) { out.byte(value ? 1 : 0); }
void put(ByteWriter& out, double value) { out.word(std::bit_cast<uint64_t>(value)); }
void put(ByteWriter& out, const std::string& value) { out.bytes(value); }
template <Number T>
void put(ByteWriter& out, T value) {
  if constexpr (std::is_signed_v<T>) {
    out.signed_number(value);
  } else {
    out.number(value);
  }
}
template <IsId T>
void put(ByteWriter& out, T value) {
  out.number(index(value));
}
template <Enumerator T>
void put(ByteWriter& out, T value) {
  out.byte(static_cast<uint8_t>(value));
}
template <typename T>
void put(ByteWriter& out, const std::vector<T>& values);
template <typename T>
void put(ByteWriter& out, const std::optional<T>& value);
template <typename A, typename B>
void put(ByteWriter& out, const std::pair<A, B>& value);
template <typename... T>
void put(ByteWriter& out, const std::variant<T...>& value);

template <Listed T>
void put(ByteWriter& out, const T& value) {
  std::apply([&](const auto&... member) { (put(out, member), ...); }, members_of(value));
}
template <typename T>
void put(ByteWriter& out, const std::vector<T>& values) {
  out.number(values.size());
  for (const T& value : values) put(out, value);
}
template <typename T>
void put(ByteWriter& out, const std::optional<T>& value) {
  put(out, value.has_value());
  if (value) put(out, *value);
}
template <typename A, typename B>
void put(ByteWriter& out, const std::pair<A, B>& value) {
  put(out, value.first);
  put(out, value.second);
}
template <typename... T>
void put(ByteWriter& out, const std::variant<T...>& value) {
  out.byte(static_cast<uint8_t>(value.index()));
  std::visit([&](const auto& body) { put(out, body); }, value);
}

// ---- Reading

void get(ByteReader& in, bool& value) {
  const uint8_t byte = in.byte();
  if (byte > 1) in.refuse("neither yes nor no");
  value = byte == 1;
}
void get(ByteReader& in, double& value) { value = std::bit_cast<double>(in.word()); }
void get(ByteReader& in, std::string& value) { value = in.bytes(); }
template <Number T>
void get(ByteReader& in, T& value) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  Wide wide = 0;
  if constexpr (std::is_signed_v<T>) {
    wide = in.signed_number();
  } else {
    wide = in.number();
  }
  if (!std::in_range<T>(wide)) {
    in.refuse("a number is too large");
    wide = 0;
  }
  value = static_cast<T>(wide);
}
template <IsId T>
void get(ByteReader& in, T& value) {
  uint32_t number = 0;
  get(in, number);
  value = make_id<T>(number);
}
template <Enumerator T>
void get(ByteReader& in, T& value) {
  const auto read = static_cast<T>(in.byte());
  if (is_known(read)) {
    value = read;
  } else {
    in.refuse("a word that is not known");
  }
}
template <typename T>
void get(ByteReader& in, std::vector<T>& values);
template <typename T>
void get(ByteReader& in, std::optional<T>& value);
template <typename A, typename B>
void get(ByteReader& in, std::pair<A, B>& value);
template <typename... T>
void get(ByteReader& in, std::variant<T...>& value);

template <Listed T>
void get(ByteReader& in, T& value) {
  std::apply([&](auto&... member) { (get(in, member), ...); }, members_of(value));
}

/// How many elements follow, each of a byte or more.
size_t get_count(ByteReader& in) {
  const uint64_t count = in.number();
  if (count > in.left()) in.refuse("more elements than bytes");
  return in.is_good() ? count : 0;
}

template <typename T>
void get(ByteReader& in, std::vector<T>& values) {
  values.clear();
  for (size_t left = get_count(in); left > 0 && in.is_good(); --left) get(in, values.emplace_back());
}
template <typename T>
void get(ByteReader& in, std::optional<T>& value) {
  bool has_value = false;
  get(in, has_value);
  value.reset();
  if (has_value) get(in, value.emplace());
}
template <typename A, typename B>
void get(ByteReader& in, std::pair<A, B>& value) {
  get(in, value.first);
  get(in, value.second);
}

/// As that alternative, its memory used again where it was one before. False: it is another.
template <size_t kTag, typename Variant>
bool get_as(ByteReader& in, uint8_t tag, Variant& value) {
  if (tag != kTag) return false;
  get(in, value.index() == kTag ? *std::get_if<kTag>(&value) : value.template emplace<kTag>());
  return true;
}
template <typename Variant, size_t... kTags>
void get_alternative(ByteReader& in, Variant& value, std::index_sequence<kTags...> /*tags*/) {
  const uint8_t tag = in.byte();
  if (!(get_as<kTags>(in, tag, value) || ...)) in.refuse("a kind that is not known");
}
template <typename... T>
void get(ByteReader& in, std::variant<T...>& value) {
  get_alternative(in, value, std::index_sequence_for<T...>());
}

// ---- Lists of what carries an instant

/// Sums and differences wrap around: also an instant that is no good comes back as it was.
int64_t distance(Instant from, Instant to) {
  return static_cast<int64_t>(static_cast<uint64_t>(to.ns) - static_cast<uint64_t>(from.ns));
}
Instant moved(Instant from, int64_t by) {
  return {static_cast<int64_t>(static_cast<uint64_t>(from.ns) + static_cast<uint64_t>(by))};
}

template <typename T>
void encode_timed(std::span<const T> values, Instant last, std::string& bytes) {
  ByteWriter out(bytes);
  out.byte(kCodecVersion);
  out.number(values.size());
  for (const T& value : values) {
    out.signed_number(distance(std::exchange(last, value.at), value.at));
    std::apply([&](const Instant& /*at*/, const auto&... member) { (put(out, member), ...); }, members_of(value));
  }
}

void get_version(ByteReader& in) {
  if (in.byte() != kCodecVersion) in.refuse("a version that this weft does not know");
}

template <typename T>
Result<void> decode_timed(std::string_view bytes, Instant last, std::vector<T>& out) {
  ByteReader in(bytes);
  get_version(in);
  const size_t count = get_count(in);
  for (size_t i = 0; i < count && in.is_good(); ++i) {
    if (i == out.size()) out.emplace_back();
    out[i].at = last = moved(last, in.signed_number());
    std::apply([&](Instant& /*at*/, auto&... member) { (get(in, member), ...); }, members_of(out[i]));
  }
  const Result<void> read = in.finish();
  out.resize(read ? count : 0);
  return read;
}

}  // namespace

void encode_events(std::span<const Event> events, Instant base, std::string& out) { encode_timed(events, base, out); }
Result<void> decode_events(std::string_view bytes, Instant base, std::vector<Event>& out) {
  return decode_timed(bytes, base, out);
}

void encode_decisions(std::span<const RecordedDecision> decisions, Instant base, std::string& out) {
  encode_timed(decisions, base, out);
}
Result<void> decode_decisions(std::string_view bytes, Instant base, std::vector<RecordedDecision>& out) {
  return decode_timed(bytes, base, out);
}

void encode_tasks(std::span<const ExpectedTask> tasks, std::string& out) {
  ByteWriter writer(out);
  writer.byte(kCodecVersion);
  writer.number(tasks.size());
  for (const ExpectedTask& task : tasks) put(writer, task);
}

Result<void> decode_tasks(std::string_view bytes, std::vector<ExpectedTask>& out) {
  ByteReader in(bytes);
  get_version(in);
  get(in, out);
  return in.finish();
}

void encode_policy(const PolicyConfig& policy, std::string& out) {
  ByteWriter writer(out);
  writer.byte(kPolicyVersion);
  put(writer, policy);
}

namespace {

/// The first members of a policy, as many as an older version had.
template <size_t... kMember>
void get_first(ByteReader& in, PolicyConfig& policy, std::index_sequence<kMember...> /*members*/) {
  const auto members = members_of(policy);
  (get(in, std::get<kMember>(members)), ...);
}

}  // namespace

Result<PolicyConfig> decode_policy(std::string_view bytes) {
  constexpr size_t kMembersOfVersion1 = 13;
  ByteReader in(bytes);
  PolicyConfig policy;
  switch (in.byte()) {
    case 1: get_first(in, policy, std::make_index_sequence<kMembersOfVersion1>()); break;
    case kPolicyVersion: get(in, policy); break;
    default: in.refuse("a version that this weft does not know");
  }
  if (const Result<void> read = in.finish(); !read) return std::unexpected(read.error());
  return policy;
}

}  // namespace weft::store
