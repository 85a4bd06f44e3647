#pragma once

#include "base/check.h"
#include "base/ids.h"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace weft {

/// Gives every distinct string a dense id, in order of first appearance. Strings live as long as the interner.
/// Lookups by text are for the edges; the core holds ids. Not thread-safe.
template <IsId Id>
class Interner {
 public:
  Interner() = default;
  Interner(Interner&&) noexcept = default;
  Interner& operator=(Interner&&) noexcept = default;
  Interner(const Interner&) = delete;  // ids_ views texts_
  Interner& operator=(const Interner&) = delete;
  ~Interner() = default;

  Id intern(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const Id id = make_id<Id>(texts_.size());
    texts_.emplace_back(text);
    ids_.emplace(std::string_view(texts_.back()), id);
    return id;
  }

  /// kNone<Id> when the text was never interned.
  Id find(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? kNone<Id> : found->second;
  }

  const std::string& text(Id id) const {
    WEFT_CHECK(index(id) < texts_.size(), "an id comes from this interner");
    return texts_[index(id)];
  }

  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque keeps the views in ids_ valid
  std::unordered_map<std::string_view, Id> ids_;
};

}  // namespace weft
