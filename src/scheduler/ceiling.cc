#include "scheduler/ceiling.h"

#include "base/check.h"
#include "state/transaction.h"

namespace weft {

void fill_counts(const Shape& shape, int32_t role, std::vector<int32_t>& counts) {
  counts.assign(shape.roles.size(), 0);
  if (role != kWholeGang) {
    counts[static_cast<size_t>(role)] = 1;
    return;
  }
  for (size_t r = 0; r < counts.size(); ++r) counts[r] = role_minimum(shape, r);
}

Result<Shape> Ceiling::resolve(const JobSpec& spec) {
  JobSpec alone = spec;
  alone.after.clear();  // no job is known here
  Result<Shape> shape = state_.resolve(alone);
  WEFT_CHECK(shape.has_value(), "what the real state can resolve, the ceiling can: both were told the same structure");
  return shape;
}

void Ceiling::learn(ShapeId shape, const JobSpec& spec) {
  if (index(shape) < own_shapes_.size() && is_set(own_shapes_[index(shape)])) return;
  Result<Shape> own = resolve(spec);
  if (index(shape) >= own_shapes_.size()) own_shapes_.resize(index(shape) + 1, kNone<ShapeId>);
  own_shapes_[index(shape)] = state_.intern(std::move(*own));
}

Verdict Ceiling::place(ShapeId own, int32_t role) {
  fill_counts(state_.shapes()[own], role, counts_);
  Transaction txn(state_);  // rolled back when it goes out of scope
  return placer_.place_gang(txn, {.shape_id = own, .counts = counts_}, scratch_);
}

bool Ceiling::is_never(Line& line) {
  if (is_set(line.owner)) return false;
  if (line.is_judged != 0 && (line.is_never == 0 || line.judged_version == state_.structure_version()))
    return line.is_never != 0;
  const Verdict verdict = place(own_shapes_[index(line.shape)], line.role);
  line.is_judged = 1;
  line.is_never = !verdict.is_yes() && verdict.reason != Reason::kBudget ? 1 : 0;
  line.judged_version = state_.structure_version();
  return line.is_never != 0;
}

Verdict Ceiling::explain(const Line& line) {
  Verdict verdict = place(own_shapes_[index(line.shape)], line.role);
  verdict.is_never = !verdict.is_yes();
  return verdict;
}

Verdict Ceiling::judge(const JobSpec& spec) {
  Result<Shape> own = resolve(spec);
  const ShapeId id = state_.intern(std::move(*own));
  Verdict verdict;
  const Shape& shape = state_.shapes()[id];
  if (shape.gang == GangRule::kNone) {
    for (size_t role = 0; role < shape.roles.size() && verdict.is_yes(); ++role)
      verdict = place(id, static_cast<int32_t>(role));
  } else {
    verdict = place(id, kWholeGang);
  }
  verdict.is_never = !verdict.is_yes() && verdict.reason != Reason::kBudget;
  return verdict;
}

}  // namespace weft
