#pragma once

#include "base/result.h"
#include "model/event.h"
#include "model/expected_task.h"
#include "model/policy.h"
#include "store/recorded_decision.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::store {

// Plain values as bytes, the same on every machine and with every compiler: each member in the order of its struct,
// numbers of any width as in ByteWriter, enumerators as one byte, floating point as its eight bytes, a length before
// lists and text, which alternative before a variant. Every text of bytes begins with kCodecVersion.
//
// Reading trusts nothing: bytes that are not just what writing gives are an Error ("byte 17: a length is beyond their
// end"), and take memory only for what has been read already. Lists that are filled keep the memory of what they held.

/// Raised when a member, an event or the order of either changes (a golden test fails then); readers know the older
/// ones.
inline constexpr uint8_t kCodecVersion = 1;
/// The same of policies: 1 had no rungs, shares, reservations, factors and history.
inline constexpr uint8_t kPolicyVersion = 2;

/// Appends. Instants are told as distances from each other, beginning with `base`.
void encode_events(std::span<const Event> events, Instant base, std::string& out);
Result<void> decode_events(std::string_view bytes, Instant base, std::vector<Event>& out);

void encode_decisions(std::span<const RecordedDecision> decisions, Instant base, std::string& out);
Result<void> decode_decisions(std::string_view bytes, Instant base, std::vector<RecordedDecision>& out);

void encode_tasks(std::span<const ExpectedTask> tasks, std::string& out);
Result<void> decode_tasks(std::string_view bytes, std::vector<ExpectedTask>& out);

void encode_policy(const PolicyConfig& policy, std::string& out);
Result<PolicyConfig> decode_policy(std::string_view bytes);

}  // namespace weft::store
