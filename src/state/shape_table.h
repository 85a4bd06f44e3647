#pragma once

#include "base/ids.h"
#include "model/shape.h"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace weft {

/// Interned shapes: equal shapes have one id. Ids are dense, in order of first appearance.
class ShapeTable {
 public:
  /// O(1) expected; compares with == only on equal keys.
  ShapeId intern(Shape shape);
  const Shape& operator[](ShapeId id) const { return shapes_[index(id)]; }
  size_t size() const { return shapes_.size(); }

 private:
  std::deque<Shape> shapes_;
  std::unordered_map<uint64_t, std::vector<ShapeId>> by_key_;  // looked up, never iterated
};

}  // namespace weft
