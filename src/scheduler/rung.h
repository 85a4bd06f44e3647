#pragma once

#include <string_view>

namespace weft {

/// One step of the ladder, in order of rising disturbance. A rung works on transactions, ends each in commit or
/// rollback, and has a budget in steps; when that is used up it says so in Core::is_unfinished and goes on in the next
/// pass.
class Rung {
 public:
  virtual ~Rung() = default;
  virtual std::string_view name() const = 0;
  virtual void run() = 0;
};

}  // namespace weft
