#include "state/shape_table.h"

#include <utility>

namespace weft {

ShapeId ShapeTable::intern(Shape shape) {
  std::vector<ShapeId>& same_key = by_key_[shape_key(shape)];
  for (const ShapeId id : same_key) {
    if (shapes_[index(id)] == shape) return id;
  }
  const ShapeId id = make_id<ShapeId>(shapes_.size());
  shapes_.push_back(std::move(shape));
  same_key.push_back(id);
  return id;
}

}  // namespace weft
