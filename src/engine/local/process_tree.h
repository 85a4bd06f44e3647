#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace weft::local {

/// A process as /proc names it. The id alone may be given to another process later; id and start time together are not.
struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';          ///< 'Z': ended, waits for its parent
  uint64_t start_ticks = 0;  ///< clock ticks since the machine started
};

/// Reads the text of /proc/PID/stat; empty when it is not of that form.
std::optional<Process> parse_process_stat(std::string_view text);

/// Every process below `root` but not `root` itself, zombies included, parents before children.
/// Cost: reads one small file per process of the machine.
std::vector<Process> descendants_of(pid_t root);
/// The same, but nothing where the list may lack some: a caller that concludes from an empty list that nothing is left
/// must know that it was allowed to look (no file descriptors left, say).
std::optional<std::vector<Process>> all_descendants_of(pid_t root);
/// The process with this id, while there is one.
std::optional<Process> find_process(pid_t pid);

enum class Signalled : uint8_t { kYes, kGone, kRefused };

/// Sends `signal` to exactly this process: it cannot hit another one that got its id meanwhile.
/// kRefused: the kernel allows it not (a program that changed its user).
Signalled signal_process(const Process& process, int signal);

enum class Strays : uint8_t { kNone, kSome };

/// Kills everything below this process but the children named by `keep` and what is below those, and waits for what has
/// ended. kNone: nothing was there any more. Never blocks.
Strays kill_strays(const std::set<pid_t>& keep);

/// Kills everything below `root`, but not `root` itself. kNone: nothing was there any more but zombies.
Strays kill_below(pid_t root);

}  // namespace weft::local
