#include "sim/scenario/yaml.h"

#include "base/printable.h"
#include "base/text.h"
#include "sim/text_file.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

namespace weft::scenario {
namespace {

/// Leaves the parser from inside one of its callbacks; caught in read_chunk().
struct Stop : std::exception {
  explicit Stop(Problem what) : problem(std::move(what)) {}
  Problem problem;
};

constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";

/// Builds one document out of the parser's events. It needs no stack of its own beyond `open_`, however deep the text
/// is.
class Builder final : public YAML::EventHandler {
 public:
  Builder(YamlDocument& out, uint32_t line_offset) : out_(out), line_offset_(line_offset) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    out_.at = place(mark);
    start_ = mark.pos;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode& node = make(YamlNode::Kind::kNull, mark, "", anchor);
    close(node);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode& node = make(YamlNode::Kind::kScalar, mark, tag, anchor);
    node.text = value;
    node.is_quoted = tag == "!" || tag == std::string(kCoreTag) + "str";
    close(node);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Stop({place(mark), "this alias has no anchor above it"});
    for (const YamlNode* open : open_) {
      if (open == found->second) throw Stop({place(mark), "this alias stands inside of what it repeats"});
    }
    if (open_.empty()) throw Stop({place(mark), "a document cannot be an alias alone"});
    attach(*found->second, place(mark));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(make(YamlNode::Kind::kList, mark, tag, anchor));
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(make(YamlNode::Kind::kMap, mark, tag, anchor));
  }
  void OnMapEnd() override {
    check_keys(*open_.back());
    end();
  }

  /// Where the document starts, in bytes.
  int start() const { return start_; }

 private:
  Place place(const YAML::Mark& mark) const {
    return {static_cast<uint32_t>(mark.line < 0 ? 0 : mark.line) + 1 + line_offset_,
            static_cast<uint32_t>(mark.column < 0 ? 0 : mark.column) + 1};
  }

  YamlNode& make(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const bool is_core = tag.empty() || tag == "?" || tag == "!" || tag.starts_with(kCoreTag);
    if (!is_core) throw Stop({place(mark), fmt::format("the tag {} is not known; leave it out", tag)});
    YamlNode& node = out_.nodes->emplace_back();
    node.kind = kind;
    node.at = place(mark);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = &node;
    if (out_.nodes->size() > kYamlNodesMax) throw Stop(too_large(node.at));
    return node;
  }

  void open(YamlNode& node) {
    if (open_.size() >= kYamlDepthMax) {
      throw Stop({node.at, fmt::format("lists and maps are more than {} deep here", kYamlDepthMax)});
    }
    open_.push_back(&node);
  }
  void end() {
    YamlNode& node = *open_.back();
    open_.pop_back();
    close(node);
  }
  void close(YamlNode& node) {
    if (open_.empty()) {
      out_.root = &node;
    } else {
      attach(node, node.at);
    }
  }
  void attach(const YamlNode& node, Place where) {
    YamlNode& parent = *open_.back();
    parent.items.push_back(&node);
    parent.weight += node.weight;
    if (parent.weight > kYamlNodesMax) throw Stop(too_large(where));
  }
  static Problem too_large(Place at) {
    return {at, fmt::format("the document has more than {} values, aliases written out", format_count(kYamlNodesMax))};
  }

  /// The parser itself would take the same key twice without a word.
  static void check_keys(const YamlNode& map) {
    std::unordered_map<std::string, const YamlNode*> seen;
    for (size_t i = 0; i + 1 < map.items.size(); i += 2) {
      const YamlNode& key = *map.items[i];
      const auto [first, is_new] =
          seen.try_emplace(key.kind == YamlNode::Kind::kScalar ? key.text : yaml_text(key), &key);
      if (!is_new) {
        throw Stop({key.at, fmt::format("'{}' is written twice in one map; it stands already in line {}",
                                        yaml_text(key), first->second->at.line)});
      }
    }
  }

  YamlDocument& out_;
  uint32_t line_offset_;
  int start_ = -1;
  std::vector<YamlNode*> open_;
  std::unordered_map<YAML::anchor_t, const YamlNode*> anchors_;
};

Problem too_many_documents(Place at) {
  return {at,
          fmt::format("the file has more than {} documents", format_count(static_cast<int64_t>(kYamlDocumentsMax)))};
}

struct Chunk {
  std::string_view text;
  uint32_t line_offset = 0;
};

bool is_document_marker(std::string_view line) {
  return line.starts_with("---") && (line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r');
}

/// True for lines that may stand before a document: blanks, comments and directives.
bool is_preface(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos || line[first] == '#' || line[0] == '%';
}

/// Cuts the text at its document markers, so that one broken document does not hide the next: nothing in YAML, not even
/// a block of text, may hold a line that starts with `---`.
std::vector<Chunk> split_documents(std::string_view text) {
  std::vector<Chunk> chunks;
  size_t chunk_start = 0;
  uint32_t chunk_line = 0;
  uint32_t line_number = 0;
  bool is_only_preface = true;
  for (size_t at = 0; at < text.size(); ++line_number) {
    const size_t newline = text.find('\n', at);
    const size_t next = newline == std::string_view::npos ? text.size() : newline + 1;
    const std::string_view line = text.substr(at, (newline == std::string_view::npos ? text.size() : newline) - at);
    if (is_document_marker(line)) {
      if (!is_only_preface) {
        chunks.push_back({text.substr(chunk_start, at - chunk_start), chunk_line});
        chunk_start = at;
        chunk_line = line_number;
      }
      is_only_preface = false;
    } else if (!is_preface(line)) {
      is_only_preface = false;
    }
    at = next;
  }
  if (!is_only_preface) chunks.push_back({text.substr(chunk_start), chunk_line});
  return chunks;
}

/// Is this line (from 0), or the one above it, indented by a tab? The parser then speaks of something else.
bool is_tab_near(std::string_view text, int line_number) {
  int number = 0;
  for (size_t at = 0; at < text.size() && number <= line_number; ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const std::string_view indent = line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (number + 1 >= line_number && indent.contains('\t')) return true;
    at = end + 1;
  }
  return false;
}

void read_chunk(const Chunk& chunk, std::vector<YamlDocument>& out) {
  std::istringstream stream{std::string(chunk.text)};
  const Place start{chunk.line_offset + 1, 1};
  auto fail_with = [&](Problem problem) {
    out.back().root = nullptr;
    out.back().problem = std::move(problem);
  };
  out.push_back({.at = start});
  if (chunk.text.size() > kYamlDocumentBytesMax) {
    return fail_with({start, fmt::format("the document has {} bytes; at most {} are read",
                                         format_count(static_cast<int64_t>(chunk.text.size())),
                                         format_count(static_cast<int64_t>(kYamlDocumentBytesMax)))});
  }
  try {
    YAML::Parser parser(stream);
    int last_start = -1;
    for (;;) {
      Builder builder(out.back(), chunk.line_offset);
      if (!parser.HandleNextDocument(builder)) {
        out.pop_back();
        return;
      }
      // Of what it cannot begin a document with, such as a comma, the parser makes empty documents without end.
      if (builder.start() <= last_start) throw Stop({out.back().at, "this is not YAML: no document begins like this"});
      last_start = builder.start();
      if (out.size() > kYamlDocumentsMax) throw Stop(too_many_documents(out.back().at));
      out.push_back({.at = start});
    }
  } catch (const Stop& stop) {
    fail_with(stop.problem);
  } catch (const YAML::Exception& error) {
    const bool has_place = error.mark.line >= 0;
    const Place at = has_place ? Place{static_cast<uint32_t>(error.mark.line) + 1 + chunk.line_offset,
                                       static_cast<uint32_t>(error.mark.column) + 1}
                               : start;
    const std::string_view hint =
        has_place && is_tab_near(chunk.text, error.mark.line) ? "; YAML is indented by blanks, and here is a tab" : "";
    fail_with({at, fmt::format("this is not YAML: {}{}", error.msg, hint)});
  } catch (const std::exception& error) {
    fail_with({start, fmt::format("this cannot be read as YAML: {}", error.what())});
  }
}

/// What keeps the bytes from being text at all.
std::optional<Problem> find_no_text(std::string_view text) {
  if (text.size() > kYamlBytesMax) {
    return Problem{
        {1, 1},
        fmt::format("the file has {} bytes; at most {} are read", format_count(static_cast<int64_t>(text.size())),
                    format_count(static_cast<int64_t>(kYamlBytesMax)))};
  }
  if (const auto fault = sim::find_text_fault(text)) return Problem{{fault->line, fault->column}, fault->message};
  return std::nullopt;
}

void append_text(const YamlNode& node, std::string& out) {
  constexpr size_t kLengthMax = 60;
  if (out.size() > kLengthMax) return;
  switch (node.kind) {
    case YamlNode::Kind::kNull: out += "null"; return;
    case YamlNode::Kind::kScalar: out += node.text; break;
    case YamlNode::Kind::kList:
    case YamlNode::Kind::kMap: {
      const bool is_map = node.kind == YamlNode::Kind::kMap;
      out += is_map ? "{" : "[";
      for (size_t i = 0; i < node.items.size() && out.size() <= kLengthMax; ++i) {
        if (i > 0) out += is_map && i % 2 == 1 ? ": " : ", ";
        append_text(*node.items[i], out);
      }
      out += is_map ? "}" : "]";
      break;
    }
  }
}

}  // namespace

std::string yaml_text(const YamlNode& node) {
  constexpr size_t kLengthMax = 60;
  std::string out;
  append_text(node, out);
  if (out.size() > kLengthMax) {
    size_t cut = kLengthMax;
    while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xc0U) == 0x80U) --cut;  // not inside a character
    out.resize(cut);
    out += "…";
  }
  for (char& c : out) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  return printable(out);
}

std::vector<YamlDocument> read_yaml(std::string_view text) {
  std::vector<YamlDocument> documents;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (auto problem = find_no_text(text)) {
    documents.push_back({.at = {1, 1}, .problem = std::move(problem)});
    return documents;
  }
  for (const Chunk& chunk : split_documents(text)) {
    if (documents.size() >= kYamlDocumentsMax) {
      const Place at{chunk.line_offset + 1, 1};
      documents.push_back({.at = at, .problem = too_many_documents(at)});
      return documents;
    }
    read_chunk(chunk, documents);
  }
  return documents;
}

}  // namespace weft::scenario
