#include "engine/local/task_launch.h"

#include <cstring>

namespace weft::local {
namespace {

void put_number(std::string& out, uint64_t number) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  out.append(bytes, sizeof(number));
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out.append(text);
}

void put_list(std::string& out, const std::vector<std::string>& list) {
  put_number(out, list.size());
  for (const std::string& text : list) put_text(out, text);
}

/// Takes values off the front; every get_ fails once one has failed.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  uint64_t get_number() {
    uint64_t number = 0;
    if (rest_.size() < sizeof(number)) return give_up();
    std::memcpy(&number, rest_.data(), sizeof(number));
    rest_.remove_prefix(sizeof(number));
    return number;
  }

  std::string get_text() {
    const uint64_t size = get_number();
    if (size > rest_.size()) {
      give_up();
      return {};
    }
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }

  std::vector<std::string> get_list() {
    const uint64_t count = get_number();
    std::vector<std::string> list;
    for (uint64_t i = 0; i < count && has_all_; ++i) list.push_back(get_text());
    return list;
  }

  bool is_whole() const { return has_all_ && rest_.empty(); }

 private:
  uint64_t give_up() {
    has_all_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool has_all_ = true;
};

}  // namespace

std::string write_launch(const TaskLaunch& launch) {
  std::string out;
  put_list(out, launch.arguments);
  put_list(out, launch.environment);
  put_text(out, launch.directory);
  put_text(out, launch.output_path);
  put_text(out, launch.error_path);
  put_number(out, static_cast<uint64_t>(launch.grace_ns));
  put_number(out, launch.open_files_soft_max);
  return out;
}

std::optional<TaskLaunch> read_launch(std::string_view bytes) {
  Reader reader(bytes);
  TaskLaunch launch;
  launch.arguments = reader.get_list();
  launch.environment = reader.get_list();
  launch.directory = reader.get_text();
  launch.output_path = reader.get_text();
  launch.error_path = reader.get_text();
  launch.grace_ns = static_cast<int64_t>(reader.get_number());
  launch.open_files_soft_max = reader.get_number();
  if (!reader.is_whole() || launch.arguments.empty()) return std::nullopt;
  return launch;
}

}  // namespace weft::local
