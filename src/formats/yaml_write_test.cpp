#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "formats/yaml.h"

namespace profline {
namespace {

std::string written(std::string_view yaml) {
  const Result<Node> node = parse_yaml(yaml, "in.yaml");
  EXPECT_TRUE(node) << (node ? "" : node.error().to_string());
  return node ? write_yaml(*node) : "";
}

TEST(YamlWrite, WritesBlockStyleAsOmegaConfDoes) {
  EXPECT_EQ(written("{a: [1, {b: 2, c: [x, [z]]}, []], d: {}, e: ~, f: yes}"),
            "a:\n"
            "- 1\n"
            "- b: 2\n"
            "  c:\n"
            "  - x\n"
            "  - - z\n"
            "- []\n"
            "d: {}\n"
            "e: null\n"
            "f: true\n");
}

TEST(YamlWrite, QuotesWhatWouldReadAsSomethingElse) {
  struct Case {
    std::string text, line;
  };
  const Case cases[] = {
      {"word", "word"},
      {"", "''"},
      {"1", "'1'"},
      {"1e3", "'1e3'"},
      {"1_0", "'1_0'"},
      {"inf", "'inf'"},
      {"y", "'y'"},
      {"null", "'null'"},
      {"1:30", "'1:30'"},
      {"0x1F", "'0x1F'"},
      {"2024-01-02", "'2024-01-02'"},
      {"2024-1-2", "2024-1-2"},
      {"2024-1-2 3:04:05", "'2024-1-2 3:04:05'"},
      {"=", "'='"},
      {"<<", "'<<'"},
      {"a: b", "'a: b'"},
      {"a:b", "a:b"},
      {"a #b", "'a #b'"},
      {"it's", "it's"},
      {"'", "''''"},
      {"- a", "'- a'"},
      {"-a", "-a"},
      {"[a]", "'[a]'"},
      {"???", "???"},
      {"${a}", "${a}"},
      {" a", "' a'"},
      {"a\tb", R"("a\tb")"},
      {"a\nb", "'a\n\n  b'"},
      {"a \nb", R"("a \nb")"},
      {"é😀", "é😀"},
      {"😀\t", R"("\U0001F600\t")"},
      {std::string("\0\x7F", 2), R"("\0\x7F")"},
      {"a\u2028b\u0085", R"("a\Lb\N")"},
      {"\xFF", "\uFFFD"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.line);
    NodeMap map;
    map.set("k", Node::string(c.text));
    EXPECT_EQ(write_yaml(Node::map(std::move(map))), "k: " + c.line + "\n");
  }
}

TEST(YamlWrite, WritesNumbersAsPythonDoes) {
  struct Case {
    double value;
    std::string_view text;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const Case cases[] = {
      {1, "1.0"},
      {0.1, "0.1"},
      {-0.0, "-0.0"},
      {1e15, "1000000000000000.0"},
      {1e16, "1.0e+16"},
      {1.5e16, "1.5e+16"},
      {0.0001, "0.0001"},
      {0.00001, "1.0e-05"},
      {5e-324, "5.0e-324"},
      {123.456, "123.456"},
      {infinity, ".inf"},
      {-infinity, "-.inf"},
      {std::nan(""), ".nan"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(write_yaml(Node::list({Node::real(c.value)})), "- " + std::string(c.text) + "\n");
  }
  EXPECT_EQ(write_yaml(Node::list({Node::big_integer("-9223372036854775809")})),
            "- -9223372036854775809\n");
}

TEST(YamlWrite, FoldsLongText) {
  const std::string words =
      "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff ggggggggg "
      "hhhhhhhhh iiiiiiiii jjjjjjjjj";
  const std::string first = words.substr(0, 79);
  const std::string rest = words.substr(80);
  EXPECT_EQ(written("k: " + words), "k: " + first + "\n  " + rest + "\n");
  EXPECT_EQ(written("k: '" + words + ":'"), "k: '" + first + "\n  " + rest + ":'\n");
  EXPECT_EQ(written("k: \"" + words + "\\t\""), "k: \"" + first + "\\\n  \\ " + rest + "\\t\"\n");
}

TEST(YamlWrite, WritesKeysThatAreNotShortWordsBehindAQuestionMark) {
  const std::string long_key(123, 'k');
  EXPECT_EQ(written("'': 1"), "? ''\n: 1\n");
  EXPECT_EQ(written("? \"a\\nb\"\n: [1]"), "? 'a\n\n  b'\n: - 1\n");
  EXPECT_EQ(written("? " + long_key + "\n: 1"), "? " + long_key + "\n: 1\n");
  EXPECT_EQ(written(long_key.substr(1) + ": 1"), long_key.substr(1) + ": 1\n");
  EXPECT_EQ(written("1: a\n1.5: b\nno: c\n'1': d\n!!binary aGk=: e"),
            "1: a\n1.5: b\nfalse: c\n'1': d\n? !!binary |\n  aGk=\n: e\n");
}

TEST(YamlWrite, WritesARootThatIsNoCollection) {
  EXPECT_EQ(write_yaml(Node()), "null\n...\n");
  EXPECT_EQ(write_yaml(Node::string("1")), "'1'\n");
  EXPECT_EQ(write_yaml(Node::bytes("hi")), "!!binary |\n  aGk=\n");
  EXPECT_EQ(write_yaml(Node::bytes("")), "!!binary \"\"\n");
  EXPECT_EQ(write_yaml(Node::map()), "{}\n");
}

/// Random trees of everything that is hard to write.
class Trees {
 public:
  Node tree(int depth) {
    const std::uint32_t kind = pick(10);
    if (depth == 0 || kind < 4) return scalar();
    const std::uint32_t size = pick(5);
    if (kind < 7) {
      Node::List list;
      for (std::uint32_t i = 0; i < size; ++i) list.push_back(tree(depth - 1));
      return Node::list(std::move(list));
    }
    NodeMap map;
    for (std::uint32_t i = 0; i < size; ++i) {
      Node key = scalar();
      // The reader refuses null keys and numbers that are equal as keys.
      if (!key.is_string() && !key.is_float()) key = Node::string("key");
      map.set(std::move(key), tree(depth - 1));
    }
    return Node::map(std::move(map));
  }

 private:
  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_()) % count; }

  std::string text() {
    constexpr std::string_view kParts[] = {
        "word",   " ",      " ",      "  ",         "\n",
        "\n\n",   "'",      "\"",     "\\",         "#",
        ": ",     ":",      "- ",     "-",          "?",
        ",",      "[",      "{",      "&a",         "*a",
        "!",      "|",      ">",      "%",          "@",
        "`",      "~",      "null",   "yes",        "1",
        "1e3",    ".",      "...",    "---",        "=",
        "<<",     "\t",     "\r",     "é",          "日本語",
        "😀",      "\u0085", "\u00A0", "\u2028",     "\uFEFF",
        "\uFFFE", "\x01",   "\x7F",   "2024-01-02", "longer_words_to_reach_the_margin"};
    std::string out;
    const std::uint32_t length = pick(pick(8) == 0 ? 60 : 5);
    for (std::uint32_t i = 0; i < length; ++i) out += kParts[pick(std::size(kParts))];
    return out;
  }

  Node scalar() {
    switch (pick(12)) {
      case 0:
        return {};
      case 1:
        return Node::boolean(pick(2) == 0);
      case 2:
        return Node::integer(static_cast<std::int64_t>(random_()));
      case 3:
        return Node::real(std::bit_cast<double>(random_()));
      case 4:
        return Node::big_integer("-1" + std::string(19 + pick(100), '7'));
      case 5:
        return Node::bytes(text());
      default:
        return Node::string(text());
    }
  }

  std::mt19937_64 random_{20240101};
};

TEST(YamlWrite, WhatIsWrittenReadsBackEqual) {
  Trees trees;
  for (int i = 0; i < 5000; ++i) {
    const Node tree = trees.tree(4);
    const std::string yaml = write_yaml(tree);
    const Result<Node> back = parse_yaml(yaml, "written.yaml");
    ASSERT_TRUE(back) << back.error().to_string() << "\n" << yaml;
    ASSERT_EQ(*back, tree) << yaml;
  }
}

}  // namespace
}  // namespace profline
