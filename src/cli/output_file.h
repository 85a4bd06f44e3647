#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::cli {

/// A file that an option names.
struct NamedFile {
  std::string_view option;  ///< "--json"
  std::string path;         ///< "-": standard output
};

/// One of them is standard output, which then holds nothing else.
bool takes_standard_output(const std::vector<NamedFile>& outputs);

/// Can these files be written, as far as one can tell before hours of work go into them? Errors: an empty name, a
/// directory, no folder to write in, two outputs in one place, or an output in the place of one of `inputs`.
Result<void> check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

/// An output that is written piece by piece: into a new file beside `path`, which takes its place and its permissions
/// with commit(); without one everything is left as it was. A link is followed. What is no regular file (a pipe, a
/// terminal, /dev/null) is written to directly, and "-" is standard output; those are never replaced. Errors: one line
/// that names the file. A pipe that nobody reads any more is one where SIGPIPE is ignored.
class OutputFile {
 public:
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Result<void> write(std::string_view text);
  bool is_terminal() const;
  bool is_replacement() const { return !place_.empty(); }  ///< a new file, which takes the place of another at the end
  /// Requires: nothing has failed. Nothing is written afterwards.
  Result<void> commit();

 private:
  OutputFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::unexpected<Error> failed(int error) const;

  std::string path_;
  int fd_;               ///< -1: closed
  std::string place_;    ///< of what is to be replaced; empty: nothing is
  std::string partial_;  ///< the new file
};

/// Writes all of `text`, or leaves what was there as it was: as OutputFile does.
Result<void> write_output(const std::string& path, std::string_view text);

}  // namespace weft::cli
