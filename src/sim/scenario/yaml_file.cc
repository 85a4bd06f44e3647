#include "sim/scenario/yaml_file.h"

#include "sim/text_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::scenario {
namespace {

std::unexpected<Error> wrong(const std::string& name, Place at, std::string_view message, size_t more = 0) {
  std::string text = fmt::format("{}:{}:{}: {}", name, at.line, at.column, message);
  if (more > 0) text += fmt::format(" (and {} more)", more);
  return fail(ErrorCode::kInvalidInput, std::move(text));
}

}  // namespace

Result<void> read_yaml_text(std::string_view text, const std::string& name, std::string_view what,
                            const TakeRoot& take) {
  const std::vector<YamlDocument> documents = read_yaml(text);
  const YamlNode* root = nullptr;
  for (const YamlDocument& document : documents) {
    if (document.problem) return wrong(name, document.problem->at, document.problem->message);
    if (document.root == nullptr || document.root->kind == YamlNode::Kind::kNull) continue;
    if (root != nullptr)
      return wrong(name, document.root->at, fmt::format("a second document; {} is expected alone", what));
    root = document.root;
  }
  if (root == nullptr) return wrong(name, {1, 1}, fmt::format("nothing but comments; {} is expected", what));
  Problems problems;
  take(*root, problems);
  if (problems.is_empty()) return {};
  const auto first = std::ranges::min_element(
      problems.list(), {}, [](const Problem& problem) { return std::pair(problem.at.line, problem.at.column); });
  return wrong(name, first->at, first->message, problems.list().size() - 1);
}

Result<void> read_yaml_file(const std::string& path, std::string_view what, const TakeRoot& take) {
  const Result<std::string> text = sim::read_text_file(path, static_cast<int64_t>(kYamlBytesMax));
  if (!text) return std::unexpected(text.error());
  return read_yaml_text(*text, path, what, take);
}

}  // namespace weft::scenario
