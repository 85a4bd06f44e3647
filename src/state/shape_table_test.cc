#include "state/shape_table.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

Shape shape_of(int32_t count) {
  Shape shape;
  shape.queue = QueueId{0};
  shape.roles.push_back(RoleShape{.count = count, .min = count, .demand = {}, .scope = {}});
  shape.groups.push_back(GroupShape{.parent = -1, .roles = {0}, .groups = {}, .min = 1, .scope = {}});
  return shape;
}

TEST(ShapeTable, EqualShapesHaveOneId) {
  ShapeTable table;
  EXPECT_EQ(table.intern(shape_of(1)), ShapeId{0});
  EXPECT_EQ(table.intern(shape_of(2)), ShapeId{1});
  EXPECT_EQ(table.intern(shape_of(1)), ShapeId{0});
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table[ShapeId{1}].roles[0].count, 2);
}

TEST(ShapeTable, IdsAreDenseInOrderOfFirstAppearance) {
  ShapeTable table;
  for (int32_t count = 1; count <= 1000; ++count)
    EXPECT_EQ(index(table.intern(shape_of(count))), static_cast<size_t>(count - 1));
  for (int32_t count = 1000; count >= 1; --count)
    EXPECT_EQ(index(table.intern(shape_of(count))), static_cast<size_t>(count - 1));
}

TEST(ShapeTable, ShapesStayWhereTheyAreWhenOthersCome) {
  ShapeTable table;
  const Shape& first = table[table.intern(shape_of(1))];
  for (int32_t count = 2; count <= 1000; ++count) table.intern(shape_of(count));
  EXPECT_EQ(first, shape_of(1));
}

}  // namespace
}  // namespace weft
