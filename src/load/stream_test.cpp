#include "load/stream.h"

#include <vector>

#include <gtest/gtest.h>

namespace profline::load {
namespace {

using Kind = Chunk::Kind;

std::vector<std::string> events_of(std::string_view text, std::size_t piece) {
  std::vector<std::string> events;
  EventParser parser;
  const auto take = [&](const EventParser::Event& event) {
    events.push_back(std::string(event.type) + "|" + std::string(event.data));
  };
  for (std::size_t at = 0; at < text.size(); at += piece) {
    parser.feed(text.substr(at, piece), take);
  }
  parser.end(take);
  return events;
}

TEST(EventParser, FindsTheSameEventsHoweverTheStreamIsCut) {
  struct Case {
    std::string_view name, text;
    std::vector<std::string> events;
  };
  const Case cases[] = {
      {"one", "data: a\n\n", {"|a"}},
      {"several in one read", "data: a\n\ndata: b\n\n", {"|a", "|b"}},
      {"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", {"|a", "|b"}},
      {"CR", "data: a\r\rdata: b\r\r", {"|a", "|b"}},
      {"comments and other fields", ": ping\n\nid: 3\nretry: 5\ndata: a\n\n", {"|a"}},
      {"lines of one event", "data: a\ndata: b\n\n", {"|a\nb"}},
      {"a name", "event: error\ndata: a\n\n", {"error|a"}},
      {"no blank after the colon", "data:a\n\n", {"|a"}},
      {"no colon", "data\n\n", {"|"}},
      {"no last empty line", "data: a\n\ndata: b", {"|a", "|b"}},
      {"half a character", "data: \xC3\xA9\xE2\x82\xAC\n\n", {"|\xC3\xA9\xE2\x82\xAC"}},
      {"byte order mark",
       "\xEF\xBB\xBF"
       "data: a\n\n",
       {"|a"}},
      {"nothing", "", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    for (const std::size_t piece : {1U, 2U, 3U, 5U, 100U}) {
      EXPECT_EQ(events_of(c.text, piece), c.events) << piece;
    }
  }
}

TEST(EventParser, RefusesEndlessLinesAndEndlessEvents) {
  for (const std::string_view text : {"data: aaaaaaaaaaaaaaaaaaaaaaaa", "data: aaaaaaaaaaaaa\n"}) {
    EventParser parser;
    std::size_t fed = 0;
    while (fed < 2 * EventParser::kMostBytes && parser.feed(text, [](const auto&) {})) {
      fed += text.size();
    }
    EXPECT_LE(fed, 2 * EventParser::kMostBytes);
    EXPECT_FALSE(parser.feed("\n\ndata: b\n\n", [](const auto&) { FAIL(); }));
  }
}

TEST(Interpret, KnowsWhatIsATokenAndWhatIsNot) {
  struct Case {
    std::string_view name, data;
    Kind kind;
    std::string_view text;
  };
  constexpr Case kCases[] = {
      {"completion", R"({"choices":[{"text":"Hi","index":0}]})", Kind::Output, "Hi"},
      {"chat", R"({"choices":[{"delta":{"content":"Hi"}}]})", Kind::Output, "Hi"},
      {"role only", R"({"choices":[{"delta":{"role":"assistant"}}]})", Kind::Empty, ""},
      {"role and null", R"({"choices":[{"delta":{"role":"a","content":null}}]})", Kind::Empty, ""},
      {"empty text", R"({"choices":[{"text":""}]})", Kind::Empty, ""},
      {"finish", R"({"choices":[{"delta":{},"finish_reason":"stop"}]})", Kind::Empty, ""},
      {"reasoning", R"({"choices":[{"delta":{"reasoning_content":"hm"}}]})", Kind::Output, "hm"},
      {"tool call",
       R"({"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]}}]})",
       Kind::Output, "f{"},
      {"empty tool call", R"({"choices":[{"delta":{"tool_calls":[{"id":"1"}]}}]})", Kind::Empty,
       ""},
      {"usage", R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}})", Kind::Empty,
       ""},
      {"usage alone", R"({"usage":{"prompt_tokens":3,"completion_tokens":4}})", Kind::Empty, ""},
      {"done", "[DONE]", Kind::Done, ""},
      {"error", R"({"error":{"message":"no memory","type":"x"}})", Kind::Error, "no memory"},
      {"error text", R"({"error":"overloaded"})", Kind::Error, "overloaded"},
      {"not JSON", "<html>", Kind::Malformed, "an event that is not JSON: <html>"},
      {"no object", "[1]", Kind::Malformed, "an event that is not an object"},
      {"no choices", R"({"a":1})", Kind::Malformed, R"(an event without choices: {"a":1})"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const Chunk chunk = interpret({"", c.data});
    EXPECT_EQ(chunk.kind, c.kind);
    EXPECT_EQ(chunk.text, c.text);
  }
  EXPECT_EQ(interpret({"error", "boom"}).kind, Kind::Error);
}

TEST(Interpret, TakesUsageThatCanBeTrue) {
  const Chunk chunk =
      interpret({"", R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}})"});
  EXPECT_EQ(chunk.prompt_tokens, 3U);
  EXPECT_EQ(chunk.output_tokens, 4U);
  const Chunk lie =
      interpret({"", R"({"choices":[],"usage":{"prompt_tokens":-3,"completion_tokens":1.5}})"});
  EXPECT_EQ(lie.prompt_tokens, std::nullopt);
  EXPECT_EQ(lie.output_tokens, std::nullopt);
  EXPECT_EQ(interpret({"", R"({"choices":[{"text":"","finish_reason":"length"}]})"}).finish,
            "length");
}

TEST(ErrorMessage, IsWhatTheServerSays) {
  EXPECT_EQ(error_message(R"({"error":{"message":"model not found","code":404}})"),
            "model not found");
  EXPECT_EQ(error_message(R"({"detail":[{"msg":"bad"}]})"), R"([{"msg":"bad"}])");
  EXPECT_EQ(error_message("<h1>\nBad gateway</h1>\n"), "<h1> Bad gateway</h1>");
  EXPECT_EQ(error_message("abcdef", 3), "abc...");
  EXPECT_EQ(error_message("ab\xC3\xA9", 3), "ab...");
}

}  // namespace
}  // namespace profline::load
