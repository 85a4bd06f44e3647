#include "cli/help_text.h"

#include "cli/table.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

namespace weft::cli {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kTextColumn = 28;  ///< of what explains an option

/// Adds the words of `text` to `out`, whose last line is `used` columns long; further lines begin at `indent`.
void add_wrapped(std::string& out, size_t used, std::string_view text, size_t indent) {
  bool is_first = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const size_t width = display_width(word);
    if (!is_first && used + 1 + width > kWidth) {
      out += '\n';
      out.append(indent, ' ');
      used = indent;
    } else if (!is_first) {
      out += ' ';
      ++used;
    }
    out += word;
    used += width;
    is_first = false;
  }
  out += '\n';
}

/// Lines as they are where they begin with a blank, else wrapped.
std::string wrapped_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with(' '))
      out += fmt::format("{}\n", line);
    else
      add_wrapped(out, 0, line, 0);
  }
  return out;
}

/// "  heading           text": the text wrapped in a column of its own.
std::string entry(std::string_view heading, std::string_view text) {
  std::string out = fmt::format("  {}", heading);
  const size_t width = 2 + display_width(heading);
  if (width + 2 > kTextColumn) {
    out += '\n';
    out.append(kTextColumn, ' ');
  } else {
    out.append(kTextColumn - width, ' ');
  }
  add_wrapped(out, kTextColumn, text, kTextColumn);
  return out;
}

/// "FILE", or "FILE..." where several may stand.
std::string value_text(const CLI::Option& option) {
  if (option.get_type_size() == 0) return {};
  const bool is_list = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  return option.get_type_name() + (is_list ? "..." : "");
}

/// "-G, --gpus N"; what has no short name is set in.
std::string heading_of(const CLI::Option& option) {
  std::string out;
  for (const std::string& name : option.get_snames()) out += fmt::format("{}-{}", out.empty() ? "" : ", ", name);
  for (const std::string& name : option.get_lnames()) out += fmt::format("{}--{}", out.empty() ? "    " : ", ", name);
  const std::string value = value_text(option);
  return value.empty() ? out : fmt::format("{} {}", out, value);
}

class HelpText final : public CLI::Formatter {
 public:
  explicit HelpText(std::vector<std::string> usage = {}) : usage_(std::move(usage)) {
    label("Positionals", "Arguments");
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string out;
    for (const std::string& line : usage_)
      out += fmt::format("{} {} {}\n", out.empty() ? "Usage:" : "      ", name, line);
    if (!out.empty()) return out;
    out = fmt::format("Usage: {}", name);
    const auto options = app->get_options([](const CLI::Option* option) { return option->nonpositional(); });
    for (const CLI::Option* option : options) {
      if (option->get_required()) out += fmt::format(" --{} {}", option->get_lnames().at(0), value_text(*option));
    }
    out += " [OPTIONS]";
    for (const CLI::Option* option : app->get_options([](const CLI::Option* o) { return o->get_positional(); }))
      out += option->get_required() ? " " + value_text(*option) : fmt::format(" [{}]", value_text(*option));
    return out + (app->get_subcommands({}).empty() ? "\n" : " COMMAND\n");
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(is_positional ? value_text(*option) : heading_of(*option), option->get_description());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }
  std::string make_description(const CLI::App* app) const override { return wrapped_lines(app->get_description()); }
  std::string make_footer(const CLI::App* app) const override { return wrapped_lines(app->get_footer()); }

 private:
  std::vector<std::string> usage_;
};

}  // namespace

void use_help_text(CLI::App& app) {
  app.formatter(std::make_shared<HelpText>());
  app.set_help_flag("-h,--help", "show this help");
}

void set_usage(CLI::App& command, std::vector<std::string> lines) {
  command.formatter(std::make_shared<HelpText>(std::move(lines)));
}

void set_place(CLI::App& command, const std::string& group, const std::string& example) {
  command.group(group);
  command.footer(fmt::format("Example:\n  {}", example));
}

}  // namespace weft::cli
