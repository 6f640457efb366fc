#include "formats/json_stream.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formats/json.h"
#include "testing/paths.h"

namespace profline {
namespace {

/// Returns at most `most` bytes at a time.
ChunkSource small_chunks(std::string_view text, std::size_t most) {
  return [whole = chunks_of(text), most](std::span<char> into) mutable {
    return whole(into.first(std::min(into.size(), most)));
  };
}

enum class Form { List, Lines };
enum class OnBad { Fail, Skip };

/// Everything a reading reported, in order, as lines of text.
struct Reading {
  std::vector<std::string> events;
  Result<JsonStreamTotals> totals = JsonStreamTotals();

  std::string outcome() const {
    if (!totals) return "error: " + totals.error().to_string();
    std::string text = std::to_string(totals->elements) + " elements, " +
                       std::to_string(totals->skipped_elements) + " skipped, " +
                       std::to_string(totals->bytes) + " bytes";
    if (totals->truncated_at) text += ", torn at " + std::to_string(*totals->truncated_at);
    return text;
  }
};

Reading read_stream(ChunkSource source, Form form, OnBad on_bad,
                    const JsonStreamLimits& limits = {}) {
  Reading reading;
  JsonStreamHandlers handlers;
  handlers.element = [&](const JsonView& element, std::uint64_t offset) -> Result<void> {
    reading.events.push_back(std::to_string(offset) + ' ' +
                             write_json(element.to_node(), {.indent = 0}).value());
    return {};
  };
  handlers.member = [&](const std::string& key, const Node& value) -> Result<void> {
    reading.events.push_back(value.position().to_string() + ' ' + key + '=' +
                             write_json(value, {.indent = 0}).value());
    return {};
  };
  if (on_bad == OnBad::Skip) {
    handlers.skipped = [&](const SkippedJson& skipped) {
      reading.events.push_back(std::to_string(skipped.offset) + " skipped '" + skipped.excerpt +
                               "': byte " + std::to_string(skipped.problem_offset) + ": " +
                               skipped.reason);
    };
  }
  reading.totals = form == Form::List
                       ? read_json_list(std::move(source), "events", handlers, limits)
                       : read_json_lines(std::move(source), handlers, limits);
  return reading;
}

Reading read_stream(std::string_view text, Form form = Form::List, OnBad on_bad = OnBad::Skip) {
  return read_stream(chunks_of(text), form, on_bad);
}

using Events = std::vector<std::string>;

TEST(JsonStream, DeliversElementsAndTheMembersAroundThem) {
  const Reading reading = read_stream(
      R"( {"version": 1, "device": {"events": [0]}, "events": [ {"a": "]}\"\\"}, [1,2] ,3], "n": "x"} )");
  EXPECT_EQ(reading.events,
            (Events{"byte 13:1:1 version=1", "byte 26:1:1 device={\"events\":[0]}",
                    R"(55 {"a":"]}\"\\"})", "72 [1,2]", "79 3", "byte 88:1:1 n=\"x\""}));
  EXPECT_EQ(reading.outcome(), "3 elements, 0 skipped, 93 bytes");
}

TEST(JsonStream, ReadsABareListAndEmptyOnes) {
  EXPECT_EQ(read_stream("[1, \"a,]\",\n null]\n").events, (Events{"1 1", "4 \"a,]\"", "12 null"}));
  EXPECT_EQ(read_stream(" [ ] ").outcome(), "0 elements, 0 skipped, 5 bytes");
  EXPECT_EQ(read_stream(R"({"events": []})").outcome(), "0 elements, 0 skipped, 14 bytes");
}

TEST(JsonStream, TellsOfATornInputAfterDeliveringWhatIsComplete) {
  struct Case {
    std::string_view text, outcome;
  };
  constexpr Case kCases[] = {
      {"[", "0 elements, 0 skipped, 1 bytes, torn at 1"},
      {"[{\"a\": 1}, {\"b\": ", "1 elements, 0 skipped, 17 bytes, torn at 17"},
      {"[1, 2, ", "2 elements, 0 skipped, 7 bytes, torn at 7"},
      // A number that ends the input may have been longer.
      {"[1, 2", "1 elements, 0 skipped, 5 bytes, torn at 5"},
      {"{\"eve", "0 elements, 0 skipped, 5 bytes, torn at 5"},
      {"{\"x\": 1", "0 elements, 0 skipped, 7 bytes, torn at 7"},
      {"{\"events\": [1, \"abc", "1 elements, 0 skipped, 19 bytes, torn at 19"},
      {"{\"events\": [1]", "1 elements, 0 skipped, 14 bytes, torn at 14"},
      {"{\"events\": [1], \"name\": \"x", "1 elements, 0 skipped, 26 bytes, torn at 26"},
  };
  for (const Case& c : kCases) EXPECT_EQ(read_stream(c.text).outcome(), c.outcome) << c.text;
}

TEST(JsonStream, SkipsAndTellsOfMalformedElements) {
  const Reading reading = read_stream(
      R"([{"a": 1}, {"b": tru}, {"c": 3]}, , {"d" 4}, 1e999, 99999999999999999999, {"e": 5}])");
  EXPECT_EQ(
      reading.events,
      (Events{
          "1 {\"a\":1}", "11 skipped '{\"b\": tru}': byte 17: unexpected 'tru', expected a value",
          "23 skipped '{\"c\": 3]}': byte 30: unexpected ']', expected ',' or '}'",
          "34 skipped '': byte 34: an element is missing before this ',' or ']'",
          "36 skipped '{\"d\" 4}': byte 41: unexpected '4', expected ':' after the key",
          "45 skipped '1e999': byte 45: '1e999' is too large for a float",
          "52 skipped '99999999999999999999': byte 52: an integer is below int64 or above uint64",
          "74 {\"e\":5}"}));
  EXPECT_EQ(reading.outcome(), "2 elements, 6 skipped, 83 bytes");
}

TEST(JsonStream, SkipsAndTellsOfMalformedMembers) {
  const std::string duplicate =
      "27 skipped '\"twice\": {\"a\": 1, \"a\": 2}': byte 36: duplicate key \"a\" (first at line "
      "1, "
      "column 2)";
  const Reading reading =
      read_stream(R"({"path": "C:\q", "n" 1, x, "twice": {"a": 1, "a": 2}, , "events": [1]})");
  EXPECT_EQ(
      reading.events,
      (Events{"1 skipped '\"path\": \"C:\\q\"': byte 12: unknown escape: '\\' before 'q'",
              "17 skipped '\"n\" 1': byte 21: unexpected '1', expected ':' after the key",
              "24 skipped 'x': byte 24: unexpected 'x', expected a key in double quotes or '}'",
              duplicate, "54 skipped '': byte 54: a member is missing before this ',' or '}'",
              "67 1"}));
  ASSERT_TRUE(reading.totals);
  EXPECT_EQ(reading.totals->skipped_members, 5U);
}

TEST(JsonStream, NamesTheByteOfWhatCannotBeRead) {
  struct Case {
    std::string_view text, message;
  };
  constexpr Case kCases[] = {
      {"", "error: byte 0: the input is empty"},
      {" \n", "error: byte 2: the input is empty"},
      {"7", "error: byte 0: expected a list or a map, which begin with '[' or '{'"},
      {"[1] 2", "error: byte 4: expected nothing after the last bracket"},
      {"{\"events\": [1] 2}", "error: byte 15: expected ',' or '}' after the list"},
      {"{\"events\": [1], \"events\": [2]}",
       "error: byte 16: a second list under the key \"events\""},
      {"{\"events\": null}", "error: byte 16: no list under the key 'events'"},
      {"[1, tru]", "error: byte 7: unexpected end inside 'true' (in the element at byte 4)"},
      {"[{\"a\": tru}]",
       "error: byte 7: unexpected 'tru', expected a value (in the element at byte 1)"},
      {"{\"x\": tru, \"events\": []}",
       "error: byte 6: unexpected 'tru', expected a value (in the member at byte 1)"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(read_stream(c.text, Form::List, OnBad::Fail).outcome(), c.message) << c.text;
  }
}

/// Takes lists of digits, `[12]`, and records each.
JsonTaken take_digits(std::string_view text, std::uint64_t offset, Events& events) {
  using Outcome = JsonTaken::Outcome;
  if (text.front() != '[') return {Outcome::Refused};
  const std::size_t end = text.find_first_not_of("0123456789", 1);
  if (end == std::string_view::npos) return {Outcome::TooShort};
  if (text[end] != ']') return {Outcome::Refused};
  events.push_back(std::to_string(offset) + " took " + std::string(text.substr(0, end + 1)));
  return {Outcome::Taken, end + 1};
}

TEST(JsonStream, LetsAReaderTakeTheElementsItKnows) {
  const std::string text = "[[1], [2,3] , [x], [45]\n,[6] 7, [89], [";
  for (const std::size_t window : {1U, 2U, 7U, 100U}) {
    SCOPED_TRACE(window);
    Events events;
    JsonStreamHandlers handlers;
    handlers.take = [&](std::string_view rest, std::uint64_t offset) {
      return take_digits(rest, offset, events);
    };
    handlers.element = [&](const JsonView& element, std::uint64_t offset) -> Result<void> {
      events.push_back(std::to_string(offset) + ' ' +
                       write_json(element.to_node(), {.indent = 0}).value());
      return {};
    };
    handlers.skipped = [&](const SkippedJson& skipped) {
      events.push_back(std::to_string(skipped.offset) + " skipped " + skipped.excerpt);
    };
    const auto totals =
        read_json_list(chunks_of(text), "events", handlers, {.window_bytes = window});
    ASSERT_TRUE(totals) << totals.error().to_string();
    EXPECT_EQ(events, (Events{"1 took [1]", "6 [2,3]", "14 skipped [x]", "19 took [45]",
                              "25 took [6]", "29 7", "32 took [89]"}));
    EXPECT_EQ(totals->elements, 6U);
    EXPECT_EQ(totals->truncated_at, std::uint64_t{39});
    EXPECT_EQ(totals->torn_at, std::uint64_t{38});
  }
}

TEST(JsonStream, ReadsLines) {
  const Reading reading = read_stream("{\"a\": 1}\r\n\n  [2]\t\n{\"b\": }\n\"x\"", Form::Lines);
  EXPECT_EQ(
      reading.events,
      (Events{"0 {\"a\":1}", "13 [2]",
              "18 skipped '{\"b\": }': byte 24: unexpected '}', expected a value", "26 \"x\""}));
  EXPECT_EQ(reading.outcome(), "3 elements, 1 skipped, 29 bytes");
  EXPECT_EQ(read_stream("", Form::Lines).outcome(), "0 elements, 0 skipped, 0 bytes");
}

TEST(JsonStream, TellsATornLastLineFromAMalformedOne) {
  EXPECT_EQ(read_stream("1\n{\"a\": tr", Form::Lines, OnBad::Fail).outcome(),
            "1 elements, 0 skipped, 10 bytes, torn at 10");
  EXPECT_EQ(read_stream("1\n{\"a\": \"x", Form::Lines, OnBad::Fail).outcome(),
            "1 elements, 0 skipped, 10 bytes, torn at 10");
  EXPECT_EQ(read_stream("1\n{\"a\": x}", Form::Lines, OnBad::Fail).outcome(),
            "error: byte 8: unexpected 'x', expected a value (in the element at byte 2)");
}

TEST(JsonStream, LimitsDepthAsTheTreeParserDoes) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']') + '\n';
  };
  EXPECT_EQ(read_stream(nested(kJsonMaxDepth), Form::Lines, OnBad::Fail).outcome(),
            "1 elements, 0 skipped, 2001 bytes");
  EXPECT_EQ(read_stream(nested(kJsonMaxDepth + 1), Form::Lines, OnBad::Fail).outcome(),
            "error: byte 1000: lists and maps are nested more than 1000 deep (in the element at "
            "byte 0)");
}

TEST(JsonStream, GrowsForALargeElementUpToTheLimit) {
  const std::string text = "[1, \"" + std::string(100, 'x') + "\", 2]";
  const JsonStreamLimits enough = {.window_bytes = 8, .max_element_bytes = 102};
  EXPECT_EQ(read_stream(chunks_of(text), Form::List, OnBad::Fail, enough).outcome(),
            "3 elements, 0 skipped, 110 bytes");
  for (const std::size_t window : {1U, 8U, 1000U}) {
    const JsonStreamLimits less = {.window_bytes = window, .max_element_bytes = 101};
    const Reading reading = read_stream(chunks_of(text), Form::List, OnBad::Skip, less);
    EXPECT_EQ(reading.outcome(), "error: byte 4: an element of more than 101 bytes");
    EXPECT_EQ(reading.events, Events{"1 1"});
  }
}

TEST(JsonStream, PassesOnTheErrorsOfItsSourceAndItsHandlers) {
  const ChunkSource broken = [](std::span<char>) -> Result<std::size_t> {
    return Error(ErrorKind::Io, "disk on fire");
  };
  EXPECT_EQ(read_stream(broken, Form::List, OnBad::Skip).outcome(), "error: disk on fire");
  JsonStreamHandlers handlers;
  handlers.element = [](const JsonView&, std::uint64_t offset) -> Result<void> {
    return Error(ErrorKind::Config, "not wanted at " + std::to_string(offset));
  };
  const auto totals = read_json_list(chunks_of("[1]"), "events", handlers);
  ASSERT_FALSE(totals);
  EXPECT_EQ(totals.error().to_string(), "not wanted at 1");
}

/// A trace with odd blanks, brackets in strings, malformed events and, for some seeds, a torn end.
std::string generated_trace(std::uint64_t seed, Form form) {
  constexpr std::string_view kEvents[] = {
      R"({"ph": "X", "name": "void gemm<float>({[\"\\]}) void", "ts": 3869040068636.722, "dur": 12})",
      R"({"name":"\u00e9\ud83d\ude00","args":{"Input Dims":[[1,2],[]]}})",
      R"("a,b]}\\\\")",
      "12345678901234",
      R"({"broken": tru})",
      R"({"no colon" 1})",
      "{}",
      "[]",
      "null",
  };
  std::mt19937_64 random(seed);
  const std::string_view blanks[] = {"", " ", "\t", "  ", form == Form::Lines ? "" : "\r\n"};
  std::string text =
      form == Form::Lines ? "" : R"({"schemaVersion": 1, "odd\"key]": [{}], "events" : [)";
  for (std::uint64_t left = random() % 12; left > 0; --left) {
    text += blanks[random() % std::size(blanks)];
    text += kEvents[random() % std::size(kEvents)];
    text += blanks[random() % std::size(blanks)];
    if (form == Form::Lines) {
      text += random() % 2 == 0 ? "\n" : "\r\n";
    } else if (left > 1) {
      text += ',';
    }
  }
  if (form == Form::List) text += R"(], "traceName": "x}"})";
  if (seed % 3 == 0) text.resize(random() % (text.size() + 1));
  return text;
}

void expect_same_for_any_chunks(const std::string& text, Form form) {
  const Reading whole = read_stream(text, form);
  for (std::size_t size = 1; size <= 17; ++size) {
    const Reading chunked = read_stream(small_chunks(text, size), form, OnBad::Skip);
    const Reading windowed =
        read_stream(small_chunks(text, 3), form, OnBad::Skip, {.window_bytes = size});
    ASSERT_EQ(chunked.events, whole.events) << text;
    ASSERT_EQ(chunked.outcome(), whole.outcome()) << text;
    ASSERT_EQ(windowed.events, whole.events) << text;
    ASSERT_EQ(windowed.outcome(), whole.outcome()) << text;
  }
}

TEST(JsonStream, ReadsTheSameWhateverTheChunksAndTheWindow) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    expect_same_for_any_chunks(generated_trace(seed, Form::List), Form::List);
    expect_same_for_any_chunks(generated_trace(seed, Form::Lines), Form::Lines);
  }
}

/// Checks that the stream and the tree give the same events.
void expect_as_the_tree(const std::string& text) {
  const auto tree = parse_json(text, "trace");
  ASSERT_TRUE(tree) << tree.error().to_string();
  const Node::List& events = tree->find("traceEvents")->as_list();
  std::size_t seen = 0;
  NodeMap members;
  JsonStreamHandlers handlers;
  handlers.element = [&](const JsonView& event, std::uint64_t) -> Result<void> {
    if (seen >= events.size() || !(event.to_node() == events[seen])) {
      return Error(ErrorKind::Parse, "event " + std::to_string(seen) + " differs");
    }
    ++seen;
    return {};
  };
  handlers.member = [&](const std::string& key, Node value) -> Result<void> {
    members.set(key, std::move(value));
    return {};
  };
  const auto totals =
      read_json_list(chunks_of(text), "traceEvents", handlers, {.window_bytes = 10'000});
  ASSERT_TRUE(totals) << totals.error().to_string();
  EXPECT_EQ(totals->elements, events.size());
  EXPECT_EQ(totals->bytes, text.size());
  EXPECT_FALSE(totals->truncated_at);
  NodeMap expected = tree->as_map();
  expected.erase("traceEvents");
  EXPECT_EQ(members, expected);
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(JsonStream, ReadsAPieceOfARealTrace) {
  const std::string text =
      file_text(testing::source_dir() / "tests/golden/json/kineto-cupti-13.0/input.json");
  ASSERT_FALSE(text.empty());
  expect_as_the_tree(text);
}

TEST(JsonStream, ReadsAWholeRealTrace) {
  const auto path = testing::shared_dir() / "fixtures/h200/kineto-trace.json.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  std::FILE* pipe = ::popen(("gzip -dc '" + path.string() + "'").c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  std::vector<char> chunk(1 << 16);
  while (const std::size_t bytes = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    text.append(chunk.data(), bytes);
  }
  ASSERT_EQ(::pclose(pipe), 0);
  expect_as_the_tree(text);
}

}  // namespace
}  // namespace profline
