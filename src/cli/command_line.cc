#include "cli/command_line.h"

#include "base/text.h"
#include "cli/commands.h"
#include "cli/foreign_words.h"
#include "cli/present.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace weft::cli {
namespace {

int refuse(const std::string& who, const std::string& what) {
  return report(fmt::format("{}{}{}", who, who.empty() ? "" : ": ", what), kUsage);
}

std::string with_guess(const std::string& text, std::string_view word, const std::vector<std::string>& known) {
  const std::string_view near = nearest(word, known);
  return near.empty() ? text : fmt::format("{}; did you mean '{}'?", text, near);
}

std::string unknown_command_text(const CLI::App& app, const std::string& word) {
  const std::string unknown = fmt::format("unknown command '{}'", word);
  if (const std::string_view text = foreign_command_text(word); !text.empty())
    return fmt::format("{}: {}", unknown, text);
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  const std::string text = with_guess(unknown, word, known);
  return text + (text.ends_with('?') ? " 'weft --help'" : "; 'weft --help'") + " lists the commands";
}

/// The deepest command that was named on the command line.
const CLI::App* chosen(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? nullptr : commands.front();
}

/// "no JOB is given", "--nodes is required".
std::string missing_text(const CLI::App& command, const CLI::ParseError& error) {
  const std::string text = error.what();
  const CLI::Option* option = command.get_option_no_throw(text.substr(0, text.find(' ')));
  return option != nullptr && option->get_positional() ? fmt::format("no {} is given", option->get_type_name()) : text;
}

int refuse_parse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = chosen(app);
  if (command == nullptr) {
    const auto rest = app.remaining();
    if (rest.empty()) return refuse("", "no command given; 'weft --help' lists the commands");
    return refuse("",
                  rest[0].starts_with('-') ? unknown_option_text(app, rest[0]) : unknown_command_text(app, rest[0]));
  }
  const std::string& who = command->get_name();
  auto rest = command->remaining();
  if (rest.empty()) rest = app.remaining();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !rest.empty()) {
    if (rest[0].starts_with('-') && rest[0].size() > 1) return refuse(who, unknown_option_text(*command, rest[0]));
    return refuse(who, fmt::format("'{}' is one argument too many", rest[0]));
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return refuse(who, fmt::format("{}; 'weft {} --help' says what is expected", missing_text(*command, error), who));
  return refuse(who, parse_error_text(error));
}

}  // namespace

std::string parse_error_text(const CLI::ParseError& error) {
  std::string text = error.what();
  std::ranges::replace(text, '\n', ' ');
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return text;
  const std::string option = text.substr(0, text.find(':'));
  if (text.find("At Most 1 required") != std::string::npos) return option + " is given more than once";
  if (text.find("required") != std::string::npos && text.ends_with("missing")) return option + " needs a value";
  return text;
}

std::string unknown_option_text(const CLI::App& command, const std::string& word) {
  const std::string plain = word.substr(0, word.find('='));
  // Of `-n4` the option is `-n`.
  const std::string_view name = plain.starts_with("--") ? plain : std::string_view(plain).substr(0, 2);
  if (const std::string_view text = foreign_option_text(name); !text.empty())
    return fmt::format("unknown option '{}': {}", name, text);
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& known_name : option->get_lnames()) known.push_back("--" + known_name);
  }
  return with_guess(fmt::format("unknown option '{}'", plain), plain, known);
}

CommandLine split_command_line(int argc, const char* const* argv) {
  CommandLine line;
  line.arguments.assign(argv + std::min(argc, 1), argv + argc);
  if (line.arguments.empty() || (line.arguments[0] != "run" && line.arguments[0] != "submit")) return line;
  const auto mark = std::ranges::find(line.arguments, "--");
  if (mark == line.arguments.end()) return line;
  line.tail.words.emplace(mark + 1, line.arguments.end());
  line.arguments.erase(mark, line.arguments.end());
  return line;
}

int parse_and_run(CLI::App& app, std::vector<std::string> arguments, const int& exit_status) {
  // `weft help` is --help, and `weft help COMMAND` is `weft COMMAND --help`.
  if (!arguments.empty() && arguments[0] == "help" && arguments.size() <= 2) {
    const auto is_it = [&](const CLI::App* command) { return command->get_name() == arguments[1]; };
    if (arguments.size() == 2 && std::ranges::none_of(app.get_subcommands({}), is_it))
      return refuse("help", unknown_command_text(app, arguments[1]));
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  std::ranges::reverse(arguments);  // as CLI11 takes them
  try {
    app.parse(std::move(arguments));
    return exit_status;
  } catch (const CLI::Success& wish) {
    return app.exit(wish);  // help or version
  } catch (const CLI::ParseError& error) {
    return refuse_parse(app, error);
  }
}

Result<unsigned> parse_threads(std::string_view option, const std::optional<std::string>& written) {
  if (!written) return std::max(1U, std::thread::hardware_concurrency());
  const auto threads = parse_integer(*written, 1, 1024);
  if (!threads) return fail(ErrorCode::kInvalidInput, fmt::format("{}: {}", option, threads.error().message));
  return static_cast<unsigned>(*threads);
}

}  // namespace weft::cli
