#include "formats/csv.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace profline::csv {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Cells = std::vector<std::string>;

struct Outcome {
  std::vector<Cells> records;
  std::vector<std::uint64_t> lines;
  std::vector<std::string> skipped;
  std::string error;

  bool operator==(const Outcome&) const = default;
};

Outcome drain(Reader reader) {
  Outcome outcome;
  while (true) {
    const Result<const Record*> record = reader.next();
    if (!record) {
      outcome.error = record.error().to_string();
      break;
    }
    if (*record == nullptr) break;
    outcome.records.emplace_back((*record)->cells.begin(), (*record)->cells.end());
    outcome.lines.push_back((*record)->line);
  }
  outcome.skipped = reader.skipped().to_strings();
  return outcome;
}

Outcome read(std::string_view text, ReaderOptions options = {}) {
  return drain(Reader(text, std::move(options)));
}

/// Pieces of `size` bytes, each overwritten when the next is requested, as a file buffer is.
ChunkSource in_pieces(std::string_view text, std::size_t size) {
  return [rest = text, size, buffer = std::string()]() mutable -> Result<std::string_view> {
    std::fill(buffer.begin(), buffer.end(), '#');
    buffer = std::string(rest.substr(0, size));
    rest.remove_prefix(buffer.size());
    return std::string_view(buffer);
  };
}

TEST(CsvReader, ReadsRecordsAndTheirLines) {
  struct Case {
    std::string_view name, text;
    std::vector<Cells> records;
    std::vector<std::uint64_t> lines;
  };
  const std::vector<Case> cases = {
      {"nothing", "", {}, {}},
      {"plain", "a,b\n1,2\n", {{"a", "b"}, {"1", "2"}}, {1, 2}},
      {"no end of the last line", "a,b\n1,2", {{"a", "b"}, {"1", "2"}}, {1, 2}},
      {"CRLF", "a,b\r\n1,2\r\n", {{"a", "b"}, {"1", "2"}}, {1, 2}},
      {"torn CRLF", "a,b\r\n1,2\r", {{"a", "b"}, {"1", "2"}}, {1, 2}},
      {"torn CRLF after a quote", "\"a\"\r", {{"a"}}, {1}},
      {"lone CR is data", "a\rb,\r,c\n", {{"a\rb", "\r", "c"}}, {1}},
      {"empty cells", ",\n,,\na,\n", {{"", ""}, {"", "", ""}, {"a", ""}}, {1, 2, 3}},
      {"comma at the end of the input", "a,", {{"a", ""}}, {1}},
      {"empty lines are no records", "\n\r\na\n\n\nb\n\n", {{"a"}, {"b"}}, {3, 6}},
      {"one empty cell needs quotes", "\"\"\n", {{""}}, {1}},
      {"blanks are kept", " a , b \n \n", {{" a ", " b "}, {" "}}, {1, 2}},
      {"quotes", "\"a,b\",\"c\"\n", {{"a,b", "c"}}, {1}},
      {"doubled quotes", "\"a\"\"b\",\"\"\"\",\"\"\"x\"\"\"\n", {{"a\"b", "\"", "\"x\""}}, {1}},
      {"line breaks in quotes", "\"a\nb\r\nc\",d\ne\n", {{"a\nb\r\nc", "d"}, {"e"}}, {1, 4}},
      {"byte order mark", "\xEF\xBB\xBF\"a\",b\n", {{"a", "b"}}, {1}},
      {"byte order mark alone", "\xEF\xBB\xBF", {}, {}},
      {"control characters",
       std::string_view("a\0b,\x1B[0m\n", 9),
       {{std::string("a\0b", 3), "\x1B[0m"}},
       {1}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Outcome outcome = read(c.text);
    EXPECT_EQ(outcome.records, c.records);
    EXPECT_EQ(outcome.lines, c.lines);
    EXPECT_THAT(outcome.skipped, IsEmpty());
    EXPECT_EQ(outcome.error, "");
  }
}

TEST(CsvReader, LeavesOutAndTellsOfBadRecords) {
  struct Case {
    std::string_view name, text;
    std::vector<Cells> records;
    std::string skipped;
  };
  const std::vector<Case> cases = {
      {"quote inside",
       "a\nx,b\"c\nd\n",
       {{"a"}, {"d"}},
       "line 2, column 4: quote inside an unquoted cell"},
      {"columns are characters",
       "\xC3\xA4\"\nd\n",
       {{"d"}},
       "line 1, column 2: quote inside an unquoted cell"},
      {"text after a quote",
       "a\n\"b\" ,c\nd\n",
       {{"a"}, {"d"}},
       "line 2, column 4: text after a closing quote"},
      {"lone CR after a quote",
       "\"b\"\rc\nd\n",
       {{"d"}},
       "line 1, column 4: text after a closing quote"},
      {"position inside a cell of several lines",
       "\"a\nb\"x\nd\n",
       {{"d"}},
       "line 2, column 3: text after a closing quote"},
      {"a later quoted cell is still one",
       "\"a\"x,\"b\nc\"\nd\n",
       {{"d"}},
       "line 1, column 4: text after a closing quote"},
      {"nothing is made up after an open quote",
       "a\nb,\"c\nd\ne\n",
       {{"a"}},
       "line 2, column 3: quote is never closed; nothing from here to the end was read"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Outcome outcome = read(c.text);
    EXPECT_EQ(outcome.records, c.records);
    EXPECT_THAT(outcome.skipped, ElementsAre(c.skipped));
    EXPECT_EQ(outcome.error, "");

    const Outcome strict = read(c.text, {.bad_records = BadRecords::Fail});
    EXPECT_EQ(strict.error, c.skipped);
  }
}

TEST(CsvReader, NamesTheFileInErrors) {
  Reader reader("a\nb\"\n", {.bad_records = BadRecords::Fail, .source = "kernels.csv"});
  ASSERT_TRUE(reader.next());
  for (int again = 0; again < 2; ++again) {
    const Result<const Record*> record = reader.next();
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().kind(), ErrorKind::Parse);
    EXPECT_EQ(record.error().to_string(), "kernels.csv:2:2: quote inside an unquoted cell");
  }
}

TEST(CsvReader, RefusesUtf16) {
  EXPECT_EQ(read(std::string_view("\xFF\xFE"
                                  "a\0",
                                  4))
                .error,
            "line 1, column 1: text is UTF-16 where UTF-8 is expected");
}

TEST(CsvReader, LimitsTheLengthOfARecord) {
  const std::string longest = std::string(15, 'x') + "\n";
  EXPECT_EQ(read("a\n" + longest, {.max_record_bytes = 16}).error, "");
  const std::string text = "a\n\"" + std::string(20, 'x') + "\nb\n";
  const std::string expected = "line 2: record is longer than 16 bytes (is a quote never closed?)";
  EXPECT_EQ(read(text, {.max_record_bytes = 16}).error, expected);
  for (const std::size_t size : {1U, 7U, 100U}) {
    EXPECT_EQ(drain(Reader(in_pieces(text, size), {.max_record_bytes = 16})).error, expected);
  }
  EXPECT_EQ(read("a,b\na,b,c\n", {.max_record_cells = 2}).error,
            "line 2: record has more than 2 cells");
}

TEST(CsvReader, StopsAskingAnEndlessSourceAtTheLimit) {
  std::size_t handed_out = 0;
  const std::string piece(1000, 'x');
  Reader reader(
      [&]() -> Result<std::string_view> {
        handed_out += piece.size();
        return std::string_view(piece);
      },
      {.max_record_bytes = 10'000});
  EXPECT_FALSE(reader.next());
  EXPECT_LE(handed_out, 12'000U);
}

TEST(CsvReader, PassesOnTheErrorOfItsSource) {
  Reader reader([]() -> Result<std::string_view> { return Error(ErrorKind::Io, "disk is gone"); });
  const Result<const Record*> record = reader.next();
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().to_string(), "disk is gone");
  EXPECT_EQ(record.error().kind(), ErrorKind::Io);
}

TEST(CsvReader, GivesTheSameInPiecesOfAnySize) {
  const std::string text =
      "\xEF\xBB\xBFid,\"na\"\"me\"\r\n1,\"a\nb\"\r\n\r\nbad\"row,2\n2,\"c\"\"\"\"d\"\n\"x\"y\n"
      "\r\r\n,,\n\"open\n";
  const Outcome whole = read(text);
  EXPECT_EQ(whole.records.size(), 5U);
  EXPECT_EQ(whole.skipped.size(), 3U);
  for (std::size_t size = 1; size <= text.size(); ++size) {
    SCOPED_TRACE(size);
    EXPECT_EQ(drain(Reader(in_pieces(text, size))), whole);
  }
}

TEST(CsvReader, PointsIntoTheInputWhereItCan) {
  const std::string text = "plain,\"quoted\",\"dou\"\"bled\"\n";
  Reader reader(text);
  const Result<const Record*> record = reader.next();
  ASSERT_TRUE(record);
  const auto inside = [&](std::string_view cell) {
    return cell.data() >= text.data() && cell.data() < text.data() + text.size();
  };
  ASSERT_EQ((*record)->cells.size(), 3U);
  EXPECT_TRUE(inside((*record)->cells[0]));
  EXPECT_TRUE(inside((*record)->cells[1]));
  EXPECT_FALSE(inside((*record)->cells[2]));
}

TEST(CsvReader, KeepsItsPlaceWhenMoved) {
  Reader first(in_pieces("a,b\n\"c\"\"c\",d\ne,f\n", 5));
  ASSERT_TRUE(first.next());
  const Result<const Record*> record = first.next();
  ASSERT_TRUE(record);
  Reader second = std::move(first);
  EXPECT_EQ(drain(std::move(second)).records, std::vector<Cells>({{"e", "f"}}));
}

TEST(CsvReader, GivesLinesAsTheyStand) {
  for (const std::size_t size : {1U, 3U, 100U}) {
    Reader reader(in_pieces("==PROF== \"x\r\n\nlast", size));
    std::vector<std::string> lines;
    while (true) {
      const auto line = reader.next_line();
      ASSERT_TRUE(line);
      if (!line->has_value()) break;
      lines.emplace_back(**line);
    }
    EXPECT_THAT(lines, ElementsAre("==PROF== \"x", "", "last"));
  }
}

TEST(CsvSkipList, CountsAllAndKeepsTheFirst) {
  SkipList list;
  for (std::uint64_t i = 1; i <= SkipList::kKept + 23; ++i) list.add({i, 0, "not a kernel row"});
  EXPECT_EQ(list.count(), SkipList::kKept + 23);
  const std::vector<std::string> lines = list.to_strings();
  ASSERT_EQ(lines.size(), SkipList::kKept + 1);
  EXPECT_EQ(lines.front(), "line 1: not a kernel row");
  EXPECT_EQ(lines.back(), "and 23 more");
}

TEST(CsvWriter, QuotesOnlyWhatNeedsIt) {
  std::string out;
  append_record(out, {"plain", " blank ", "it's", "=1+1"});
  append_record(out, {"a,b", "a\"b", "a\nb", "a\rb", ""});
  append_record(out, {""});
  append_record(out, {"\xEF\xBB\xBFmark"});
  EXPECT_EQ(out,
            "plain, blank ,it's,=1+1\n"
            "\"a,b\",\"a\"\"b\",\"a\nb\",\"a\rb\",\n"
            "\"\"\n"
            "\"\xEF\xBB\xBFmark\"\n");
}

TEST(CsvWriter, AnExportHasNoFormulasAndItsNumbersStayNumbers) {
  std::string out;
  append_export(out, {"=cmd|' /C calc'!A0", "+SUM(A1)", "-2+3", "@x", "\tx", "-", "plain"});
  append_export(out, {"-1", "+2.5", "-1e-9", "3", "-inf", "", "a=b", "--x"});
  EXPECT_EQ(out,
            "'=cmd|' /C calc'!A0,'+SUM(A1),'-2+3,'@x,'\tx,'-,plain\n"
            "-1,+2.5,-1e-9,3,-inf,,a=b,'--x\n");
  out.clear();
  append_export(out, {"\r=1"});
  EXPECT_EQ(out, "\"'\r=1\"\n");
}

TEST(CsvWriter, WhatIsWrittenIsReadBack) {
  std::mt19937 random(4180);
  constexpr std::string_view kAlphabet("\",\n\r\t\0 ab\xEF\xBB\xBF\xFF\xFE\x1B", 15);
  const auto up_to = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<Cells> records(up_to(4));
    for (Cells& record : records) {
      record.resize(1 + up_to(3));
      for (std::string& cell : record) {
        cell.resize(up_to(6));
        for (char& byte : cell) byte = kAlphabet[up_to(kAlphabet.size() - 1)];
      }
    }
    const std::string text = write(records);
    SCOPED_TRACE(text);
    const Outcome outcome = drain(Reader(in_pieces(text, 1 + up_to(9))));
    ASSERT_EQ(outcome.records, records);
    ASSERT_THAT(outcome.skipped, IsEmpty());
    ASSERT_EQ(outcome.error, "");
  }
}

}  // namespace
}  // namespace profline::csv
