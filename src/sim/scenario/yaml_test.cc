#include "sim/scenario/yaml.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::scenario {
namespace {

std::string first_problem(std::string_view text) {
  for (const YamlDocument& document : read_yaml(text)) {
    if (document.problem) return document.problem->message;
  }
  return {};
}

TEST(Yaml, KeepsWordsAsTheyAreWritten) {
  const auto documents = read_yaml("{a: no, b: 'no', c: ~, d: 0x10}");
  ASSERT_EQ(documents.size(), 1U);
  const YamlNode& root = *documents[0].root;
  ASSERT_EQ(root.items.size(), 8U);
  EXPECT_EQ(root.items[1]->text, "no");
  EXPECT_FALSE(root.items[1]->is_quoted);
  EXPECT_TRUE(root.items[3]->is_quoted);
  EXPECT_EQ(root.items[5]->kind, YamlNode::Kind::kNull);
  EXPECT_EQ(root.items[7]->text, "0x10");
}

TEST(Yaml, CountsLinesAcrossDocuments) {
  const auto documents = read_yaml("# a comment\n\na: 1\n---\n\nb: 2\n--- {c: 3}\n");
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].root->at, (Place{3, 1}));
  EXPECT_EQ(documents[1].root->at, (Place{6, 1}));
  EXPECT_EQ(documents[2].root->at, (Place{7, 5}));
}

TEST(Yaml, ABrokenDocumentHidesNoOther) {
  const auto documents = read_yaml("a: [\n---\nb: 1\n---\nc: }\n---\nd: 1\n");
  ASSERT_EQ(documents.size(), 4U);
  EXPECT_TRUE(documents[0].problem);
  EXPECT_FALSE(documents[1].problem);
  EXPECT_TRUE(documents[2].problem);
  ASSERT_FALSE(documents[3].problem);
  EXPECT_EQ(documents[3].root->items[0]->text, "d");
  EXPECT_EQ(documents[2].problem->at.line, 5U);
}

TEST(Yaml, FindsAKeyThatIsWrittenTwiceHoweverItIsWritten) {
  EXPECT_EQ(first_problem("{a: 1, 'a': 2}"), "'a' is written twice in one map; it stands already in line 1");
  EXPECT_EQ(first_problem("a:\n  b: 1\n  c: 2\n  b: 3\n"),
            "'b' is written twice in one map; it stands already in line 2");
  EXPECT_NE(first_problem("? [a, b]\n: 1\n? [a, b]\n: 2\n"), "");
  EXPECT_EQ(first_problem("{a: {x: 1}, b: {x: 1}}"), "");
}

TEST(Yaml, AnAliasIsWhatItRepeats) {
  const auto documents = read_yaml("{a: &x [1, 2], b: *x}");
  ASSERT_EQ(documents.size(), 1U);
  ASSERT_FALSE(documents[0].problem);
  EXPECT_EQ(documents[0].root->items[1], documents[0].root->items[3]);
  EXPECT_EQ(documents[0].root->weight, 1U + 2U + 3U + 3U);
}

TEST(Yaml, ABombOfAliasesIsStoppedBeforeItGoesOff) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 100; ++i) {
    const std::string before = std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + before + ", *a" + before + "]\n";
  }
  EXPECT_EQ(first_problem(text), "the document has more than 1,000,000 values, aliases written out");
}

TEST(Yaml, DepthIsLimited) {
  EXPECT_EQ(first_problem(std::string(60, '[') + std::string(60, ']')), "");
  EXPECT_EQ(first_problem(std::string(70, '[') + std::string(70, ']')), "lists and maps are more than 64 deep here");
  EXPECT_NE(first_problem(std::string(100'000, '[')), "");
  std::string keys;
  for (int i = 0; i < 5000; ++i) keys += "? ";
  EXPECT_NE(first_problem(keys), "");
}

TEST(Yaml, WhatIsNoTextIsOneProblem) {
  EXPECT_EQ(first_problem("a: 1\nb: \xff\n"), "the byte 0xff is not valid UTF-8 here; a UTF-8 text is expected");
  EXPECT_EQ(read_yaml("a: 1\nb: \xff\n")[0].problem->at, (Place{2, 4}));
  EXPECT_EQ(first_problem(std::string_view("a: \0", 4)), "the control character 0x00 has no place in a text file");
  EXPECT_EQ(first_problem("a: \x1b[31m"), "the control character 0x1b has no place in a text file");
  EXPECT_NE(first_problem(std::string(kYamlBytesMax + 1, '#')).find("at most 16,777,216 are read"), std::string::npos);
}

TEST(Yaml, WhatNoDocumentBeginsWithIsAProblemAndNotEndless) {
  for (const std::string_view text : {", a", "] a", "} a", "a: 1\n...\n, b", ", ", "- a\n, b"})
    EXPECT_NE(first_problem(text), "") << text;
}

TEST(Yaml, AByteOrderMarkAndCarriageReturnsDoNoHarm) {
  const auto documents = read_yaml(
      "\xef\xbb\xbf"
      "a: 1\r\n---\r\nb: 2\r\n");
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0].root->items[1]->text, "1");
  EXPECT_EQ(documents[1].root->items[1]->text, "2");
}

TEST(Yaml, TextWithoutDocumentsHasNone) {
  EXPECT_TRUE(read_yaml("").empty());
  EXPECT_TRUE(read_yaml("\n\n# nothing here\n").empty());
}

TEST(Yaml, LongValuesAreCutInMessagesBetweenCharacters) {
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "ä";
  const auto documents = read_yaml(umlauts);
  EXPECT_EQ(yaml_text(*documents[0].root), umlauts.substr(0, 60) + "…");
}

TEST(Yaml, ManyDocumentsAndLargeOnesAreRefusedBeforeTheyFillTheMemory) {
  std::string many;
  for (size_t i = 0; i <= kYamlDocumentsMax; ++i) many += "--- 1\n";
  auto documents = read_yaml(many + many);
  ASSERT_EQ(documents.size(), kYamlDocumentsMax + 1);
  EXPECT_EQ(documents.back().problem->message, "the file has more than 10,000 documents");
  EXPECT_EQ(documents.back().problem->at.line, kYamlDocumentsMax + 1);
  std::string ended;
  for (size_t i = 0; i <= kYamlDocumentsMax; ++i) ended += "1\n...\n";
  EXPECT_EQ(first_problem(ended), "the file has more than 10,000 documents");
  documents = read_yaml("a: 1\n---\n[" + std::string(kYamlDocumentBytesMax, ',') + "\n---\nb: 1\n");
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[1].problem->message, "the document has 4,194,310 bytes; at most 4,194,304 are read");
  EXPECT_FALSE(documents[2].problem) << "the others are read all the same";
}

TEST(Yaml, ATabThatIndentsIsNamed) {
  EXPECT_NE(first_problem("a:\n  b:\n\t- c\n").find("; YAML is indented by blanks, and here is a tab"),
            std::string::npos)
      << first_problem("a:\n  b:\n\t- c\n");
  EXPECT_EQ(first_problem("a: [\n").find("tab"), std::string::npos);
}

TEST(Yaml, TextInMessagesCannotLeaveItsLineOrColourTheTerminal) {
  const auto documents = read_yaml("a: \"x\\ny\\e[31m\"");
  ASSERT_EQ(documents.size(), 1U);
  EXPECT_EQ(yaml_text(*documents[0].root->items[1]), "x y\\x1b[31m");
}

}  // namespace
}  // namespace weft::scenario
