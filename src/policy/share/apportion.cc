#include "policy/share/apportion.h"

#include "base/check.h"

#include <algorithm>

namespace weft {
namespace {

__extension__ using Wide = __int128;

/// Divides all of `total`, of which nobody's share fills the room.
void divide_by_weight(int64_t total, Wide weights, std::span<Claim> claims) {
  int64_t left = total;
  for (Claim& claim : claims) {
    claim.given = static_cast<int64_t>(Wide{total} * claim.weight / weights);
    left -= claim.given;
  }
  const auto lucky = claims.begin() + left;
  std::ranges::nth_element(claims, lucky, [&](const Claim& a, const Claim& b) {
    const Wide of_a = Wide{total} * a.weight % weights, of_b = Wide{total} * b.weight % weights;
    return of_a != of_b ? of_a > of_b : a.id < b.id;
  });
  for (Claim& claim : claims.first(static_cast<size_t>(left))) ++claim.given;
}

}  // namespace

void apportion(int64_t total, std::span<Claim> claims) {
  WEFT_CHECK(total >= 0 && total <= kQuantityMax && claims.size() <= kClaimsMax, "products must fit in 128 bits");
  Wide weights = 0;
  Wide rooms = 0;
  for (Claim& claim : claims) {
    WEFT_CHECK(claim.weight > 0 && claim.weight <= kClaimWeightMax && claim.room >= 0 && claim.room <= kQuantityMax,
               "products must fit in 128 bits, and who has no weight takes no part");
    weights += claim.weight;
    rooms += claim.room;
    claim.given = claim.room;
  }
  if (rooms <= total) return;  // else some are not full below
  std::ranges::sort(claims, [](const Claim& a, const Claim& b) {
    const Wide of_a = Wide{a.room} * b.weight, of_b = Wide{b.room} * a.weight;
    return of_a != of_b ? of_a < of_b : a.id < b.id;
  });
  // Whoever has the least room for its weight is full first. The first one that is not full has none full behind it.
  size_t full = 0;
  for (; Wide{claims[full].room} * weights <= Wide{total} * claims[full].weight; ++full) {
    total -= claims[full].room;
    weights -= claims[full].weight;
  }
  divide_by_weight(total, weights, claims.subspan(full));
}

}  // namespace weft
