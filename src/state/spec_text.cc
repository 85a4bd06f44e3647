#include "state/spec_text.h"

#include "base/text.h"

#include <fmt/format.h>

#include <vector>

namespace weft {

namespace {

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string_view best = nearest(word, candidates);
  return best.empty() ? std::string() : fmt::format("; did you mean '{}'?", best);
}

}  // namespace

std::string SpecPlace::text() const {
  std::string text = "job " + quoted(job);
  if (part != nullptr) text.append(", ").append(part).append(" ").append(quoted(name));
  return text;
}

std::string quoted(std::string_view text) {
  constexpr size_t kLengthMax = 80;
  std::string out = "'";
  for (const char c : text.substr(0, kLengthMax)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  out += text.size() > kLengthMax ? "…'" : "'";
  return out;
}

std::string suggest_model(std::string_view word, const DeviceCatalogue& catalogue) {
  std::vector<std::string_view> candidates;
  for (size_t i = 0; i < catalogue.size(); ++i) candidates.push_back(catalogue.model(make_id<DeviceModelId>(i)).name);
  return did_you_mean(word, candidates);
}

std::string suggest_queue(std::string_view word, const Vocabulary& names) {
  std::vector<std::string_view> candidates;
  for (size_t i = 0; i < names.queues.size(); ++i) candidates.push_back(names.queues.text(make_id<QueueId>(i)));
  return did_you_mean(word, candidates);
}

std::string suggest_node(std::string_view word, const Vocabulary& names) {
  std::vector<std::string_view> candidates;
  for (size_t i = 0; i < names.nodes.size(); ++i) candidates.push_back(names.nodes.text(make_id<NodeId>(i)));
  return did_you_mean(word, candidates);
}

std::string suggest_level(std::string_view word, const Vocabulary& names) {
  std::vector<std::string_view> candidates{"nvlink", "node"};
  candidates.insert(candidates.end(), names.levels.begin(), names.levels.end());
  return did_you_mean(word, candidates);
}

std::string known_profiles(const DeviceModel& model) {
  if (model.mig_profiles.empty()) return "; it has no MIG";
  std::string text;
  for (const MigProfile& profile : model.mig_profiles) text += (text.empty() ? "; it has " : ", ") + profile.name;
  return text;
}

}  // namespace weft
