#include "formats/yaml.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace profline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Node read(std::string_view text) {
  Result<Node> node = parse_yaml(text, "in.yaml");
  EXPECT_TRUE(node) << (node ? "" : node.error().to_string());
  return node ? std::move(*node) : Node();
}

Node value_of(std::string_view scalar) {
  const Node document = read("- " + std::string(scalar));
  return document.is_list() && document.as_list().size() == 1 ? document.as_list()[0] : Node();
}

Node text(std::string value) {
  return Node::string(std::move(value));
}

TEST(Yaml, GivesPlainScalarsTheTypesOfOmegaConf) {
  struct Case {
    std::string_view scalar;
    Node expected;
  };
  const Case cases[] = {
      {"~", Node()},
      {"Null", Node()},
      {"nULL", text("nULL")},
      {"YES", Node::boolean(true)},
      {"off", Node::boolean(false)},
      {"oFF", text("oFF")},
      {"y", text("y")},
      {"-0", Node::integer(0)},
      {"010", Node::integer(8)},
      {"08", text("08")},
      {"0b1_01", Node::integer(5)},
      {"-0x_1F", Node::integer(-31)},
      {"0X1F", text("0X1F")},
      {"0o17", text("0o17")},
      {"1_000_", Node::integer(1000)},
      {"190:20:30", Node::integer(685230)},
      {"1:60", text("1:60")},
      {"9223372036854775807", Node::integer(std::numeric_limits<std::int64_t>::max())},
      {"-9223372036854775808", Node::integer(std::numeric_limits<std::int64_t>::min())},
      {"-9223372036854775809", Node::big_integer("-9223372036854775809")},
      {"0xFFFFFFFFFFFFFFFFF", Node::big_integer("295147905179352825855")},
      {"1:00:00:00:00:00:00:00:00:00:00:00:01", Node::big_integer("2176782336000000000001")},
      {"1e3", Node::real(1000)},
      {"1.", Node::real(1)},
      {"1.5e3", Node::real(1500)},
      {"1__0.5", Node::real(10.5)},
      {"1__0.5e3", text("1__0.5e3")},
      {".5", Node::real(0.5)},
      {"-.5", text("-.5")},
      {".5e3", text(".5e3")},
      {".5e-3", Node::real(0.0005)},
      {"1:30.5", Node::real(90.5)},
      {"-.INF", Node::real(-kInfinity)},
      {".nan", Node::real(std::nan(""))},
      {"-.nan", text("-.nan")},
      {"1e400", Node::real(kInfinity)},
      {"-1e-400", Node::real(-0.0)},
      {"1e99999999999999999999", Node::real(kInfinity)},
      {"0e99999999999999999999", Node::real(0)},
      {"2024-01-02", text("2024-01-02")},
      {"2024-01-02 03:04:05", text("2024-01-02 03:04:05")},
      {"???", text("???")},
      {"${a.b}", text("${a.b}")},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.scalar);
    EXPECT_EQ(value_of(c.scalar), c.expected);
  }
}

TEST(Yaml, TagsChooseTheType) {
  struct Case {
    std::string_view scalar;
    Node expected;
  };
  const Case cases[] = {
      {"!!str 1", text("1")},
      {"!!int '7'", Node::integer(7)},
      {"!!int ' 7 '", Node::integer(7)},
      {"!!int '-0o17'", Node::integer(-15)},
      {"!!float 1", Node::real(1)},
      {"!!float infinity", Node::real(kInfinity)},
      {"!!bool yEs", Node::boolean(true)},
      {"!!null x", Node()},
      {"!!binary aGk=", Node::bytes("hi")},
      {"!!binary 'a G.k='", Node::bytes("hi")},
      {"! '1'", Node::integer(1)},
      {"! [1]", Node::list({Node::integer(1)})},
      {"!!omap [a: 1]", Node::list({Node::list({text("a"), Node::integer(1)})})},
      {"!<tag:yaml.org,2002:str> ~", text("~")},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.scalar);
    EXPECT_EQ(value_of(c.scalar), c.expected);
  }
}

TEST(Yaml, NothingIsNull) {
  for (const char* nothing :
       {"", "\n\n", "# only a comment", "---", "--- ~\n...\n", "\xEF\xBB\xBF"}) {
    SCOPED_TRACE(nothing);
    EXPECT_EQ(read(nothing), Node());
  }
}

TEST(Yaml, MarksEveryValueAndKeyInCharacters) {
  const Node node = read("é: 日\n'ключ': [ä, {b: 😀, c: 1}]\n");
  const auto place = [](const Node& n) {
    EXPECT_EQ(n.position().source, "in.yaml");
    return std::pair(n.position().line, n.position().column);
  };
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_EQ(place(node), Place(1, 1));
  const NodeMap& map = node.as_map();
  EXPECT_EQ(place(map.begin()->key), Place(1, 1));
  EXPECT_EQ(place(map.begin()->value), Place(1, 4));
  const Node& list = (map.begin() + 1)->value;
  EXPECT_EQ(place((map.begin() + 1)->key), Place(2, 1));
  EXPECT_EQ(place(list), Place(2, 9));
  EXPECT_EQ(place(list.as_list()[0]), Place(2, 10));
  EXPECT_EQ(place(list.as_list()[1]), Place(2, 13));
  EXPECT_EQ(place(list.as_list()[1].as_map().begin()->value), Place(2, 17));
  EXPECT_EQ(place((list.as_list()[1].as_map().begin() + 1)->key), Place(2, 20));
}

TEST(Yaml, WhatAnAliasStandsForIsMarkedWhereItIsWritten) {
  const Node node = read("a: &x {k: 1}\nb: *x\n");
  EXPECT_EQ(*node.find("b"), *node.find("a"));
  EXPECT_EQ(node.find_path("b.k")->position(), (Position{"in.yaml", 1, 11}));
}

std::string shown(const Node& node) {
  std::string out;
  for (const NodeMap::Entry& entry : node.as_map()) {
    out += entry.key.as_string() + '=' + std::to_string(entry.value.as_int()) + ' ';
  }
  return out;
}

TEST(Yaml, PutsMergedEntriesFirstAndLetsTheMapsOwnWin) {
  constexpr std::string_view kBases = "x: &x {k: 1, l: 2}\ny: &y {k: 5, n: 6}\n";
  struct Case {
    std::string_view map, expected;
  };
  constexpr Case kCases[] = {
      {"{l: 3, m: 4, <<: *x}", "k=1 l=3 m=4 "}, {"{<<: [*x, *y]}", "k=1 n=6 l=2 "},
      {"{<<: [*y, *x]}", "k=5 l=2 n=6 "},       {"{<<: *x, <<: *y}", "k=5 l=2 n=6 "},
      {"{<<: {<<: *x, l: 7}}", "k=1 l=7 "},     {"{<<: [], z: 1}", "z=1 "},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.map);
    const Node node = read(std::string(kBases) + "it: " + std::string(c.map));
    ASSERT_NE(node.find("it"), nullptr);
    EXPECT_EQ(shown(*node.find("it")), c.expected);
  }
  EXPECT_EQ(read("{'<<': 1}"), read("{\"<<\": 1}"));
  EXPECT_EQ(shown(read("{'<<': 1}")), "<<=1 ");
}

TEST(Yaml, TakesEqualNumbersForOneKey) {
  const Node node = read("1: a\n1.0: b\ntrue: c\n'1': d\n0: e\nno: f\n");
  ASSERT_EQ(node.as_map().size(), 3U);
  EXPECT_EQ(node.as_map().find(Node::integer(1))->as_string(), "c");
  EXPECT_EQ(node.as_map().find(Node::integer(0))->as_string(), "f");
  EXPECT_EQ(node.as_map().find("1")->as_string(), "d");
}

}  // namespace
}  // namespace profline
