#pragma once

#include "base/ids.h"
#include "base/rng.h"
#include "store/enumerators.h"
#include "store/members.h"

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace weft::store {

/// Fills every member of a value, lists and optional parts too, with whatever a seed gives; or goes over its leaves.
class Filler {
 public:
  explicit Filler(uint64_t seed) : rng_(seed) {}

  void fill(bool& value) { value = rng_.below(2) == 1; }
  void fill(double& value) { value = static_cast<double>(rng_.between(-1000, 1000)) / 7; }
  void fill(std::string& value) {
    value.resize(rng_.below(5));
    for (char& c : value) c = static_cast<char>(rng_.below(256));
  }
  template <std::integral T>
  void fill(T& value) {
    // Of every length alike, with the largest and the smallest among them.
    const auto bits = static_cast<unsigned>(rng_.below(65));
    value = static_cast<T>(bits == 64 ? rng_.next() : rng_.next() & ((uint64_t{1} << bits) - 1));
  }
  template <typename T>
    requires std::is_enum_v<T>
  void fill(T& value) {
    if constexpr (IsId<T>) {
      value = make_id<T>(rng_.below(1000));
    } else {
      do {
        value = static_cast<T>(rng_.below(16));
      } while (!is_known(value));
    }
  }
  template <typename T>
  void fill(std::vector<T>& values) {
    values.resize(1 + rng_.below(3));
    for (T& value : values) fill(value);
  }
  template <typename T>
  void fill(std::optional<T>& value) {
    value.reset();
    if (rng_.below(4) != 0) fill(value.emplace());
  }
  template <typename A, typename B>
  void fill(std::pair<A, B>& value) {
    fill(value.first);
    fill(value.second);
  }
  template <typename... T>
  void fill(std::variant<T...>& value) {
    fill_as(value, rng_.below(sizeof...(T)));
  }
  template <typename T>
    requires(kMemberCount<T> != kNotListed)
  void fill(T& value) {
    std::apply([this](auto&... member) { (this->fill(member), ...); }, members_of(value));
  }
  /// As the alternative of that number.
  template <typename... T>
  void fill_as(std::variant<T...>& value, size_t number) {
    fill_as(value, number, std::index_sequence_for<T...>());
  }

 private:
  template <typename Variant, size_t... kNumbers>
  void fill_as(Variant& value, size_t number, std::index_sequence<kNumbers...> /*numbers*/) {
    ((number == kNumbers ? fill(value.template emplace<kNumbers>()) : void()), ...);
  }

  Rng rng_;
};

/// Goes over the leaves of a value, the things that have no members, and changes the one of a number.
class LeafChanger {
 public:
  explicit LeafChanger(size_t leaf) : leaf_(leaf) {}
  bool has_changed() const { return has_changed_; }

  void visit(bool& value) {
    if (is_next()) value = !value;
  }
  void visit(double& value) {
    if (is_next()) value += 1;
  }
  void visit(std::string& value) {
    if (is_next()) value += 'x';
  }
  template <std::integral T>
  void visit(T& value) {
    if (is_next()) value = static_cast<T>(value ^ 1);
  }
  template <typename T>
    requires std::is_enum_v<T>
  void visit(T& value) {
    if (is_next()) value = static_cast<T>(static_cast<std::underlying_type_t<T>>(value) == 0 ? 1 : 0);
  }
  template <typename T>
  void visit(std::vector<T>& values) {
    for (T& value : values) visit(value);
    if (is_next()) values.emplace_back();
  }
  template <typename T>
  void visit(std::optional<T>& value) {
    if (value) visit(*value);
    if (!is_next()) return;
    if (value) {
      value.reset();
    } else {
      value.emplace();
    }
  }
  template <typename A, typename B>
  void visit(std::pair<A, B>& value) {
    visit(value.first);
    visit(value.second);
  }
  template <typename... T>
  void visit(std::variant<T...>& value) {
    std::visit([this](auto& body) { this->visit(body); }, value);
  }
  template <typename T>
    requires(kMemberCount<T> != kNotListed)
  void visit(T& value) {
    std::apply([this](auto&... member) { (this->visit(member), ...); }, members_of(value));
  }

 private:
  bool is_next() {
    const bool is_it = leaf_-- == 0;
    has_changed_ |= is_it;
    return is_it;
  }

  size_t leaf_;
  bool has_changed_ = false;
};

}  // namespace weft::store
