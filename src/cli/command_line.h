#pragma once

#include "base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace weft::cli {

/// What stands behind the first `--` of `weft run` and `weft submit`: a command of its own, whose options are none of
/// ours.
struct CommandTail {
  std::optional<std::vector<std::string>> words;  ///< nothing: there was no `--`
};

/// The arguments behind the program's name, up to that `--`.
struct CommandLine {
  std::vector<std::string> arguments;
  CommandTail tail;
};
CommandLine split_command_line(int argc, const char* const* argv);

/// Parses and runs what was asked for; `help` and `help COMMAND` are `--help` and `COMMAND --help`. Wrong usage is said
/// in one line on stderr; returns the exit status then, and `exit_status` as the command left it otherwise.
int parse_and_run(CLI::App& app, std::vector<std::string> arguments, const int& exit_status);

/// How many threads an option asks for, 1 to 1,024; without it one per core.
Result<unsigned> parse_threads(std::string_view option, const std::optional<std::string>& written);

/// "unknown option '--gpu-s'; did you mean '--gpus'?"
std::string unknown_option_text(const CLI::App& command, const std::string& word);

/// What the parser found wrong, in our words: "--gpus is given more than once".
std::string parse_error_text(const CLI::ParseError& error);

}  // namespace weft::cli
