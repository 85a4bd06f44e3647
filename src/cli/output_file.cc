#include "cli/output_file.h"

#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> wrong(std::string_view option, const std::string& path, std::string_view what) {
  return fail(ErrorCode::kInvalidInput, fmt::format("{}: {} {}", option, printable(path), what));
}

std::string reason() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe): one thread

/// Where a path leads, links followed, also when the last name of it is not there yet.
fs::path place_of(const std::string& path) {
  std::error_code code;
  const fs::path place = fs::weakly_canonical(fs::absolute(path, code), code);
  return code ? fs::path(path) : place;
}

bool is_same_place(const std::string& one, const std::string& other) {
  if (one == "-" || other == "-") return one == other;
  std::error_code code;
  return fs::equivalent(one, other, code) || place_of(one) == place_of(other);
}

/// Something that is there and is no regular file: not to be replaced by one.
bool is_special(const std::string& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  return fs::exists(status) && !fs::is_regular_file(status);
}

/// Is it what standard output goes to, under whatever name? Then it must not be replaced, for something stands in it.
bool is_stdout(const std::string& path) {
  struct stat named{}, output{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &output) == 0 && named.st_dev == output.st_dev &&
         named.st_ino == output.st_ino;
}

Result<void> check_place(const NamedFile& output) {
  if (output.path.empty())
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: the name is empty; a file is expected", output.option));
  if (output.path == "-") return {};
  std::error_code code;
  if (fs::is_directory(output.path, code))
    return wrong(output.option, output.path, "is a directory; a file is expected");
  if (is_special(output.path)) return {};
  const fs::path folder = place_of(output.path).parent_path();
  if (output.path.ends_with('/') || !fs::is_directory(folder, code))
    return wrong(output.option, output.path, "cannot be written: its folder is not there");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return wrong(output.option, output.path, fmt::format("cannot be written: its folder: {}", reason()));
  return {};
}

/// False: see errno.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

/// The permissions of the file that is replaced, or those of any new file.
mode_t mode_for(const std::string& place) {
  struct stat status{};
  if (::stat(place.c_str(), &status) == 0) return status.st_mode & 07777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

bool takes_standard_output(const std::vector<NamedFile>& outputs) {
  return std::ranges::any_of(outputs, [](const NamedFile& output) { return output.path == "-"; });
}

Result<void> check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    if (Result<void> checked = check_place(output); !checked) return checked;
    const auto is_here = [&](const NamedFile& other) { return is_same_place(output.path, other.path); };
    const auto end = outputs.begin() + static_cast<std::ptrdiff_t>(i);
    const auto twin = std::find_if(outputs.begin(), end, is_here);
    const bool may_share = output.path != "-" && is_special(output.path);  // /dev/null takes any number
    if (twin != end && !may_share)
      return wrong(output.option, output.path, fmt::format("is the place of {} already", twin->option));
    const auto input = std::ranges::find_if(inputs, is_here);
    if (input != inputs.end())
      return wrong(output.option, output.path, fmt::format("is what {} reads; it would be lost", input->option));
  }
  return {};
}

Result<OutputFile> OutputFile::open(const std::string& path) {
  if (path == "-" || is_stdout(path)) {
    OutputFile output("standard output", STDOUT_FILENO);
    if (std::fflush(stdout) == 0) return output;
    const int error = errno;
    std::clearerr(stdout);  // it is said here, once
    return output.failed(error);
  }
  OutputFile output(path, -1);
  if (is_special(path)) {
    output.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else {
    output.place_ = place_of(path).string();
    output.partial_ = output.place_ + ".XXXXXX";
    output.fd_ = ::mkostemp(output.partial_.data(), O_CLOEXEC);
    if (output.fd_ >= 0 && ::fchmod(output.fd_, mode_for(output.place_)) != 0) return output.failed(errno);
  }
  if (output.fd_ < 0) return output.failed(errno);
  return output;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      place_(std::move(other.place_)),
      partial_(std::move(other.partial_)) {}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  if (fd_ != STDOUT_FILENO) ::close(fd_);
  if (!place_.empty()) ::unlink(partial_.c_str());
}

Result<void> OutputFile::write(std::string_view text) {
  if (write_all(fd_, text)) return {};
  return failed(errno);
}

bool OutputFile::is_terminal() const { return ::isatty(fd_) == 1; }

Result<void> OutputFile::commit() {
  const int fd = std::exchange(fd_, -1);
  int error = fd != STDOUT_FILENO && ::close(fd) != 0 ? errno : 0;
  if (place_.empty()) return error == 0 ? Result<void>() : failed(error);
  if (error == 0 && ::rename(partial_.c_str(), place_.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(partial_.c_str());
  return failed(error);
}

std::unexpected<Error> OutputFile::failed(int error) const {
  const char* const why = std::strerror(error);  // NOLINT(concurrency-mt-unsafe): one thread
  return fail(ErrorCode::kUnavailable, fmt::format("{}: cannot be written: {}", printable(path_), why));
}

Result<void> write_output(const std::string& path, std::string_view text) {
  Result<OutputFile> output = OutputFile::open(path);
  if (!output) return std::unexpected(output.error());
  const Result<void> written = output->write(text);
  return written ? output->commit() : written;
}

}  // namespace weft::cli
