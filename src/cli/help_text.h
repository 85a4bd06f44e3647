#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace weft::cli {

/// Gives the program and all commands that are added afterwards help of one look: no line longer than 80 columns, as
/// far as there are blanks to break at.
void use_help_text(CLI::App& app);

/// Usage lines of a command in place of those made of its options: what stands behind "weft run", a line each.
void set_usage(CLI::App& command, std::vector<std::string> lines);

/// The group of a command in the list of all, and an example of its use, which ends its help.
void set_place(CLI::App& command, const std::string& group, const std::string& example);

}  // namespace weft::cli
