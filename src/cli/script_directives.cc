#include "cli/script_directives.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

namespace weft::cli {
namespace {

constexpr std::string_view kMark = "#WEFT";
constexpr std::string_view kSlurmMark = "#SBATCH";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Cuts one line into words.
class Splitter {
 public:
  Splitter(std::string_view text, size_t first_column) : text_(text), first_column_(first_column) {}

  /// False: see problem().
  bool run(std::vector<std::string>& words) {
    while (at_ < text_.size()) {
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (text_[at_] == '#') {
        return true;
      } else if (!take_word(words.emplace_back())) {
        return false;
      }
    }
    return true;
  }
  const std::string& problem() const { return problem_; }
  size_t problem_column() const { return first_column_ + problem_at_; }

 private:
  bool take_word(std::string& word) {
    while (at_ < text_.size() && !is_blank(text_[at_])) {
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        if (!take_quoted(word)) return false;
      } else if (c == '\\') {
        if (at_ + 1 == text_.size()) return fail_at(at_, "a backslash ends the line");
        word += text_[at_ + 1];
        at_ += 2;
      } else {
        word += c;
        ++at_;
      }
    }
    return true;
  }

  bool take_quoted(std::string& word) {
    const size_t start = at_;
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      const bool is_escaped = quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size() &&
                              (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\');
      at_ += is_escaped ? 1 : 0;
      word += text_[at_++];
    }
    if (at_ == text_.size()) return fail_at(start, fmt::format("the quote {} is not closed", quote));
    ++at_;
    return true;
  }

  bool fail_at(size_t at, std::string problem) {
    problem_at_ = at;
    problem_ = std::move(problem);
    return false;
  }

  std::string_view text_;
  size_t first_column_;
  size_t at_ = 0;
  std::string problem_;
  size_t problem_at_ = 0;
};

/// A line of a script, from 1, that begins with the mark.
struct MarkedLine {
  size_t number = 0;
  std::string_view text;
};

enum class Part : uint8_t { kHead, kWhole };

/// Those of the head, which ends with the first line that is neither blank nor a comment, or all.
std::vector<MarkedLine> marked_lines(std::string_view script, std::string_view mark, Part part = Part::kHead) {
  std::vector<MarkedLine> lines;
  for (size_t number = 1; !script.empty(); ++number) {
    const std::string_view line = script.substr(0, script.find('\n'));
    script.remove_prefix(std::min(script.size(), line.size() + 1));
    const size_t indent = std::min(line.find_first_not_of(" \t\r"), line.size());
    if (indent == line.size()) continue;
    if (line[indent] != '#' && part == Part::kHead) break;
    if (line.starts_with(mark) && (line.size() == mark.size() || is_blank(line[mark.size()])))
      lines.push_back({number, line});
  }
  return lines;
}

}  // namespace

Result<std::vector<DirectiveLine>> read_directives(std::string_view script, std::string_view name) {
  std::vector<DirectiveLine> lines;
  for (const auto& [number, line] : marked_lines(script, kMark)) {
    DirectiveLine directive{.line = number};
    Splitter splitter(line.substr(kMark.size()), kMark.size() + 1);
    if (!splitter.run(directive.words)) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{}:{}:{}: {}", name, number, splitter.problem_column(), splitter.problem()));
    }
    if (!directive.words.empty()) lines.push_back(std::move(directive));
  }
  return lines;
}

size_t find_late_line(std::string_view script) {
  const size_t read = marked_lines(script, kMark).size();
  const auto all = marked_lines(script, kMark, Part::kWhole);
  return all.size() > read ? all[read].number : 0;
}

size_t find_slurm_line(std::string_view script) {
  const auto lines = marked_lines(script, kSlurmMark);
  return lines.empty() ? 0 : lines.front().number;
}

}  // namespace weft::cli
