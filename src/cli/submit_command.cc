#include "base/printable.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/present.h"
#include "cli/run_command.h"
#include "cli/script_directives.h"
#include "service/socket_place.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace weft::cli {
namespace {

std::unexpected<Error> wrong(std::string message) { return fail(ErrorCode::kInvalidInput, std::move(message)); }

constexpr size_t kDirectivesMax = 1000;  ///< lines; each is read like a command line of its own

Result<std::string> read_script(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (path.empty()) return wrong("the name of the script is empty");
  if (!std::filesystem::exists(status))
    return wrong(fmt::format("{}: there is no such script; a command stands behind --", path));
  if (std::filesystem::is_directory(status)) return wrong(fmt::format("{}: it is a directory, not a script", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) return wrong(fmt::format("{}: it cannot be read", path));
  std::string text(service::kScriptBytesMax + 1, '\0');  // one byte more is enough to see that it is too long
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad()) return wrong(fmt::format("{}: it cannot be read to its end", path));
  if (text.size() > service::kScriptBytesMax) {
    return wrong(fmt::format("{}: it has more than {} bytes, which is the most a script may have", path,
                             format_count(static_cast<int64_t>(service::kScriptBytesMax))));
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return wrong(fmt::format("{}: it is empty", path));
  if (!is_utf8(text) || text.find('\0') != std::string::npos) {
    return wrong(
        fmt::format("{}: it is not a text file; a program stands behind --, as in 'weft submit -- ./program'", path));
  }
  return text;
}

/// What an editor of another system leaves behind, and no shell would take: it would only be seen when the job starts.
Result<void> check_first_line(std::string_view script, const std::string& path) {
  if (script.starts_with("\xEF\xBB\xBF"))
    return wrong(fmt::format("{}:1:1: the script begins with a byte order mark; save it without one", path));
  const std::string_view first = script.substr(0, script.find('\n'));
  const size_t mark = first.find('\r');
  if (!first.starts_with("#!") || mark == std::string_view::npos) return {};
  return wrong(fmt::format(
      "{}:1:{}: a carriage return in the line that names the interpreter; save the script with plain line ends", path,
      mark + 1));
}

/// The options of the lines `#WEFT …`, and where each was written.
struct ScriptOptions {
  JobOptions values;
  JobOptions places;  ///< "train.sh:3" in each field that has a value
};

Result<ScriptOptions> script_options(const std::string& script, const std::string& path, ReadScriptOptions read) {
  const auto lines = read_directives(script, path);
  if (!lines) return std::unexpected(lines.error());
  if (lines->size() > kDirectivesMax) {
    return wrong(fmt::format("{}:{}: more than {} lines of #WEFT", path, (*lines)[kDirectivesMax].line,
                             format_count(static_cast<int64_t>(kDirectivesMax))));
  }
  ScriptOptions options;
  for (const DirectiveLine& line : *lines) {
    const std::string place = fmt::format("{}:{}", path, line.line);
    auto found = read(line.words);
    if (!found) return wrong(fmt::format("{}: {}", place, found.error().message));
    options.values = merged(*found, options.values);  // a later line replaces an earlier one
    for (const OptionName& name : kOptionNames) {
      if ((*found).*name.field) options.places.*name.field = place;
    }
  }
  return options;
}

/// The error of a value, with the line of the script that the value was written in.
Error located(Error error, const JobOptions& command_line, const JobOptions& places) {
  const std::string_view word = std::string_view(error.message).substr(0, error.message.find(':'));
  for (const OptionName& name : kOptionNames) {
    if (word != name.option && word != name.key) continue;
    std::string text = fmt::format("{}{}", name.option, error.message.substr(word.size()));
    const bool is_in_script = !(command_line.*name.field) && places.*name.field;
    error.message = is_in_script ? fmt::format("{}: {}", *(places.*name.field), text) : std::move(text);
    break;
  }
  return error;
}

/// A script and what its lines ask for; empty for a command.
struct Script {
  std::string text;
  ScriptOptions options;
};

Result<Script> take_script(const std::string& path, ReadScriptOptions read) {
  auto text = read_script(path);
  if (!text) return std::unexpected(text.error());
  if (auto ok = check_first_line(*text, path); !ok) return std::unexpected(ok.error());
  auto options = script_options(*text, path, read);
  if (!options) return std::unexpected(options.error());
  return Script{std::move(*text), std::move(*options)};
}

Result<service::JobRequest> make_submission(const JobOptions& options, Submission what, std::vector<std::string> words,
                                            ReadScriptOptions read) {
  auto script = what == Submission::kScript ? take_script(words[0], read) : Script{};
  if (!script) return std::unexpected(script.error());
  const ScriptOptions& in_script = script->options;
  JobOptions all = merged(options, in_script.values);
  if (!all.output) all.output = "weft-%j.out";
  auto request = make_request(all);
  if (!request) return std::unexpected(located(request.error(), options, in_script.places));
  request->script = std::move(script->text);
  request->command = std::move(words);
  if (!request->output.starts_with('/') && ::access(request->directory.c_str(), W_OK) != 0) {
    return wrong(
        fmt::format("the output cannot be written to {}; choose another place with --output", request->directory));
  }
  if (auto ok = service::check_job_request(*request); !ok)
    return std::unexpected(located(ok.error(), options, in_script.places));
  if (const size_t line = find_late_line(request->script); line > 0) {
    say(fmt::format("weft: note: {}:{}: #WEFT after the first command is not read\n", printable(request->command[0]),
                    line));
  }
  if (const size_t line = find_slurm_line(request->script); line > 0) {
    say(fmt::format("weft: note: {}:{}: #SBATCH lines are not read; write #WEFT\n", printable(request->command[0]),
                    line));
  }
  return request;
}

}  // namespace

int submit_command(const JobOptions& options, Submission what, std::vector<std::string> words,
                   ReadScriptOptions read_script_options, SubmitOutput output) {
  if (words.empty()) {
    return report("submit: no script given, as in 'weft submit train.sh', nor a command behind --", kUsage);
  }
  const auto request = make_submission(options, what, std::move(words), read_script_options);
  if (!request) return report(Error{request.error().code, printable(request.error().message)});
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
