// weft's own YAML, which people write by hand: read whole.

#include "base/text.h"
#include "sim/scenario/yaml.h"
#include "sim/trace/formats.h"
#include "sim/trace/job_pack.h"
#include "sim/trace/numbers.h"
#include "sim/trace/weft_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace weft::sim {

namespace {

using scenario::Place;
using scenario::YamlDocument;
using scenario::YamlNode;

bool is_scalar(const YamlNode& node) { return node.kind == YamlNode::Kind::kScalar; }

class WeftYamlRows final : public TraceRows {
 public:
  explicit WeftYamlRows(std::string name) : name_(std::move(name)) {}

  Result<void> open(std::string_view text) {
    documents_ = scenario::read_yaml(text);
    for (const YamlDocument& document : documents_) {
      if (document.problem) return std::unexpected(error_here(document.problem->at, document.problem->message));
      if (document.root == nullptr) continue;
      if (Result<void> read = read_document(*document.root); !read) return read;
    }
    return {};
  }

  Result<Row> next(TraceJob& job) override {
    if (next_ == jobs_.size()) return Row::kEnd;
    const YamlNode& node = *jobs_[next_++];
    reset(job);
    places_.fill(node.at);
    if (Result<void> read = read_job(node, job); !read) return std::unexpected(std::move(read.error()));
    return Row::kJob;
  }
  bool goes_on() const override { return true; }
  std::unexpected<Error> error_at(Part part, std::string_view message) const override {
    return std::unexpected(error_here(places_[static_cast<size_t>(part)], message));
  }
  const std::string& name() const override { return name_; }
  int64_t epoch() const override { return epoch_; }

 private:
  Error error_here(Place at, std::string_view message) const {
    return {ErrorCode::kInvalidInput, fmt::format("{}:{}:{}: {}", name_, at.line, at.column, message)};
  }
  std::unexpected<Error> wrong(const YamlNode& node, std::string_view message) const {
    return std::unexpected(error_here(node.at, message));
  }

  Result<void> read_document(const YamlNode& root) {
    constexpr std::string_view kShape = "a map of weft_trace: 1, jobs: and perhaps epoch:";
    if (root.kind != YamlNode::Kind::kMap) return wrong(root, fmt::format("expected {}", kShape));
    bool has_version = false;
    for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
      const YamlNode& key = *root.items[i];
      const YamlNode& value = *root.items[i + 1];
      if (key.text == "weft_trace") {
        if (value.text != "1") return wrong(value, "weft_trace: expected 1, the version of the format");
        has_version = true;
      } else if (key.text == "epoch") {
        const Result<int64_t> epoch = parse_integer(value.text, 0, kTraceTimeMax / 1'000'000'000);
        if (!epoch) return wrong(value, "epoch: expected seconds since 1970");
        if (epoch_ != 0 && *epoch != epoch_) return wrong(value, fmt::format("epoch: expected {} as above", epoch_));
        epoch_ = *epoch;
      } else if (key.text == "jobs") {
        if (value.kind == YamlNode::Kind::kNull) continue;
        if (value.kind != YamlNode::Kind::kList) return wrong(value, "jobs: expected a list");
        jobs_.insert(jobs_.end(), value.items.begin(), value.items.end());
      } else {
        return wrong(key, fmt::format("unknown key {}; expected {}", quote(key.text), kShape));
      }
    }
    if (!has_version) return wrong(root, fmt::format("the key weft_trace is missing; expected {}", kShape));
    return {};
  }

  Result<void> read_job(const YamlNode& node, TraceJob& job) {
    if (node.kind != YamlNode::Kind::kMap) return wrong(node, "expected a job: {id: …, submit: …, run_time: …}");
    std::array<bool, 3> has_needed{};
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const YamlNode& key = *node.items[i];
      const YamlNode& value = *node.items[i + 1];
      const auto field = std::ranges::find(weft_fields(), key.text, &WeftField::name);
      if (field == weft_fields().end()) return wrong(key, unknown_key(key.text));
      const auto index = static_cast<size_t>(field - weft_fields().begin());
      if (value.kind == YamlNode::Kind::kNull) continue;
      const bool is_good = is_scalar(value) && field->read(value.text, job);
      if (!is_good) {
        return wrong(value, fmt::format("{}: expected {}, found {}", field->name, field->expected,
                                        quote(scenario::yaml_text(value))));
      }
      if (index < has_needed.size()) {
        has_needed[index] = true;
        places_[index] = value.at;
      }
    }
    for (size_t i = 0; i < has_needed.size(); ++i) {
      if (!has_needed[i]) return wrong(node, fmt::format("the key '{}' is missing", weft_fields()[i].name));
    }
    if (const std::string_view fault = weft_job_fault(job); !fault.empty()) return wrong(node, fault);
    return {};
  }

  static std::string unknown_key(std::string_view key) {
    std::vector<std::string_view> names;
    for (const WeftField& field : weft_fields()) names.push_back(field.name);
    const std::string_view meant = nearest(key, names);
    return fmt::format("unknown key {}; {}", quote(key),
                       meant.empty() ? "expected a field of a job" : fmt::format("did you mean '{}'?", meant));
  }

  std::string name_;
  std::vector<YamlDocument> documents_;
  std::vector<const YamlNode*> jobs_;
  size_t next_ = 0;
  std::array<Place, 3> places_{};  ///< by Part, which are the first three fields
  int64_t epoch_ = 0;
};

}  // namespace

OpenedRows open_weft_yaml_rows(TextWindow file) {
  const Result<std::string_view> text = file.head(scenario::kYamlBytesMax + 1);
  if (!text) return std::unexpected(text.error());
  if (text->size() > scenario::kYamlBytesMax) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}: is larger than {} bytes, which is the most that is read of a YAML trace; expected "
                            "one that long as CSV",
                            file.name(), format_count(static_cast<int64_t>(scenario::kYamlBytesMax))));
  }
  auto rows = std::make_unique<WeftYamlRows>(file.name());
  if (Result<void> opened = rows->open(*text); !opened) return std::unexpected(std::move(opened.error()));
  return rows;
}

}  // namespace weft::sim
