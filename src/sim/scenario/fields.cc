#include "sim/scenario/fields.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft::scenario {
namespace {

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull: return "nothing";
    case YamlNode::Kind::kScalar:
      return node.is_quoted ? fmt::format("the text \"{}\"", yaml_text(node)) : fmt::format("'{}'", yaml_text(node));
    case YamlNode::Kind::kList: return "a list";
    case YamlNode::Kind::kMap: return "a map";
  }
  return "nothing";
}

void add_expected(const YamlNode& node, std::string_view key, std::string_view expected, Problems& problems) {
  problems.add(node.at, fmt::format("{} is {}; {} is expected", key, describe(node), expected));
}

/// A scalar written without quotes.
bool is_plain(const YamlNode& node) { return node.kind == YamlNode::Kind::kScalar && !node.is_quoted; }

/// Reads numbers that may be negative with a reader of those that may not.
template <typename Parse>
std::optional<int64_t> parse_signed(std::string_view text, Parse&& parse) {
  const bool is_negative = text.starts_with('-');
  const auto value = parse(is_negative ? text.substr(1) : text);
  if (!value) return std::nullopt;
  return is_negative ? -*value : *value;
}

}  // namespace

std::string_view meant_by(std::string_view word, std::span<const std::string_view> known) {
  constexpr size_t kLengthMin = 3;  // every word of one or two letters is near to every other
  if (word.size() < kLengthMin) return {};
  if (const std::string_view found = nearest(word, known); !found.empty()) return found;
  const auto longer = std::ranges::find_if(known, [&](std::string_view k) { return k.starts_with(word); });
  return longer == known.end() ? std::string_view() : *longer;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view meant = meant_by(word, known);
  return meant.empty() ? std::string() : fmt::format("; did you mean '{}'?", meant);
}

std::string join_words(std::span<const std::string_view> words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

std::optional<std::string> read_text(const YamlNode& node, std::string_view key, Problems& problems) {
  if (node.kind != YamlNode::Kind::kScalar || node.text.empty()) {
    add_expected(node, key, "a text", problems);
    return std::nullopt;
  }
  return node.text;
}

std::optional<std::string> read_name(const YamlNode& node, std::string_view key, Problems& problems) {
  constexpr size_t kNameBytesMax = 256;
  auto text = read_text(node, key, problems);
  if (!text) return std::nullopt;
  for (const char c : *text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '/') {
      add_expected(node, key, "a name without a slash or a line break", problems);
      return std::nullopt;
    }
  }
  if (text->size() > kNameBytesMax || text->front() == ' ' || text->back() == ' ') {
    add_expected(node, key, fmt::format("a name of at most {} bytes without blanks at its ends", kNameBytesMax),
                 problems);
    return std::nullopt;
  }
  return text;
}

std::optional<int64_t> read_integer(const YamlNode& node, std::string_view key, int64_t low, int64_t high,
                                    Problems& problems) {
  if (is_plain(node)) {
    if (const auto value = parse_integer(node.text, low, high)) return *value;
  }
  add_expected(node, key, fmt::format("a whole number from {} to {}", low, high), problems);
  return std::nullopt;
}

std::optional<double> read_number(const YamlNode& node, std::string_view key, double low, double high,
                                  Problems& problems) {
  if (is_plain(node)) {
    const auto value = parse_number(node.text);
    if (value && std::isfinite(*value) && *value >= low && *value <= high) return *value;
  }
  add_expected(node, key, fmt::format("a number from {} to {}", low, high), problems);
  return std::nullopt;
}

std::optional<int64_t> read_milli(const YamlNode& node, std::string_view key, int64_t low, int64_t high,
                                  Problems& problems) {
  if (is_plain(node)) {
    const auto value = parse_signed(node.text, [](std::string_view text) { return parse_milli(text); });
    if (value && *value >= low && *value <= high) return value;
  }
  add_expected(node, key,
               fmt::format("a number from {} to {} with at most three decimals", low < 0 ? "0" : format_milli(low),
                           format_milli(high)),
               problems);
  return std::nullopt;
}

std::optional<int64_t> read_bytes(const YamlNode& node, std::string_view key, int64_t low, int64_t high,
                                  Problems& problems) {
  if (node.kind == YamlNode::Kind::kScalar) {
    const auto value = parse_signed(node.text, [](std::string_view text) { return parse_bytes(text); });
    if (value && *value >= low && *value <= high) return value;
  }
  add_expected(node, key, fmt::format("an amount of memory such as 80Gi or 512Mi, at most {}", format_bytes(high)),
               problems);
  return std::nullopt;
}

std::optional<Duration> read_duration(const YamlNode& node, std::string_view key, Duration low, Duration high,
                                      Problems& problems) {
  if (node.kind == YamlNode::Kind::kScalar) {
    const auto value = parse_duration(node.text);
    if (value && *value >= low && *value <= high) return *value;
    if (value) {
      add_expected(node, key, fmt::format("a time from {} to {}", format_duration(low), format_duration(high)),
                   problems);
      return std::nullopt;
    }
  }
  add_expected(node, key, "a time such as 30s, 10m, 2h or 7d", problems);
  return std::nullopt;
}

std::optional<uint8_t> read_truth(const YamlNode& node, std::string_view key, Problems& problems) {
  if (is_plain(node)) {
    if (node.text == "true" || node.text == "True" || node.text == "TRUE") return uint8_t{1};
    if (node.text == "false" || node.text == "False" || node.text == "FALSE") return uint8_t{0};
  }
  add_expected(node, key, "true or false", problems);
  return std::nullopt;
}

std::optional<size_t> read_word(const YamlNode& node, std::string_view key, std::span<const std::string_view> words,
                                Problems& problems) {
  if (node.kind == YamlNode::Kind::kScalar) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == node.text) return i;
    }
    const std::string_view meant = meant_by(node.text, words);
    if (!meant.empty()) {
      problems.add(node.at, fmt::format("{} is {}; did you mean '{}'?", key, describe(node), meant));
      return std::nullopt;
    }
  }
  add_expected(node, key, join_words(words), problems);
  return std::nullopt;
}

std::span<const YamlNode* const> read_list(const YamlNode& node, std::string_view key, Problems& problems) {
  if (node.kind == YamlNode::Kind::kList) return node.items;
  add_expected(node, key, "a list", problems);
  return {};
}

std::vector<const YamlNode*> read_list_or_one(const YamlNode& node, std::string_view key, Problems& problems) {
  if (node.kind == YamlNode::Kind::kScalar) return {&node};
  const auto items = read_list(node, key, problems);
  return {items.begin(), items.end()};
}

MapReader::MapReader(const YamlNode& node, std::string_view what, Problems& problems)
    : node_(node), what_(what), problems_(problems), is_used_(node.items.size() / 2, 0) {
  if (node.kind != YamlNode::Kind::kMap) add_expected(node, what, "a map of keys and values", problems);
}

const YamlNode* MapReader::find(std::string_view key) {
  known_.push_back(key);
  if (node_.kind != YamlNode::Kind::kMap) return nullptr;
  for (size_t i = 0; i + 1 < node_.items.size(); i += 2) {
    const YamlNode& name = *node_.items[i];
    if (name.kind != YamlNode::Kind::kScalar || name.text != key) continue;
    is_used_[i / 2] = 1;
    const YamlNode& value = *node_.items[i + 1];
    if (value.kind != YamlNode::Kind::kNull) return &value;
    problems_.add(name.at, fmt::format("{} has no value", key));
    return nullptr;
  }
  return nullptr;
}

const YamlNode* MapReader::need(std::string_view key) {
  const size_t problems_before = problems_.list().size();
  const YamlNode* value = find(key);
  if (value == nullptr && problems_.list().size() == problems_before && node_.kind == YamlNode::Kind::kMap) {
    problems_.add(node_.at, fmt::format("{} needs the key '{}'", what_, key));
  }
  return value;
}

void MapReader::finish() {
  if (node_.kind != YamlNode::Kind::kMap) return;
  for (size_t i = 0; i + 1 < node_.items.size(); i += 2) {
    if (is_used_[i / 2]) continue;
    if (problems_.is_full()) return;
    const YamlNode& key = *node_.items[i];
    const std::string text = yaml_text(key);
    const std::string_view meant = meant_by(text, known_);
    problems_.add(key.at, meant.empty() ? fmt::format("{} has no key '{}'; it has {}", what_, text, join_words(known_))
                                        : fmt::format("{} has no key '{}'; did you mean '{}'?", what_, text, meant));
  }
}

}  // namespace weft::scenario
