#include "base/text.h"
#include "cli/commands.h"
#include "cli/present.h"
#include "cli/run_command.h"
#include "cli/script_directives.h"
#include "service/socket_place.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>

namespace weft::cli {
namespace {

std::unexpected<Error> wrong(std::string message) { return fail(ErrorCode::kInvalidInput, std::move(message)); }

Result<std::string> read_script(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return wrong(fmt::format("{}: there is no such script", path));
  if (std::filesystem::is_directory(status)) return wrong(fmt::format("{}: it is a directory, not a script", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return wrong(fmt::format("{}: it cannot be read", path));
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return wrong(fmt::format("{}: it is empty", path));
  if (!is_utf8(text) || text.find('\0') != std::string::npos) {
    return wrong(
        fmt::format("{}: it is not a text file; to run a program, use 'weft run' or a script that calls it", path));
  }
  return text;
}

Result<JobOptions> script_options(const std::string& script, const std::string& path, ReadScriptOptions read) {
  const auto lines = read_directives(script, path);
  if (!lines) return std::unexpected(lines.error());
  JobOptions options;
  for (const DirectiveLine& line : *lines) {
    auto found = read(line.words);
    if (!found) return wrong(fmt::format("{}:{}: {}", path, line.line, found.error().message));
    options = merged(*found, options);  // a later line replaces an earlier one
  }
  return options;
}

Result<service::JobRequest> make_submission(const JobOptions& options, std::vector<std::string> words,
                                            ReadScriptOptions read) {
  auto script = read_script(words[0]);
  if (!script) return std::unexpected(script.error());
  const auto in_script = script_options(*script, words[0], read);
  if (!in_script) return std::unexpected(in_script.error());
  JobOptions all = merged(options, *in_script);
  if (!all.output) all.output = "weft-%j.out";
  auto request = make_request(all);
  if (!request) return request;
  request->script = std::move(*script);
  request->command = std::move(words);
  if (!request->output.starts_with('/') && ::access(request->directory.c_str(), W_OK) != 0) {
    return wrong(
        fmt::format("the output cannot be written to {}; choose another place with --output", request->directory));
  }
  return request;
}

}  // namespace

int submit_command(const JobOptions& options, std::vector<std::string> words, ReadScriptOptions read_script_options,
                   SubmitOutput output) {
  if (words.empty()) return report("submit: no script given, as in 'weft submit train.sh'", kUsage);
  const auto request = make_submission(options, std::move(words), read_script_options);
  if (!request) return report(request.error());
  if (auto ok = service::check_job_request(*request); !ok) return report(ok.error());
  const service::Client client(service::default_socket_path());
  const auto answer = client.request(service::Method::kPost, "/v1/jobs", service::write_job_request(*request));
  if (!answer) return report(answer.error());
  if (!answer->is_good()) return report(*answer);
  if (output == SubmitOutput::kJson) {
    fmt::print("{}\n", answer->body);
    return kSuccess;
  }
  const auto job = service::read_job(answer->body);
  if (!job) return report(job.error());
  fmt::print("job {}\n", job->id);
  return kSuccess;
}

}  // namespace weft::cli
