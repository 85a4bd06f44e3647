#pragma once

#include <cstddef>
#include <functional>

namespace weft::sim {

/// Calls `work(i)` for i = 0, 1, … below `count` on up to `threads` threads, this one among them, begun in that order.
/// Once one has returned false, none behind it is begun any more. `report(done, count)` follows each, one at a time.
/// Returns the first i whose work returned false; `count` when there is none. All that were begun have ended then.
size_t run_side_by_side(size_t count, size_t threads, const std::function<bool(size_t)>& work,
                        const std::function<void(size_t, size_t)>& report);

}  // namespace weft::sim
