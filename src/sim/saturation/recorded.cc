#include "sim/saturation/recorded.h"

#include "base/text.h"
#include "sim/csv.h"
#include "sim/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace weft::sim {

namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// Where the columns of one file stand; -1: absent.
struct Places {
  int32_t workload = -1;
  int32_t policy = -1;
  int32_t seed = -1;
  std::array<int32_t, kPercents> percents;
};

Result<Places> find_places(const CsvReader& reader, const std::vector<CsvField>& header) {
  Places places;
  places.percents.fill(-1);
  int32_t tune = -1, total_gpus = -1;  // passed over
  const std::array<std::pair<std::string_view, int32_t*>, 5> words{{{"workload", &places.workload},
                                                                    {"sc_policy", &places.policy},
                                                                    {"seed", &places.seed},
                                                                    {"tune", &tune},
                                                                    {"total_gpus", &total_gpus}}};
  for (size_t i = 0; i < header.size(); ++i) {
    const std::string_view name = header[i].text;
    const auto word = std::ranges::find(words, name, &std::pair<std::string_view, int32_t*>::first);
    int32_t* place = word == words.end() ? nullptr : word->second;
    if (place == nullptr) {
      const Result<int64_t> percent = parse_integer(name, 0, static_cast<int64_t>(kPercents) - 1);
      if (!percent) {
        return reader.error_at(header[i], fmt::format("unknown column {}; expected workload, sc_policy, seed, or a "
                                                      "percent from 0 to {}",
                                                      quote(name), kPercents - 1));
      }
      place = &places.percents[static_cast<size_t>(*percent)];
    }
    if (*place >= 0) return reader.error_at(header[i], fmt::format("the column {} stands twice", quote(name)));
    *place = static_cast<int32_t>(i);
  }
  for (const auto& [name, place] : {words[0], words[1], words[2]}) {
    if (*place < 0) return reader.error_at(header.front(), fmt::format("the column '{}' is missing", name));
  }
  return places;
}

Result<RecordedRow> read_row(const CsvReader& reader, const Places& places, const std::vector<CsvField>& fields) {
  const auto field = [&](int32_t place) -> const CsvField& { return fields[static_cast<size_t>(place)]; };
  RecordedRow row{.workload = std::string(field(places.workload).text),
                  .policy = policy_of_recorded(field(places.policy).text)};
  const Result<int64_t> seed =
      read_integer(reader, field(places.seed), "seed", {.low = -1'000'000'000, .high = 1'000'000'000});
  if (!seed) return std::unexpected(seed.error());
  row.seed = *seed;
  for (size_t percent = 0; percent < kPercents; ++percent) {
    row.values[percent] = kNoValue;
    if (places.percents[percent] < 0 || field(places.percents[percent]).text.empty()) continue;
    const CsvField& at = field(places.percents[percent]);
    const Result<double> value = parse_number(at.text);
    if (!value || *value < 0 || *value > 100)
      return reader.error_at(at, fmt::format("expected a number from 0 to 100, found {}", quote(at.text)));
    row.values[percent] = *value;
  }
  return row;
}

/// The rows below the names of the columns; each workload, policy and seed once.
Result<std::vector<RecordedRow>> read_rows(CsvReader& reader, const Places& places, size_t width) {
  std::vector<RecordedRow> rows;
  std::map<std::tuple<std::string, std::string, int64_t>, uint32_t> lines;
  std::vector<CsvField> fields;
  for (;;) {
    const Result<CsvReader::Step> step = reader.next(fields);
    if (!step) return std::unexpected(step.error());
    if (*step == CsvReader::Step::kEnd) break;
    if (fields.size() != width)
      return reader.error_at(fields.front(), fmt::format("{} fields; expected {}", fields.size(), width));
    Result<RecordedRow> row = read_row(reader, places, fields);
    if (!row) return std::unexpected(row.error());
    const auto [first, is_new] = lines.try_emplace({row->workload, row->policy, row->seed}, fields.front().line);
    if (!is_new) {
      return reader.error_at(fields.front(),
                             fmt::format("{}, {}, seed {} stands on line {} already", quote(row->workload),
                                         quote(row->policy), row->seed, first->second));
    }
    rows.push_back(std::move(*row));
  }
  if (rows.empty())
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: no rows after the names of the columns", reader.name()));
  return rows;
}

Result<std::vector<RecordedRow>> read_file(const std::string& path) {
  const Result<std::string> content = read_text_file(path);
  if (!content) return std::unexpected(content.error());
  CsvReader reader(*content, path);
  std::vector<CsvField> header;
  const Result<CsvReader::Step> step = reader.next(header);
  if (!step) return std::unexpected(step.error());
  if (*step == CsvReader::Step::kEnd)
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: no rows; expected names of columns", reader.name()));
  const Result<Places> places = find_places(reader, header);
  if (!places) return std::unexpected(places.error());
  return read_rows(reader, *places, header.size());
}

}  // namespace

std::string policy_of_recorded(std::string_view name) {
  const size_t start = std::min(name.find_first_not_of("0123456789-"), name.size());
  std::string policy;
  for (const char c : name.substr(start)) policy += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (policy.starts_with("gpu")) policy.erase(0, 3);
  return policy;
}

Result<RecordedResults> read_recorded(const std::string& folder) {
  RecordedResults results;
  const auto read_into = [&](std::vector<RecordedRow>& rows, const char* file) -> Result<void> {
    Result<std::vector<RecordedRow>> read = read_file(folder + "/" + file);
    if (!read) return std::unexpected(read.error());
    rows = std::move(*read);
    return {};
  };
  if (Result<void> read = read_into(results.allocation, kRecordedFiles[0]); !read) return std::unexpected(read.error());
  if (Result<void> read = read_into(results.fragment_ratio, kRecordedFiles[1]); !read)
    return std::unexpected(read.error());
  if (Result<void> read = read_into(results.fragment_amount, kRecordedFiles[2]); !read)
    return std::unexpected(read.error());
  return results;
}

std::optional<std::array<double, kPercents>> recorded_mean(const std::vector<RecordedRow>& rows,
                                                           std::string_view workload, std::string_view policy,
                                                           const std::vector<int64_t>& seeds) {
  std::vector<const RecordedRow*> all;
  for (const RecordedRow& row : rows) {
    if (row.workload == workload && row.policy == policy) all.push_back(&row);
  }
  if (all.empty()) return std::nullopt;
  std::vector<const RecordedRow*> chosen;
  for (const int64_t seed : seeds) {
    const auto found = std::ranges::find(all, seed, &RecordedRow::seed);
    if (found == all.end()) {
      chosen = all;
      break;
    }
    chosen.push_back(*found);
  }
  std::array<double, kPercents> means;
  for (size_t percent = 0; percent < kPercents; ++percent) {
    double sum = 0;
    int count = 0;
    for (const RecordedRow* row : chosen) {
      if (std::isnan(row->values[percent])) continue;
      sum += row->values[percent];
      ++count;
    }
    means[percent] = count > 0 ? sum / count : kNoValue;
  }
  return means;
}

}  // namespace weft::sim
