#include "formats/json.h"

#include <string>

#include <gtest/gtest.h>

namespace profline {
namespace {

Node parsed(std::string_view text) {
  auto tree = parse_json(text, "a.json");
  EXPECT_TRUE(tree) << tree.error().to_string();
  return tree ? *std::move(tree) : Node();
}

std::string refusal(std::string_view text) {
  const auto tree = parse_json(text, "a.json");
  return tree ? "accepted" : tree.error().to_string();
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(Json, ReadsEveryKindOfValue) {
  NodeMap expected;
  expected.set("null", Node());
  expected.set("yes", Node::boolean(true));
  expected.set("no", Node::boolean(false));
  expected.set("int", Node::integer(-12));
  expected.set("float", Node::real(1.0));
  expected.set("exponent", Node::real(1e5));
  expected.set("text", Node::string("a\"\\/\b\f\n\r\t\xC3\xA9\xF0\x9F\x98\x80"));
  expected.set("list", Node::list({Node::integer(1), Node::list(), Node::map()}));
  EXPECT_EQ(parsed(R"({"null": null, "yes": true, "no": false, "int": -12, "float": 1.0,
                       "exponent": 1e5, "text": "a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00",
                       "list": [1, [], {}]})"),
            Node::map(std::move(expected)));
}

TEST(Json, KeepsIntegersAndFloatsApart) {
  struct Case {
    std::string_view text;
    Node node;
  };
  const Case cases[] = {
      {"9223372036854775807", Node::integer(INT64_MAX)},
      {"-9223372036854775808", Node::integer(INT64_MIN)},
      {"9223372036854775808", Node::big_integer("9223372036854775808")},
      {"18446744073709551615", Node::big_integer("18446744073709551615")},
      {"18446744073709551616", Node::big_integer("18446744073709551616")},
      {"-9223372036854775809", Node::big_integer("-9223372036854775809")},
      {"-0", Node::integer(0)},
      {"0.0", Node::real(0.0)},
      {"18446744073709551616.0", Node::real(18446744073709551616.0)},
      {"1E2", Node::real(100.0)},
      {"1e-400", Node::real(0.0)},
  };
  for (const Case& c : cases) EXPECT_EQ(parsed(c.text), c.node) << c.text;
}

TEST(Json, MarksEveryValueAndKey) {
  const std::string_view text =
      "\n {\"\xC3\xA9\": \"\xC3\xA9\", \"n\":12,\"f\" : -1.5e3 ,\r\n"
      "\t\"l\": [true,null , 7],\n"
      "\"s\\\\\\\"\":{}}";
  const Node tree = parsed(text);
  const auto place = [&](std::string_view path) {
    const Node* node = tree.find_path(path);
    return node == nullptr ? "absent" : node->position().to_string();
  };
  EXPECT_EQ(tree.position().to_string(), "a.json:2:2");
  EXPECT_EQ(place("\xC3\xA9"), "a.json:2:8");
  EXPECT_EQ(place("n"), "a.json:2:17");
  EXPECT_EQ(place("f"), "a.json:2:26");
  EXPECT_EQ(place("l"), "a.json:3:7");
  EXPECT_EQ(place("l.0"), "a.json:3:8");
  EXPECT_EQ(place("l.1"), "a.json:3:13");
  EXPECT_EQ(place("l.2"), "a.json:3:20");
  EXPECT_EQ(place("s\\\""), "a.json:4:9");
  std::vector<std::string> keys;
  for (const auto& entry : tree.as_map()) keys.push_back(entry.key.position().to_string());
  EXPECT_EQ(keys, (std::vector<std::string>{"a.json:2:3", "a.json:2:13", "a.json:2:20",
                                            "a.json:3:2", "a.json:4:1"}));
}

TEST(Json, RefusesWithTheReasonItsPlaceAndTheLine) {
  struct Case {
    std::string_view text, message;
  };
  constexpr Case kCases[] = {
      {"", "a.json:1:1: the text is empty, expected a value\n  \n  ^"},
      {" \n ", "a.json:2:2: the text is empty, expected a value\n   \n   ^"},
      {"{\"a\": 1,\n \"b\": [2\n",
       "a.json:3:1: unexpected end, expected ',' or ']' (the list "
       "begins at line 2, column 7)\n  \n  ^"},
      {"{\"a\"",
       "a.json:1:5: unexpected end, expected ':' after the key (the map begins at "
       "line 1, column 1)\n  {\"a\"\n      ^"},
      {"[\"abc",
       "a.json:1:2: the string that begins here is not closed (the list begins at line 1, "
       "column 1)\n  [\"abc\n   ^"},
      {"[tru",
       "a.json:1:5: unexpected end inside 'true' (the list begins at line 1, column 1)\n  "
       "[tru\n      ^"},
      {"-", "a.json:1:2: unexpected end inside a number\n  -\n   ^"},
      {"{} x", "a.json:1:4: unexpected 'x', expected nothing after the value\n  {} x\n     ^"},
      {"1 2", "a.json:1:3: unexpected '2', expected nothing after the value\n  1 2\n    ^"},
      {std::string_view("1\0", 2),
       "a.json:1:2: unexpected U+0000, expected nothing after the "
       "value\n  1 \n   ^"},
      {"\xEF\xBB\xBF{}",
       "a.json:1:1: begins with a byte order mark, JSON is plain UTF-8 without one"},
      {"[NaN]", "a.json:1:2: 'NaN' is not JSON, numbers must be finite\n  [NaN]\n   ^"},
      {"[-Infinity]",
       "a.json:1:2: '-Infinity' is not JSON, numbers must be finite\n  [-Infinity]\n   ^"},
      {"[1,]", "a.json:1:3: trailing comma before ']'\n  [1,]\n    ^"},
      {"{\"a\":1,}", "a.json:1:7: trailing comma before '}'\n  {\"a\":1,}\n        ^"},
      {"[1 2]", "a.json:1:4: unexpected '2', expected ',' or ']'\n  [1 2]\n     ^"},
      {"{a: 1}",
       "a.json:1:2: unexpected 'a', expected a key in double quotes or '}'\n  {a: 1}\n   ^"},
      {"{\"a\" 1}",
       "a.json:1:6: unexpected '1', expected ':' after the key\n  {\"a\" 1}\n       ^"},
      {"{\"a\":}", "a.json:1:6: unexpected '}', expected a value\n  {\"a\":}\n       ^"},
      {"{'a': 1}",
       "a.json:1:2: unexpected ''', strings and keys take double quotes\n  {'a': 1}\n   ^"},
      {"[1] // x", "a.json:1:5: unexpected '/', JSON has no comments\n  [1] // x\n      ^"},
      {"[True]",
       "a.json:1:2: unexpected 'True', expected a value or ']' (did you mean 'true'?)\n  "
       "[True]\n   ^"},
      {"[1, None]",
       "a.json:1:5: unexpected 'None', expected a value (did you mean 'null'?)\n  [1, None]\n"
       "      ^"},
      {"[012]", "a.json:1:2: a number has no leading zeros\n  [012]\n   ^"},
      {"[+1]", "a.json:1:2: a number has no leading '+'\n  [+1]\n   ^"},
      {"[.5]", "a.json:1:2: a number begins with a digit or '-', write '0.' for '.'\n  [.5]\n   ^"},
      {"[1.]", "a.json:1:2: a digit must follow '.' in '1.'\n  [1.]\n   ^"},
      {"[1e+]", "a.json:1:2: a digit must follow the exponent in '1e+'\n  [1e+]\n   ^"},
      {"[-]", "a.json:1:2: a digit must follow '-' in '-'\n  [-]\n   ^"},
      {"[1e999]", "a.json:1:2: '1e999' is too large for a float\n  [1e999]\n   ^"},
      {"[\"a\nb\"]",
       "a.json:1:4: control character U+000A in a string, write it as '\\u000A'\n"
       "  [\"a\n     ^"},
      {"[\"\\q\"]", "a.json:1:3: unknown escape: '\\' before 'q'\n  [\"\\q\"]\n    ^"},
      {"[\"\\u12G4\"]",
       "a.json:1:3: four hexadecimal digits must follow '\\u'\n  [\"\\u12G4\"]\n    ^"},
      {"[\"\\ud800x\"]",
       "a.json:1:3: '\\uD800' is half of a surrogate pair, its other half is "
       "missing\n  [\"\\ud800x\"]\n    ^"},
      {"[\"\\uDC00\"]",
       "a.json:1:3: '\\uDC00' is half of a surrogate pair, its other half is "
       "missing\n  [\"\\uDC00\"]\n    ^"},
      {"[\xC3\xA9]",
       "a.json:1:2: unexpected '\xC3\xA9', expected a value or ']'\n  [\xC3\xA9]\n   ^"},
      {"{\"a\": 1,\n \"b\": 2,\n \"a\": 3}",
       "a.json:3:2: duplicate key \"a\" (first at line 1, column 2)\n   \"a\": 3}\n   ^"},
  };
  for (const Case& c : kCases) EXPECT_EQ(refusal(c.text), c.message) << c.text;
}

TEST(Json, RefusesInvalidUtf8AtItsPlace) {
  const auto tree = parse_json("[\"\xC3\xA9\xFF\"]", "a.json");
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().message(), "byte 0xFF is not valid UTF-8");
  EXPECT_EQ(tree.error().position()->to_string(), "a.json:1:4");
  const auto outside = parse_json("[\xFF]", "a.json");
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().message(),
            "unexpected byte 0xFF, which is not valid UTF-8, expected a value or ']'");
}

TEST(Json, LimitsDepth) {
  EXPECT_TRUE(parse_json(nested(kJsonMaxDepth), "a.json"));
  const auto deeper = parse_json(nested(kJsonMaxDepth + 1), "a.json");
  ASSERT_FALSE(deeper);
  EXPECT_EQ(deeper.error().message(), "lists and maps are nested more than 1000 deep");
  EXPECT_EQ(deeper.error().position()->to_string(), "a.json:1:1001");
  const auto deepest = parse_json(std::string(100'000, '['), "a.json");
  ASSERT_FALSE(deepest);
  EXPECT_EQ(deepest.error().message(), "lists and maps are nested more than 1000 deep");
}

TEST(Json, LimitsTheDigitsOfAnInteger) {
  const std::string longest(kJsonMaxIntegerDigits, '9');
  EXPECT_EQ(parsed('-' + longest), Node::big_integer('-' + longest));
  for (const std::size_t digits : {std::size_t{309}, std::size_t{400}}) {
    const auto tree = parse_json(std::string(digits, '1'), "a.json");
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().message(),
              "an integer of " + std::to_string(digits) + " digits, at most 308 are read");
  }
}

TEST(Json, ShowsAShortExcerptOfALongLine) {
  const std::string text = '[' + std::string(1'000'000, ' ') + "x]";
  const std::string message = refusal(text);
  EXPECT_TRUE(message.starts_with("a.json:1:1000002: unexpected 'x', expected a value or ']'\n"));
  EXPECT_LT(message.size(), 400U);
}

TEST(Json, ShowsTheKeyOfADuplicateAsItWasWrittenAndCutsIt) {
  const auto escaped = parse_json("{\"\\u001b\": 1, \"\\u001b\": 2}", "a.json");
  ASSERT_FALSE(escaped);
  EXPECT_EQ(escaped.error().message(), "duplicate key \"\\u001b\" (first at line 1, column 2)");
  const std::string key = '"' + std::string(1000, 'k') + '"';
  const auto longer = parse_json('{' + key + ":1," + key + ":2}", "a.json");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().message(),
            "duplicate key \"" + std::string(79, 'k') + "… (first at line 1, column 2)");
}

}  // namespace
}  // namespace profline
