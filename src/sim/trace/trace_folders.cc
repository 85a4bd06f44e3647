// The formats that are a folder of tables.

#include "sim/byte_source.h"
#include "sim/trace/formats.h"
#include "sim/trace/recognise.h"

namespace weft::sim {

namespace {

Result<TextWindow> open_table(const std::string& folder, const std::string& file) {
  const std::string path = table_in(folder, file);
  Result<std::unique_ptr<ByteSource>> bytes = open_bytes(path.empty() ? folder + "/" + file : path);
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  return TextWindow(std::move(*bytes));
}

}  // namespace

OpenedRows open_pai_folder(const std::string& folder) {
  constexpr const char* kTags = "pai_group_tag_table.csv";
  Result<TextWindow> jobs = open_table(folder, "pai_job_table.csv");
  if (!jobs) return std::unexpected(std::move(jobs.error()));
  Result<TextWindow> tasks = open_table(folder, "pai_task_table.csv");
  if (!tasks) return std::unexpected(std::move(tasks.error()));
  PaiTables tables{.jobs = std::move(*jobs), .tasks = std::move(*tasks), .tags = std::nullopt};
  if (!table_in(folder, kTags).empty()) {
    Result<TextWindow> tags = open_table(folder, kTags);
    if (!tags) return std::unexpected(std::move(tags.error()));
    tables.tags = std::move(*tags);
  }
  return open_pai_rows(std::move(tables));
}

OpenedRows open_lingjun_folder(const std::string& folder) {
  Result<TextWindow> jobs = open_table(folder, "job.csv");
  if (!jobs) return std::unexpected(std::move(jobs.error()));
  Result<TextWindow> workers = open_table(folder, "worker.csv");
  if (!workers) return std::unexpected(std::move(workers.error()));
  return open_lingjun_rows({.jobs = std::move(*jobs), .workers = std::move(*workers)});
}

}  // namespace weft::sim
