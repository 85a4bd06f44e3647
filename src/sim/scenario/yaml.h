#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::scenario {

/// Where something stands in a file; both count from 1.
struct Place {
  uint32_t line = 0;
  uint32_t column = 0;
  bool operator==(const Place&) const = default;
};

/// What is wrong with a file, and where.
struct Problem {
  Place at;
  std::string message;
  bool operator==(const Problem&) const = default;
};

/// One value of a YAML document, as it was written: what a plain word means is for the reader of the key to say, so
/// that `no`, `on` and `y` stay words.
struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  uint8_t is_quoted = 0;  ///< a scalar in quotes, or a block: text, never a number or a truth value
  Place at;
  std::string text;                    ///< kScalar
  std::vector<const YamlNode*> items;  ///< kList: its items; kMap: key, value, key, value, …
  uint64_t weight = 1;                 ///< nodes of the whole tree under it, aliases written out
};

/// One document. `root` is null where nothing but comments stands, and where `problem` is set.
struct YamlDocument {
  /// A deque keeps the pointers valid; behind a pointer they survive a move of the document, and it cannot be copied.
  std::unique_ptr<std::deque<YamlNode>> nodes = std::make_unique<std::deque<YamlNode>>();
  const YamlNode* root = nullptr;
  Place at;
  std::optional<Problem> problem;
};

inline constexpr size_t kYamlBytesMax = size_t{16} << 20;
inline constexpr size_t kYamlDocumentsMax = 10'000;  ///< of a file
/// Of a document: before it can tell a list from a key, the parser keeps a hundred times this in memory.
inline constexpr size_t kYamlDocumentBytesMax = size_t{4} << 20;
inline constexpr uint64_t kYamlNodesMax = 1'000'000;  ///< of a document, aliases written out
inline constexpr size_t kYamlDepthMax = 64;

/// Reads every document of `text`. A document that is not YAML, or in which a key stands twice in one map, has its
/// problem; those before and behind it are read all the same. Never throws. Text that is no text at all (too long, not
/// UTF-8) is one document with a problem.
std::vector<YamlDocument> read_yaml(std::string_view text);

/// A node on one line, for messages; cut off where it is long.
std::string yaml_text(const YamlNode& node);

}  // namespace weft::scenario
