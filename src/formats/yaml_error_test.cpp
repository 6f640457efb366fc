// How the reader reports malformed and hostile input: one Error, with its place, within bounds.

#include <string>

#include <gtest/gtest.h>

#include "formats/yaml.h"

namespace profline {
namespace {

std::string error_of(std::string_view text) {
  const Result<Node> node = parse_yaml(text, "in.yaml");
  return node ? "no error" : node.error().to_string();
}

/// Without the excerpt.
std::string first_line_of_error(std::string_view text) {
  const std::string error = error_of(text);
  return error.substr(0, error.find('\n'));
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  out.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

TEST(YamlErrors, ShowTheLineWithACaret) {
  EXPECT_EQ(error_of("a: 1\n  b: 2\n"),
            "in.yaml:2:4: mapping values are not allowed in this context\n"
            "    b: 2\n"
            "     ^");
  EXPECT_EQ(error_of("ключ: 1\nключ: 2"),
            "in.yaml:2:1: key 'ключ' is already in this map\n"
            "  ключ: 2\n"
            "  ^");
}

TEST(YamlErrors, NameTheProblemAndThePlace) {
  struct Case {
    std::string_view text, error;
  };
  using std::string_view_literals::operator""sv;
  const Case cases[] = {
      {"a: [1, 2",
       "in.yaml:1:9: did not find expected ',' or ']' (while parsing a flow sequence "
       "that begins at line 1, column 4)"},
      {"a: @b",
       "in.yaml:1:4: this character cannot begin a value: put the value in quotes (while "
       "scanning for the next token)"},
      {"{a:}",
       "in.yaml:1:3: ':' inside of [] or {} needs a space after it, or quotes around the "
       "text (while scanning a plain scalar that begins at line 1, column 2)"},
      {"a: 'x",
       "in.yaml:1:6: found unexpected end of stream (while scanning a quoted scalar that "
       "begins at line 1, column 4)"},
      {"a: 1\n---\nb: 2", "in.yaml:2:1: a second document begins here: only one is expected"},
      {"a: &x 1\nb: &x 2", "in.yaml:2:4: anchor '&x' is already defined at line 1"},
      {"a: *x", "in.yaml:1:4: no anchor '&x' comes before this alias '*x'"},
      {"a: &x [*x]", "in.yaml:1:8: alias '*x' is inside its own anchor"},
      {"? [1]\n: 2", "in.yaml:1:3: a key must be a scalar, not a list or a map"},
      {"~: 1", "in.yaml:1:1: null cannot be a key: quote it to use the text"},
      {"a: {null: 1}", "in.yaml:1:5: null cannot be a key: quote it to use the text"},
      {"a: {b: 1, c: 2, 'b': 3}", "in.yaml:1:17: key 'b' is already in this map"},
      {"<<: 1", "in.yaml:1:5: '<<' merges a map or a list of maps"},
      {"<<: [{a: 1}, 2]", "in.yaml:1:14: '<<' merges a map or a list of maps"},
      {"a: <<", "in.yaml:1:4: '<<' merges maps and is allowed only as a key: quote it"},
      {"a: =", "in.yaml:1:4: a plain '=' is reserved in YAML 1.1: quote it"},
      {"a: !x 1",
       "in.yaml:1:4: unknown tag '!x' (known: !!str, !!int, !!float, !!bool, !!null, "
       "!!binary, !!seq, !!map, !!omap, !!pairs)"},
      {"a: !!int x", "in.yaml:1:4: 'x' is not an integer"},
      {"a: 0x_", "in.yaml:1:4: '0x_' is not an integer"},
      {"a: !!float x", "in.yaml:1:4: 'x' is not a float"},
      {"a: !!bool y", "in.yaml:1:4: 'y' is not a boolean (yes, no, true, false, on or off)"},
      {"a: !!binary abc", "in.yaml:1:4: 'abc' is not base64 of whole bytes"},
      {"a: !!timestamp 2024-01-02", "in.yaml:1:4: !!timestamp is not supported: leave the tag out"},
      {"a: !!set {b}", "in.yaml:1:4: !!set is not supported: write a list"},
      {"a: !!seq b", "in.yaml:1:4: 'b' is not a list, which its tag asks for"},
      {"a: !!map b", "in.yaml:1:4: 'b' is not a map, which its tag asks for"},
      {"a: !!str [b]", "in.yaml:1:4: this is a list, but its tag asks for another type"},
      {"a: !!seq {b: 1}", "in.yaml:1:4: this is a map, but its tag asks for another type"},
      {"a: !!omap [b]", "in.yaml:1:12: an item of !!omap or !!pairs is a map of one entry"},
      {"a: [b?]", "in.yaml:1:6: '?' inside of [] or {} must be in quotes"},
      {"a: |# b\n c", "in.yaml:1:5: a comment needs a space in front of it"},
      {"a: \0"sv, "in.yaml:1:4: this character is not allowed in YAML: write \"\\x00\" in quotes"},
      {"é: \xC2\x9F",
       "in.yaml:1:4: this character is not allowed in YAML: write \"\\x9F\" in quotes"},
      {"é: \xEF\xBF\xBE",
       "in.yaml:1:4: this character is not allowed in YAML: write \"\\uFFFE\" in quotes"},
      {"a: 1\n\xEF\xBB\xBF"
       "b: 2",
       "in.yaml:2:1: a byte order mark is allowed only at the very beginning"},
      {"\xFF\xFE"
       "a",
       "in.yaml:1:1: the text is UTF-16: save it as UTF-8"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(first_line_of_error(c.text), c.error);
  }
}

TEST(YamlErrors, TabsStandOnlyInQuotesCommentsAndBlockText) {
  for (const char* bad :
       {"a:\t1", "a: 1\t", "a: x\ty", "\ta: 1", "a:\n\tb: 1", "a: 1\t# c", "[1,\t2]", "- é\t",
        "a: !!str\tx", "a: |\t\n  x", "a: x\n  \ty", "- [*a\t]", "a: 'b'\t", "# c\n\t"}) {
    SCOPED_TRACE(bad);
    EXPECT_FALSE(parse_yaml(bad, "in.yaml"));
  }
  EXPECT_EQ(error_of("a:\n\tb: 1"),
            "in.yaml:2:1: this character cannot begin a value: put the value in quotes (while "
            "scanning for the next token)\n"
            "   b: 1\n"
            "  ^");
  EXPECT_EQ(error_of("é: 1\t2"),
            "in.yaml:1:5: tabs are allowed only in quotes, comments and block text: use spaces\n"
            "  é: 1 2\n"
            "      ^");
  for (const char* good : {"a: 'x\ty'", "a: \"x\ty\"", "a: 1 # c\td", "#\t\na: 1", "a: |\n  x\ty\n",
                           "a: !!str 'x\ty' # \t", "a: &x # \t\n  'y\t'"}) {
    SCOPED_TRACE(good);
    EXPECT_EQ(error_of(good), "no error");
  }
}

TEST(YamlErrors, InvalidUtf8IsToldWithoutRepeatingIt) {
  EXPECT_EQ(error_of("a: 1\nb: é\xFF"
                     "x\n"),
            "in.yaml:2:5: byte 0xFF is not valid UTF-8\n"
            "  b: é\n"
            "      ^");
}

TEST(YamlErrors, DepthIsBounded) {
  const std::string brackets = repeated("[", 100'000);
  EXPECT_EQ(first_line_of_error(brackets), "in.yaml:1:1001: more than 1000 levels of nesting");
  EXPECT_EQ(first_line_of_error(repeated("{a: ", 100'000)),
            "in.yaml:1:4001: more than 1000 levels of nesting");
  EXPECT_EQ(first_line_of_error(repeated("- ", 100'000)),
            "in.yaml:1:2001: more than 1000 levels of nesting");
  EXPECT_EQ(first_line_of_error(repeated("? ", 100'000)),
            "in.yaml:1:2001: more than 1000 levels of nesting");
  EXPECT_EQ(error_of(repeated("[", kMaxYamlDepth) + repeated("]", kMaxYamlDepth)), "no error");
}

TEST(YamlErrors, DepthIsBoundedThroughAliases) {
  std::string text = "- &a0 []\n";
  for (int i = 1; i < 600; ++i) {
    text += "- &a" + std::to_string(i) + " [[*a" + std::to_string(i - 1) + "]]\n";
  }
  EXPECT_EQ(first_line_of_error(text),
            "in.yaml:501:11: more than 1000 levels of nesting, aliases written out");
}

TEST(YamlErrors, AliasesAreNotWrittenOutBeyondTheBudget) {
  std::string text = "a0: &a0 [lol, lol]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string name = std::to_string(i);
    text.append("a").append(name).append(": &a").append(name).append(" [");
    text.append(repeated("*a" + std::to_string(i - 1) + ", ", 3)).append("]\n");
  }
  EXPECT_EQ(first_line_of_error(text),
            "in.yaml:11:22: written out, the aliases up to here are too large");
  const std::string large = "a: &a " + repeated("x", 1 << 20U) + "\n";
  EXPECT_EQ(error_of(large + "b: [*a, *a, *a]\n"), "no error");
  EXPECT_EQ(first_line_of_error(large + "b: [" + repeated("*a, ", 100) + "]\n"),
            "in.yaml:2:133: written out, the aliases up to here are too large");
}

TEST(YamlErrors, NumbersAreBounded) {
  EXPECT_EQ(error_of("a: 1" + repeated("0", 4299)), "no error");
  for (const std::string& digits : {"1" + repeated("0", 4300), "0x" + repeated("f", 1 << 20U),
                                    "1" + repeated(":59", 1 << 20U)}) {
    EXPECT_EQ(
        first_line_of_error("a: " + digits),
        "in.yaml:1:4: '" + digits.substr(0, 60) + "…' is not an integer of at most 4300 digits");
  }
}

TEST(YamlErrors, AnExcerptOfAHugeLineIsShort) {
  const std::string line = repeated("ж", 1 << 20U);
  const std::string error = error_of("a: '" + line + "' b");
  EXPECT_LT(error.size(), 600U);
  EXPECT_EQ(error.substr(0, error.find(" (")), "in.yaml:1:1048583: did not find expected key");
}

/// Reading must not cost more than a few copies of a large scalar.
TEST(YamlErrors, LargeScalarsAreFine) {
  constexpr std::size_t kLength = std::size_t{20} << 20U;
  const Result<Node> node = parse_yaml("a: \"" + repeated("x", kLength) + "\"", "in.yaml");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->find("a")->as_string().size(), kLength);
}

}  // namespace
}  // namespace profline
