#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "formats/json.h"

namespace profline {
namespace {

constexpr JsonStyle kCompact = {.indent = 0};

std::string written(const Node& tree, const JsonStyle& style = kCompact) {
  const auto text = write_json(tree, style);
  return text ? *text : "refused: " + text.error().to_string();
}

Node single(Node key, Node value) {
  NodeMap entries;
  entries.set(std::move(key), std::move(value));
  return Node::map(std::move(entries));
}

Node single(std::string key, Node value) {
  return single(Node::string(std::move(key)), std::move(value));
}

TEST(JsonWrite, IndentsAndEndsWithALineFeed) {
  NodeMap entries;
  entries.set("b", Node::list({Node::integer(1), Node::list(), Node::map()}));
  entries.set("a", single("x", Node()));
  const Node tree = Node::map(std::move(entries));
  EXPECT_EQ(written(tree, {}),
            "{\n  \"b\": [\n    1,\n    [],\n    {}\n  ],\n  \"a\": {\n    \"x\": null\n  }\n}\n");
  EXPECT_EQ(written(tree), R"({"b":[1,[],{}],"a":{"x":null}})");
  EXPECT_EQ(written(Node::integer(1), {}), "1\n");
}

TEST(JsonWrite, WritesFloatsShortAndAsFloats) {
  struct Case {
    double value;
    std::string_view text;
  };
  constexpr Case kCases[] = {{1.0, "1.0"},         {0.1, "0.1"},
                             {-0.0, "-0.0"},       {1e5, "1e+05"},
                             {12345.0, "12345.0"}, {1e300, "1e+300"},
                             {5e-324, "5e-324"},   {1.0 / 3.0, "0.3333333333333333"}};
  for (const Case& c : kCases) EXPECT_EQ(written(Node::real(c.value)), c.text);
}

TEST(JsonWrite, EscapesWhatJsonForbidsAndNothingElse) {
  EXPECT_EQ(written(Node::string("\"\\\n\r\t\b\f\x01\x1F\x7F/\xC3\xA9")),
            "\"\\\"\\\\\\n\\r\\t\\b\\f\\u0001\\u001f\x7F/\xC3\xA9\"");
}

TEST(JsonWrite, ReplacesEachInvalidByteInAString) {
  EXPECT_EQ(written(Node::string("a\xFF\xC3z\xC3\xA9\xE2\x82")),
            "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonWrite, RefusesWhatJsonCannotSay) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  NodeMap alike;
  alike.set("\xFE", Node());
  alike.set("\xFF", Node());
  Node placed = Node::real(nan);
  placed.set_mark({std::make_shared<const std::string>("a.yaml"), 3, 5});
  struct Case {
    Node tree;
    std::string_view message;
  };
  const Case cases[] = {
      {Node::real(nan), "cannot write JSON at the top: JSON has no nan"},
      {single("a", Node::list({Node(), Node::real(-infinity)})),
       "cannot write JSON at 'a.1': JSON has no infinity"},
      {single("\x1B", placed), "a.yaml:3:5: cannot write JSON at '\\u001b': JSON has no nan"},
      {single("a", Node::bytes("x")), "cannot write JSON at 'a': JSON has no bytes"},
      {single("a", single(Node::integer(1), Node())),
       "cannot write JSON at 'a.an integer': a key is an integer, but JSON's keys are strings"},
      {Node::map(std::move(alike)),
       "cannot write JSON at '\xEF\xBF\xBD': two keys of the map would be written alike"},
      {Node::big_integer(std::string(309, '1')),
       "cannot write JSON at the top: an integer of 309 digits, at most 308 can be read back"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(written(c.tree), "refused: " + std::string(c.message));
  }
}

TEST(JsonWrite, RefusesTreesTooDeepToReadBack) {
  Node tree = Node::list();
  for (std::size_t i = 1; i < kJsonMaxDepth; ++i) {
    Node::List items;
    items.push_back(std::move(tree));
    tree = Node::list(std::move(items));
  }
  EXPECT_EQ(written(tree), std::string(1000, '[') + std::string(1000, ']'));
  EXPECT_EQ(written(Node::list({tree})),
            "refused: cannot write JSON: lists and maps are nested more than 1000 deep");
}

TEST(JsonWrite, WritesBytesAndScalarKeysWhenAsked) {
  const JsonStyle base64 = {.indent = 0, .bytes_as_base64 = true};
  EXPECT_EQ(written(Node::bytes(""), base64), R"("")");
  EXPECT_EQ(written(Node::bytes("f"), base64), R"("Zg==")");
  EXPECT_EQ(written(Node::bytes("fo"), base64), R"("Zm8=")");
  EXPECT_EQ(written(Node::bytes("foo\xFF"), base64), R"("Zm9v/w==")");
  const JsonStyle as_text = {.indent = 0, .scalar_keys_as_text = true};
  NodeMap entries;
  entries.set(Node::integer(1), Node());
  entries.set(Node::boolean(true), Node());
  entries.set(Node::real(1.0), Node());
  entries.set(Node(), Node());
  EXPECT_EQ(written(Node::map(entries), as_text),
            R"({"1":null,"true":null,"1.0":null,"null":null})");
  entries.set("1", Node());
  EXPECT_EQ(written(Node::map(entries), as_text),
            "refused: cannot write JSON at '1': two keys of the map would be written alike");
  EXPECT_EQ(written(single(Node::bytes("x"), Node()), as_text),
            "refused: cannot write JSON at 'bytes': a key is bytes, but JSON's keys are strings");
}

/// Trees of every kind that JSON can represent, from a fixed seed.
class RandomTrees {
 public:
  Node tree(int depth) {
    const std::uint64_t kind = below(depth > 0 ? 9 : 7);
    if (kind == 7) return list(depth);
    if (kind == 8) return map(depth);
    return scalar(kind);
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  Node scalar(std::uint64_t kind) {
    switch (kind) {
      case 0:
        return {};
      case 1:
        return Node::boolean(below(2) == 0);
      case 2:
        return Node::integer(static_cast<std::int64_t>(random_()));
      case 3:
        return Node::integer(static_cast<std::int64_t>(below(1000)) - 500);
      case 4:
        return Node::big_integer((below(2) == 0 ? "-" : "") + std::string(20 + below(250), '7'));
      case 5:
        return Node::real(any_double());
      default:
        return Node::string(text());
    }
  }
  Node list(int depth) {
    Node::List items;
    for (std::uint64_t n = below(6); n > 0; --n) items.push_back(tree(depth - 1));
    return Node::list(std::move(items));
  }
  Node map(int depth) {
    NodeMap entries;
    for (std::uint64_t n = below(12); n > 0; --n) entries.set(text(), tree(depth - 1));
    return Node::map(std::move(entries));
  }
  double any_double() {
    while (true) {
      const std::uint64_t bits = random_();
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      if (std::isfinite(value)) return value;
    }
  }
  std::string text() {
    constexpr std::string_view kPieces[] = {"a",
                                            "key",
                                            "\"",
                                            "\\",
                                            "\n",
                                            "/",
                                            "\xC3\xA9",
                                            "\xF0\x9F\x98\x80",
                                            "{}",
                                            "[,",
                                            std::string_view("\0", 1),
                                            "\x7F",
                                            "\xED\x9F\xBF",
                                            "void gemm<float>(T*)"};
    std::string text;
    for (std::uint64_t n = below(5); n > 0; --n) text += kPieces[below(std::size(kPieces))];
    return text;
  }

  std::mt19937_64 random_{20240607};
};

TEST(JsonWrite, WhatIsWrittenReadsBackEqual) {
  RandomTrees trees;
  for (int i = 0; i < 2000; ++i) {
    const Node tree = trees.tree(5);
    for (const int indent : {0, 2}) {
      const std::string text = written(tree, {.indent = indent});
      const auto back = parse_json(text, "written");
      ASSERT_TRUE(back) << back.error().to_string() << '\n' << text;
      ASSERT_EQ(*back, tree) << text;
      ASSERT_EQ(written(*back, {.indent = indent}), text);
    }
  }
}

}  // namespace
}  // namespace profline
