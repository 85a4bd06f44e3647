#include "sim/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace weft::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Rows = std::vector<std::vector<std::string>>;

/// All rows, or the error in place of the last.
Rows rows_of(std::string_view content) {
  CsvReader reader(content, "f.csv");
  std::vector<CsvField> fields;
  Rows rows;
  for (;;) {
    const auto step = reader.next(fields);
    if (!step) {
      rows.push_back({step.error().message});
      return rows;
    }
    if (*step == CsvReader::Step::kEnd) return rows;
    rows.emplace_back();
    for (const CsvField& field : fields) rows.back().emplace_back(field.text);
  }
}

TEST(CsvReader, SplitsRowsAtLineFeedsWithOrWithoutCarriageReturns) {
  EXPECT_EQ(rows_of("a,b\r\n1,2\n3,4"), (Rows{{"a", "b"}, {"1", "2"}, {"3", "4"}}));
}

TEST(CsvReader, KeepsEmptyFieldsAlsoAtTheEndOfALineAndOfTheFile) {
  EXPECT_EQ(rows_of(",a,,\nb,"), (Rows{{"", "a", "", ""}, {"b", ""}}));
  EXPECT_EQ(rows_of("a,\r\nb"), (Rows{{"a", ""}, {"b"}}));
}

TEST(CsvReader, QuotedFieldsMayHoldCommasLineEndsAndDoubledQuotes) {
  EXPECT_EQ(rows_of("\"a,b\",\"c\nd\",\"say \"\"so\"\"\"\nx,y,\"\"\n"),
            (Rows{{"a,b", "c\nd", "say \"so\""}, {"x", "y", ""}}));
}

TEST(CsvReader, PassesOverAByteOrderMarkAndBlankLines) {
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "a\n\n\r\nb\n\n"),
            (Rows{{"a"}, {"b"}}));
}

TEST(CsvReader, SaysWhereAQuoteIsWrong) {
  EXPECT_THAT(rows_of("a,b\nc,d\"e").back(), ElementsAre(HasSubstr("f.csv:2:4: a quote inside")));
  EXPECT_THAT(rows_of("a\n\"b\"c").back(), ElementsAre(HasSubstr("f.csv:2:4: expected a comma")));
  EXPECT_THAT(rows_of("a\nb,\"c\n\nd").back(),
              ElementsAre(HasSubstr("f.csv:2:3: the quoted field that begins here does not end")));
  EXPECT_THAT(rows_of("a\rb").back(), ElementsAre(HasSubstr("f.csv:1:2: a carriage return")));
}

TEST(CsvReader, CountsLinesInsideQuotedFields) {
  EXPECT_THAT(rows_of("\"a\n\n\",b\nc\"").back(), ElementsAre(HasSubstr("f.csv:4:2:")));
}

std::string header_error(std::string_view header) {
  const auto table = CsvTable::open(header, "f.csv", {{"name"}, {"size"}, {"note", CsvTable::Presence::kOptional}});
  return table ? "" : table.error().message;
}

TEST(CsvTable, FindsColumnsInAnyOrderAndLeavesOptionalOnesOut) {
  auto table =
      CsvTable::open("size,name\n1,a\n", "f.csv", {{"name"}, {"size"}, {"note", CsvTable::Presence::kOptional}});
  ASSERT_TRUE(table);
  std::vector<CsvField> fields;
  ASSERT_TRUE(table->next(fields));
  ASSERT_EQ(fields.size(), 3U);
  EXPECT_EQ(fields[0].text, "a");
  EXPECT_EQ(fields[1].text, "1");
  EXPECT_EQ(fields[2].text, "");
  EXPECT_FALSE(table->has_column(2));
}

TEST(CsvTable, RefusesMissingUnknownAndRepeatedColumnsByNameAndPlace) {
  EXPECT_EQ(header_error("name,note"), "f.csv:1:1: the column 'size' is missing");
  EXPECT_EQ(header_error("name,sise,note"), "f.csv:1:6: unknown column 'sise'; did you mean 'size'?");
  EXPECT_THAT(header_error("name,colour,size"),
              HasSubstr("f.csv:1:6: unknown column 'colour'; known are name, size, note"));
  EXPECT_EQ(header_error("name,size,name"), "f.csv:1:11: the column 'name' stands twice");
  EXPECT_THAT(header_error("\n\n"), HasSubstr("no rows"));
}

TEST(CsvTable, RefusesRowsThatAreTooShortOrTooLong) {
  const auto error_of = [](std::string_view content) {
    auto table = CsvTable::open(content, "f.csv", {{"a"}, {"b"}});
    std::vector<CsvField> fields;
    return table->next(fields).error().message;
  };
  EXPECT_EQ(error_of("a,b\n1\n"), "f.csv:2:1: 1 fields; expected 2");
  EXPECT_EQ(error_of("a,b\n1,2,3\n"), "f.csv:2:5: 3 fields; expected 2");
}

TEST(CsvNumbers, OnlyWholeNumbersInTheRangeAreRead) {
  const CsvReader reader("", "f.csv");
  const auto read = [&](std::string_view text) {
    const auto value = read_integer(reader, {.text = text, .line = 3, .column = 7}, "size", {.low = 0, .high = 2000});
    return value ? std::to_string(*value) : value.error().message;
  };
  EXPECT_EQ(read("0"), "0");
  EXPECT_EQ(read("2000"), "2000");
  EXPECT_EQ(read("2001"), "f.csv:3:7: size: expected a number from 0 to 2,000, found '2001'");
  EXPECT_EQ(read("99999999999999999999"),
            "f.csv:3:7: size: expected a number from 0 to 2,000, found '99999999999999999999'");
  EXPECT_THAT(read("-1"), HasSubstr("from 0 to 2,000"));
  for (const std::string_view bad : {"", " 1", "1 ", "+1", "1.0", "NaN", "inf", "0x10", "1e3", "one"}) {
    EXPECT_THAT(read(bad), HasSubstr("f.csv:3:7: size: expected a whole number")) << bad;
  }
}

TEST(CsvText, QuotesOnlyWhereItMust) {
  EXPECT_EQ(csv_text("plain"), "plain");
  EXPECT_EQ(csv_text("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_text("say \"so\""), "\"say \"\"so\"\"\"");
}

TEST(CsvReader, ARowOfFarTooManyFieldsIsAnErrorAndNotAFullMemory) {
  EXPECT_EQ(rows_of(std::string(4095, ',')).back().size(), 4096U);
  EXPECT_THAT(rows_of("a\n" + std::string(1'000'000, ',')).back(),
              ElementsAre("f.csv:2:4097: more than 4,096 fields in one line"));
}

TEST(CsvReader, ErrorsAreOneLineWhateverTheFileIsCalled) {
  CsvReader reader("a\"", "x\ny.csv");
  std::vector<CsvField> fields;
  EXPECT_EQ(reader.next(fields).error().message,
            "x\\x0ay.csv:1:2: a quote inside a field that does not begin with one");
}

/// The same of a stream; after an error reading goes on.
Rows streamed_rows_of(std::string_view content, size_t piece, CsvDialect dialect = {}) {
  CsvReader reader(TextWindow(bytes_of(content, "f.csv", piece)), dialect);
  std::vector<CsvField> fields;
  Rows rows;
  for (;;) {
    const auto step = reader.next(fields);
    if (step && *step == CsvReader::Step::kEnd) return rows;
    rows.emplace_back();
    if (!step) rows.back().push_back(step.error().message);
    if (!step && !reader.goes_on()) return rows;
    if (!step) continue;
    for (const CsvField& field : fields) rows.back().emplace_back(field.text);
  }
}

TEST(CsvReader, ReadsAStreamAsItReadsTheWholeText) {
  for (const std::string_view text :
       {"a,b\r\n1,2\n3,4", ",a,,\nb,", "a,\r\nb", "\"a,b\",\"c\nd\",\"say \"\"so\"\"\"\nx,y,\"\"\n",
        "\"\n\n\r\n\",x\n\n\ny", "\xEF\xBB\xBF\"a\",b\n",
        "one,two,three,four,five,six,seven,eight,nine\n1,2,3,4,5,6,7,8,9\nlonger than eight\n"}) {
    for (size_t piece = 1; piece < 12; ++piece) EXPECT_EQ(streamed_rows_of(text, piece), rows_of(text)) << text;
  }
}

TEST(CsvReader, GoesOnBehindTheLineInWhichABadRowBegan) {
  for (const size_t piece : {size_t{1}, size_t{1000}}) {
    EXPECT_EQ(streamed_rows_of("a\n\"b\nc,d\ne\n", piece),
              (Rows{{"a"}, {"f.csv:2:1: the quoted field that begins here does not end"}, {"c", "d"}, {"e"}}));
    EXPECT_EQ(streamed_rows_of("a\"\nb\rc\n\"d\"e\nf\n", piece),
              (Rows{{"f.csv:1:2: a quote inside a field that does not begin with one"},
                    {"f.csv:2:2: a carriage return without a line feed"},
                    {"f.csv:3:4: expected a comma or the end of the line after a quoted field"},
                    {"f"}}));
    EXPECT_EQ(streamed_rows_of("a,\xFF\nb\n", piece).back(), (std::vector<std::string>{"b"}));
  }
}

TEST(CsvReader, AnOpenQuoteDoesNotSwallowAFileOfAnySize) {
  std::string text = "a\n\"open\n";
  for (int i = 0; i < 200'000; ++i) text += "b,c,d,e\n";
  const Rows rows = streamed_rows_of(text, 1 << 16);
  EXPECT_EQ(rows.size(), 200'002U);
  EXPECT_THAT(rows[1], ElementsAre("f.csv:2:1: the row that begins here does not end within 1,048,576 bytes"));
}

TEST(CsvReader, ADialectMayHaveOtherSeparatorsAndNoQuotes) {
  EXPECT_EQ(streamed_rows_of("a|\"b|c,d\n\"x\"|y\"\n", 3, {.separator = '|', .quotes = CsvDialect::Quotes::kNone}),
            (Rows{{"a", "\"b", "c,d"}, {"\"x\"", "y\""}}));
}

TEST(CsvTable, MayIgnoreColumnsThatNobodyAskedForAndHaveNoHeader) {
  const std::vector<CsvTable::Column> columns{{"name"}, {"size", CsvTable::Presence::kOptional}};
  auto table = CsvTable::open(CsvReader("x,name,,\n1,a,2,3\n", "f.csv"), columns, CsvTable::Unknown::kIgnored);
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_TRUE(table->next());
  EXPECT_EQ(table->text(0), "a");
  EXPECT_EQ(table->text(1), "");
  auto bare = CsvTable::without_header(CsvReader("1,a\n2\n", "f.csv"), 2);
  ASSERT_TRUE(bare.next());
  EXPECT_EQ(bare.text(1), "a");
  EXPECT_EQ(bare.next().error().message, "f.csv:2:1: 1 fields; expected 2");
}

}  // namespace
}  // namespace weft::sim
