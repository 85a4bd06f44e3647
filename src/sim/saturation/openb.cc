#include "sim/saturation/openb.h"

#include "base/text.h"
#include "model/device.h"
#include "sim/csv.h"
#include "sim/word_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace weft::sim {

namespace {

constexpr IntegerRange kCpuMilli{.low = 0, .high = 100'000'000};        // 100,000 cores
constexpr IntegerRange kMemoryMib{.low = 0, .high = int64_t{1} << 30};  // 1 PiB
constexpr IntegerRange kNodeGpus{.low = 0, .high = kMaxDevicesPerNode};
constexpr IntegerRange kPodGpus{.low = 0, .high = 1024};
constexpr IntegerRange kGpuMilli{.low = 0, .high = 1000};
constexpr IntegerRange kSeconds{.low = 0, .high = 1'000'000'000'000};

/// Whole numbers of one row; the first that is wrong is kept as the error.
class RowNumbers {
 public:
  explicit RowNumbers(const CsvReader& reader) : reader_(reader) {}

  int64_t take(const CsvField& field, std::string_view column, IntegerRange range) {
    Result<int64_t> value = read_integer(reader_, field, column, range);
    if (value) return *value;
    if (!error_) error_ = std::move(value.error());
    return range.low;
  }
  void take_optional(const CsvField& field, std::string_view column, IntegerRange range) {
    if (!field.text.empty()) take(field, column, range);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const CsvReader& reader_;
  std::optional<Error> error_;
};

/// Names that have been seen, to find the second row of one name.
class NameCheck {
 public:
  Result<void> add(const CsvReader& reader, const CsvField& field, std::string_view column) {
    if (field.text.empty()) return reader.error_at(field, fmt::format("{}: expected a name, found nothing", column));
    const auto [place, is_new] = lines_.emplace(field.text, field.line);
    if (is_new) return {};
    return reader.error_at(field,
                           fmt::format("{}: {} stands on line {} already", column, quote(field.text), place->second));
  }

 private:
  std::unordered_map<std::string_view, uint32_t> lines_;
};

Result<OpenbNode> read_node(const CsvReader& reader, const std::vector<CsvField>& row) {
  RowNumbers numbers(reader);
  OpenbNode node{.name = std::string(row[0].text),
                 .cpu_milli = numbers.take(row[1], "cpu_milli", kCpuMilli),
                 .memory_mib = numbers.take(row[2], "memory_mib", kMemoryMib),
                 .gpus = static_cast<int32_t>(numbers.take(row[3], "gpu", kNodeGpus)),
                 .model = std::string(row[4].text)};
  if (numbers.error()) return std::unexpected(*numbers.error());
  if (node.gpus > 0 && node.model.empty())
    return reader.error_at(row[4], "model: expected a name, for the node has GPUs");
  if (node.gpus == 0 && !node.model.empty())
    return reader.error_at(row[4], "model: expected nothing, for the node has no GPU");
  return node;
}

Result<OpenbPod> read_pod(const CsvReader& reader, const std::vector<CsvField>& row) {
  RowNumbers numbers(reader);
  OpenbPod pod{.name = std::string(row[0].text),
               .cpu_milli = numbers.take(row[1], "cpu_milli", kCpuMilli),
               .memory_mib = numbers.take(row[2], "memory_mib", kMemoryMib),
               .gpus = static_cast<int32_t>(numbers.take(row[3], "num_gpu", kPodGpus)),
               .gpu_milli = static_cast<int32_t>(numbers.take(row[4], "gpu_milli", kGpuMilli)),
               .models = {}};
  numbers.take_optional(row[8], "creation_time", kSeconds);
  numbers.take_optional(row[9], "deletion_time", kSeconds);
  numbers.take_optional(row[10], "scheduled_time", kSeconds);
  if (numbers.error()) return std::unexpected(*numbers.error());
  if (pod.gpus == 0 && pod.gpu_milli != 0) {
    return reader.error_at(row[4], fmt::format("gpu_milli: expected 0 where num_gpu is 0, found {}", pod.gpu_milli));
  }
  if (pod.gpus > 0 && pod.gpu_milli == 0)
    return reader.error_at(row[4], "gpu_milli: expected 1 to 1,000 where num_gpu is not 0, found 0");
  if (pod.gpus > 1 && pod.gpu_milli != 1000) {
    return reader.error_at(row[4],
                           fmt::format("gpu_milli: expected 1,000 where num_gpu is over 1, found {}", pod.gpu_milli));
  }
  read_words(row[5].text, '|', pod.models);  // empty words are passed over, as the published simulator does
  return pod;
}

/// Reads all rows of a table with `read`, checks that names (the first column) are distinct, and sorts by them.
template <typename Row, typename Read>
Result<std::vector<Row>> read_rows(Result<CsvTable> table, std::string_view name_column, const Read& read) {
  if (!table) return std::unexpected(std::move(table.error()));
  std::vector<Row> rows;
  std::vector<CsvField> fields;
  NameCheck names;
  for (;;) {
    const Result<CsvReader::Step> step = table->next(fields);
    if (!step) return std::unexpected(step.error());
    if (*step == CsvReader::Step::kEnd) break;
    if (Result<void> is_new = names.add(table->reader(), fields[0], name_column); !is_new)
      return std::unexpected(is_new.error());
    Result<Row> row = read(table->reader(), fields);
    if (!row) return std::unexpected(std::move(row.error()));
    rows.push_back(std::move(*row));
  }
  if (rows.empty())
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}: no rows after the names of the columns", table->reader().name()));
  std::ranges::sort(rows, {}, &Row::name);
  return rows;
}

}  // namespace

Result<std::vector<OpenbNode>> read_openb_nodes(std::string_view content, std::string file_name) {
  const std::vector<CsvTable::Column> columns{{"sn"}, {"cpu_milli"}, {"memory_mib"}, {"gpu"}, {"model"}};
  return read_rows<OpenbNode>(CsvTable::open(content, std::move(file_name), columns), "sn", read_node);
}

Result<std::vector<OpenbPod>> read_openb_pods(std::string_view content, std::string file_name) {
  constexpr auto kOptional = CsvTable::Presence::kOptional;
  const std::vector<CsvTable::Column> columns{{"name"},
                                              {"cpu_milli"},
                                              {"memory_mib"},
                                              {"num_gpu"},
                                              {"gpu_milli"},
                                              {"gpu_spec", kOptional},
                                              {"qos", kOptional},
                                              {"pod_phase", kOptional},
                                              {"creation_time", kOptional},
                                              {"deletion_time", kOptional},
                                              {"scheduled_time", kOptional}};
  return read_rows<OpenbPod>(CsvTable::open(content, std::move(file_name), columns), "name", read_pod);
}

}  // namespace weft::sim
