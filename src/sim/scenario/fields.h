#pragma once

#include "base/printable.h"
#include "base/units.h"
#include "sim/scenario/yaml.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::scenario {

/// What is wrong with one document, in the order it was found. A reader that found a problem goes on with a default, so
/// that one look shows them all; after `kProblemsMax` the rest is dropped.
class Problems {
 public:
  static constexpr size_t kProblemsMax = 20;

  /// The message may quote what stands in the file: it becomes one line.
  void add(Place at, std::string_view message) {
    if (list_.size() < kProblemsMax) list_.push_back({at, printable(message)});
  }
  bool is_empty() const { return list_.empty(); }
  bool is_full() const { return list_.size() >= kProblemsMax; }
  const std::vector<Problem>& list() const { return list_; }

 private:
  std::vector<Problem> list_;
};

// Values of one kind each. A wrong one is a problem that says what stands there and what is expected, and comes back as
// nullopt.

/// A name or a text: any scalar, taken as it is written.
std::optional<std::string> read_text(const YamlNode& node, std::string_view key, Problems& problems);
/// A name that others refer to: text without a slash or control characters, at most 256 bytes.
std::optional<std::string> read_name(const YamlNode& node, std::string_view key, Problems& problems);
std::optional<int64_t> read_integer(const YamlNode& node, std::string_view key, int64_t low, int64_t high,
                                    Problems& problems);
std::optional<double> read_number(const YamlNode& node, std::string_view key, double low, double high,
                                  Problems& problems);
/// Thousandths: "0.5" is 500. `low` may be negative: then "-1" is read, too.
std::optional<int64_t> read_milli(const YamlNode& node, std::string_view key, int64_t low, int64_t high,
                                  Problems& problems);
std::optional<int64_t> read_bytes(const YamlNode& node, std::string_view key, int64_t low, int64_t high,
                                  Problems& problems);
std::optional<Duration> read_duration(const YamlNode& node, std::string_view key, Duration low, Duration high,
                                      Problems& problems);
/// `true` or `false`.
std::optional<uint8_t> read_truth(const YamlNode& node, std::string_view key, Problems& problems);
/// One of a few words, as its index.
std::optional<size_t> read_word(const YamlNode& node, std::string_view key, std::span<const std::string_view> words,
                                Problems& problems);
/// Items of a list; a value that is no list is a problem and has none.
std::span<const YamlNode* const> read_list(const YamlNode& node, std::string_view key, Problems& problems);
/// A list, or one scalar in place of a list of one.
std::vector<const YamlNode*> read_list_or_one(const YamlNode& node, std::string_view key, Problems& problems);

/// Which of the known words may have been meant; empty where none is near. One that begins with `word` is near, too.
std::string_view meant_by(std::string_view word, std::span<const std::string_view> known);
/// "; did you mean 'x'?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);
/// "a, b or c".
std::string join_words(std::span<const std::string_view> words);

/// Reads a map key by key. Keys that were never asked for are unknown: finish() says so, and what may have been meant.
class MapReader {
 public:
  /// `what` names the map in messages: "a job".
  MapReader(const YamlNode& node, std::string_view what, Problems& problems);

  /// The value of `key`, or null where it is not written. A key without a value is a problem and comes back as null.
  const YamlNode* find(std::string_view key);
  /// The same, and a problem where it is missing.
  const YamlNode* need(std::string_view key);
  Place at() const { return node_.at; }
  const YamlNode& node() const { return node_; }
  /// To be called once, behind the last find().
  void finish();

 private:
  const YamlNode& node_;
  std::string_view what_;
  Problems& problems_;
  std::vector<std::string_view> known_;
  std::vector<uint8_t> is_used_;
};

}  // namespace weft::scenario
