#include "sim/trace/id_set.h"

#include <gtest/gtest.h>

#include <string>
#include <unordered_set>

namespace weft::sim {
namespace {

TEST(IdSet, FindsWhatStandsTwice) {
  IdSet ids;
  EXPECT_TRUE(ids.add("a"));
  EXPECT_TRUE(ids.add("b"));
  EXPECT_TRUE(ids.add(""));
  EXPECT_FALSE(ids.add("a"));
  EXPECT_FALSE(ids.add(""));
  EXPECT_TRUE(ids.add("a much longer name than eight bytes"));
  EXPECT_TRUE(ids.add("a much longer name than eight byteS"));
  EXPECT_FALSE(ids.add("a much longer name than eight bytes"));
}

TEST(IdSet, FindsNumbersAgainWhateverTheirOrder) {
  IdSet ids;
  for (int i = 5; i < 10; ++i) EXPECT_TRUE(ids.add(std::to_string(i)));
  EXPECT_FALSE(ids.add("7"));
  EXPECT_TRUE(ids.add("07"));  // another name
  EXPECT_TRUE(ids.add("3"));
  EXPECT_TRUE(ids.add("11"));
  EXPECT_TRUE(ids.add("10"));
  EXPECT_TRUE(ids.add("12"));
  EXPECT_FALSE(ids.add("10"));
  EXPECT_FALSE(ids.add("11"));
  EXPECT_FALSE(ids.add("5"));
  EXPECT_FALSE(ids.add("07"));
}

TEST(IdSet, FindsNumberedNamesAgain) {
  IdSet ids;
  for (int i = 9; i < 12; ++i) EXPECT_TRUE(ids.add("job-" + std::to_string(i)));
  EXPECT_FALSE(ids.add("job-10"));
  EXPECT_TRUE(ids.add("10"));
  EXPECT_TRUE(ids.add("job-013"));
  EXPECT_TRUE(ids.add("job-12"));
  EXPECT_FALSE(ids.add("job-12"));
  EXPECT_FALSE(ids.add("job-9"));
  EXPECT_TRUE(ids.add("job-"));
  EXPECT_FALSE(ids.add("job-"));
}

TEST(IdSet, AgreesWithAPlainSet) {
  IdSet ids;
  std::unordered_set<std::string> plain;
  uint32_t state = 1;
  for (int i = 0; i < 50'000; ++i) {
    state = state * 1'664'525 + 1'013'904'223;
    const std::string id = (i % 3 == 0 ? "job" : "") + std::to_string((state >> 16) % 20'000);
    ASSERT_EQ(ids.add(id), plain.insert(id).second) << id;
  }
}

}  // namespace
}  // namespace weft::sim
