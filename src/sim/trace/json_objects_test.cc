#include "sim/trace/json_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The objects, and errors as their messages.
std::vector<std::string> objects_of(std::string_view text, size_t piece) {
  JsonObjects objects(TextWindow(bytes_of(text, "f", piece)));
  std::vector<std::string> found;
  std::string_view object;
  for (;;) {
    const Result<bool> is_object = objects.next(object);
    if (!is_object) {
      found.push_back(is_object.error().message);
      if (!objects.goes_on()) return found;
    } else if (!*is_object) {
      return found;
    } else {
      found.emplace_back(object);
    }
  }
}

TEST(JsonObjects, AreTakenOneByOneFromAListOrWithoutOne) {
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{100}}) {
    EXPECT_THAT(objects_of("[{}, {\"a\": [1, {}]}\n,{\"}\\\"]\": \"{\"}]\n ", piece),
                ElementsAre("{}", "{\"a\": [1, {}]}", "{\"}\\\"]\": \"{\"}"));
    EXPECT_THAT(objects_of("\xEF\xBB\xBF{\"a\":1}\n{\"b\":2}", piece), ElementsAre("{\"a\":1}", "{\"b\":2}"));
    EXPECT_THAT(objects_of("[]", piece), ElementsAre());
    EXPECT_THAT(objects_of("  ", piece), ElementsAre());
  }
}

TEST(JsonObjects, SayWhereTheListIsBroken) {
  EXPECT_THAT(objects_of("[{},\n {\"a\":", 3),
              ElementsAre("{}", HasSubstr("f:2:2: the object that begins here does not end; the file is cut off")));
  EXPECT_THAT(objects_of("[{}", 3), ElementsAre("{}", HasSubstr("f:1:4: the list does not end; the file is cut off")));
  EXPECT_THAT(objects_of("[{},", 3), ElementsAre("{}", HasSubstr("f:1:5: the list does not end")));
  EXPECT_THAT(objects_of("[{},]", 3), ElementsAre("{}", HasSubstr("f:1:5: expected another object behind the comma")));
  EXPECT_THAT(objects_of("[{} {}]", 3), ElementsAre("{}", HasSubstr("f:1:5: expected a comma or the end of the list")));
  EXPECT_THAT(objects_of("[{}] {}", 3),
              ElementsAre("{}", HasSubstr("f:1:6: expected nothing behind the end of the list")));
  EXPECT_THAT(objects_of("[1]", 3), ElementsAre(HasSubstr("f:1:2: expected an object, found '1'")));
  EXPECT_THAT(objects_of("[[{}]]", 3), ElementsAre(HasSubstr("f:1:2: expected an object, found '['")));
}

TEST(JsonObjects, RefuseAnObjectThatIsTooLargeAndGoOnBehindIt) {
  const std::string large = "{\"a\": \"" + std::string(JsonObjects::kObjectBytesMax, 'x') + "\"}";
  EXPECT_THAT(objects_of("[" + large + ",{}]", 1 << 20),
              ElementsAre("f:1:2: the object has 1,048,585 bytes; expected at most 1,048,576", "{}"));
  EXPECT_THAT(objects_of("[{\"a\": \"" + std::string(3 << 20, 'x'), 1 << 16),
              ElementsAre(HasSubstr("f:1:2: the object that begins here does not end within 1,048,576 bytes")));
}

TEST(JsonObjects, SayWhereAnObjectIsNoText) {
  EXPECT_THAT(objects_of("[{\"a\":\n\"b\xFF\"},{}]", 5), ElementsAre(HasSubstr("f:2:3: the byte 0xff"), "{}"));
}

TEST(JsonObjects, FindThePlaceOfAKey) {
  const std::string_view object = R"({"a": {"b": 1}, "x\"b": "b", "b" : 2})";
  EXPECT_EQ(object.substr(place_of_key(object, "b")), "2}");
  EXPECT_EQ(object.substr(place_of_key(object, "a")), R"({"b": 1}, "x\"b": "b", "b" : 2})");
  EXPECT_EQ(place_of_key(object, "c"), 0U);
}

}  // namespace
}  // namespace weft::sim
