#include "tools/torch_profiler/internal/trace_event.h"

#include <string>

#include <gtest/gtest.h>

namespace profline::torch_profiler::internal {
namespace {

using Outcome = JsonTaken::Outcome;

RawValue bare(std::string_view text) {
  return {RawValue::Kind::Bare, text.data(), text.data() + text.size()};
}
RawValue quoted(std::string_view text) {
  return {RawValue::Kind::String, text.data(), text.data() + text.size()};
}

TEST(EventScanner, TakesAnEventAndWhatTheTablesNeedOfIt) {
  const std::string text =
      R"({"ph": "X", "cat": "kernel", "name": "f<\"a\">, {", "pid": 0, "tid": 7,
    "ts": 10.5, "dur": 2, "args": {"External id": 3, "device": 0, "nested": {"grid": [9, 9, 9], "x": "}"},
    "grid": [4, 27, 1], "stream": 7, "correlation": 14}, "ignored": [1, {"ts": 3}, "]"]} , {)";
  RawEvent event;
  const JsonTaken taken = scan_event(text, event);
  ASSERT_EQ(taken.outcome, Outcome::Taken);
  EXPECT_EQ(text.substr(taken.bytes), " , {");
  EXPECT_EQ(event.phase, 'X');
  EXPECT_EQ(event.name.text(), "f<\\\"a\\\">, {");
  EXPECT_EQ(event.time.text(), "10.5");
  EXPECT_EQ(event.grid.text(), "[4, 27, 1]");
  EXPECT_EQ(event.correlation.text(), "14");
  EXPECT_FALSE(event.block.is_present());
  EXPECT_FALSE(event.has_duplicates);
}

TEST(EventScanner, KnowsAnEventThatIsNotAllThere) {
  const std::string text =
      R"({"ph": "X", "name": "a \" \\", "args": {"a": [1, "]"], "b": NaN}, "ts": 1})";
  for (std::size_t size = 1; size < text.size(); ++size) {
    RawEvent event;
    EXPECT_EQ(scan_event(std::string_view(text).substr(0, size), event).outcome, Outcome::TooShort)
        << size;
  }
  RawEvent event;
  EXPECT_EQ(scan_event(text, event).outcome, Outcome::Taken);
}

TEST(EventScanner, TakesWhatIsNotQuiteJson) {
  for (const char* text :
       {R"({"ph": "X", "ts": NaN, "dur": -Infinity, "x": None})",
        R"({"ph": "X", "name": "C:\temp\q", "y": "\u12"})", "{\"name\": \"\xff\xfe\"}",
        R"({"ph": "X",})", "{}", "{\"a\": \"line\nbreak\"}"}) {
    RawEvent event;
    const JsonTaken taken = scan_event(text, event);
    EXPECT_EQ(taken.outcome, Outcome::Taken) << text;
    EXPECT_EQ(taken.bytes, std::string_view(text).size()) << text;
  }
}

TEST(EventScanner, RefusesWhatIsNoEvent) {
  for (const char* text : {"1 ", "[1] ", "null ", "\"x\" ", R"({"a" 1} )", R"({"a": } )",
                           R"({a: 1} )", R"({"a": 1 "b": 2} )", R"({"a": 1]} )", R"({,} )"}) {
    RawEvent event;
    EXPECT_EQ(scan_event(text, event).outcome, Outcome::Refused) << text;
  }
}

TEST(EventScanner, TellsOfAKeyThatIsThereTwice) {
  RawEvent event;
  scan_event(R"({"ts": 1, "ts": 2})", event);
  EXPECT_TRUE(event.has_duplicates);
  EXPECT_EQ(event.time.text(), "2");
}

TEST(EventScanner, IsNotHurtByDepth) {
  const std::string deep =
      R"({"args": {"a": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}}";
  RawEvent event;
  EXPECT_EQ(scan_event(deep, event).outcome, Outcome::Taken);
}

TEST(EventTime, IsExactToTheNanosecond) {
  struct Case {
    std::string_view text;
    std::int64_t ns;
  };
  constexpr Case kCases[] = {
      {"3869040068636.722", 3869040068636722},
      {"1794726066068636.722", 1794726066068636722},  // no double can hold it
      {"9007199254740993.001", 9007199254740993001},
      {"5.792", 5792},
      {"5", 5000},
      {"5.7", 5700},
      {"0.0004", 0},
      {"0.0005", 1},
      {"1.99951", 2000},
      {"-2.5", -2500},
      {"1e3", 1000000},
      {"1.5E+2", 150000},
      {"25e-4", 3},
      {"0.000000000000000000000000001", 0},
      {"00012", 12000},
      {"1.1234567890123456789012345", 1123},
  };
  for (const Case& c : kCases) {
    const RawTime time = time_of(bare(c.text), ClockUnit::Microseconds);
    EXPECT_EQ(time.state, RawTime::State::Good) << c.text;
    EXPECT_EQ(time.ns, c.ns) << c.text;
    EXPECT_EQ(time_of(quoted(c.text), ClockUnit::Microseconds).ns, c.ns) << c.text;
  }
  EXPECT_EQ(time_of(bare("1794726066068636722"), ClockUnit::Nanoseconds).ns, 1794726066068636722);
}

TEST(EventTime, TellsWhatIsNone) {
  for (const char* text :
       {"NaN", "Infinity", "-", ".", "", "1.2.3", "12us", "0x10", "1e", "e5", "null"}) {
    EXPECT_EQ(time_of(bare(text), ClockUnit::Microseconds).state, RawTime::State::NotANumber)
        << text;
  }
  for (const char* text :
       {"9300000000000000", "1794726066068636722", "1e300", "99999999999999999999999999"}) {
    EXPECT_EQ(time_of(bare(text), ClockUnit::Microseconds).state, RawTime::State::TooLarge) << text;
  }
  EXPECT_EQ(time_of({}, ClockUnit::Microseconds).state, RawTime::State::Absent);
}

TEST(EventValues, AreNumbersAlsoInQuotes) {
  EXPECT_EQ(unsigned_of(bare("12")), 12U);
  EXPECT_EQ(unsigned_of(quoted(" 12 ")), 12U);
  EXPECT_EQ(unsigned_of(quoted("0x1f")), 31U);
  EXPECT_EQ(unsigned_of(bare("7.0")), 7U);
  EXPECT_EQ(unsigned_of(bare("18446744073709551615")), 18446744073709551615U);
  EXPECT_EQ(unsigned_of(bare("-1")), std::nullopt);
  EXPECT_EQ(unsigned_of(bare("7.5")), std::nullopt);
  EXPECT_EQ(unsigned_of(quoted("seven")), std::nullopt);
  EXPECT_EQ(signed_of(bare("-1")), -1);
  EXPECT_EQ(trailing_number(quoted("stream 7 ")), 7);
  EXPECT_EQ(trailing_number(quoted("Spans")), std::nullopt);
}

TEST(EventValues, HaveTheirEscapesUndone) {
  struct Case {
    std::string_view text, meant;
    bool bad;
  };
  constexpr Case kCases[] = {
      {"plain", "plain", false},          {R"(a\"b\\c\/d\n\t)", "a\"b\\c/d\n\t", false},
      {R"(\u00e9)", "\u00e9", false},     {R"(\ud83d\ude00)", "\U0001F600", false},
      {R"(C:\Users)", "C:\\Users", true}, {R"(\ud83d)", "\\ud83d", true},
      {R"(\u12)", "\\u12", true},         {"end\\", "end\\", true},
  };
  for (const Case& c : kCases) {
    bool bad = false;
    EXPECT_EQ(unescaped(c.text, bad), c.meant) << c.text;
    EXPECT_EQ(bad, c.bad) << c.text;
  }
}

}  // namespace
}  // namespace profline::torch_profiler::internal
