#include "engine/local/supervisor.h"

#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

namespace weft::local {
namespace {

/// LocalEngine calls this very program as its supervisor. The word is looked for before gtest's main() sees the
/// arguments.
const bool kIsTestRun = [] {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string line(std::istreambuf_iterator<char>(file), {});
  const size_t second = line.find('\0') + 1;
  if (line.compare(second, line.find('\0', second) - second, kSuperviseArgument) == 0) ::_exit(supervise());
  return true;
}();

}  // namespace
}  // namespace weft::local
