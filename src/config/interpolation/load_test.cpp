#include "config/interpolation/load.h"

#include <gtest/gtest.h>

#include "config/interpolation/value.h"

namespace profline::config {
namespace {

struct LoadCase {
  std::string_view yaml;
  std::string_view shown;
};

std::string shown(const Result<Node>& result) {
  if (result) return python_repr(*result);
  return std::string(result.error().reason()) + " | " + result.error().to_string();
}

TEST(LoadConfig, TakesMapsListsNothingAndText) {
  constexpr LoadCase kCases[] = {
      {"a: 1\nb: [x]", "{'a': 1, 'b': ['x']}"},
      {"- 1\n- 2", "[1, 2]"},
      {"", "{}"},
      {"null", "{}"},
      {"abc def", "{'abc def': None}"},
      {"'a: 1'", "{'a': 1}"},  // a string is parsed once more
      {"'null'", "{}"},
      {"a: ${b}\nc: '\\${'", "{'a': '${b}', 'c': '\\\\${'}"},
      {"${a}: 1\n1: 2", "{'${a}': 1, 1: 2}"},
  };
  for (const LoadCase& c : kCases) EXPECT_EQ(shown(load_config(c.yaml, "f")), c.shown) << c.yaml;
}

TEST(LoadConfig, RefusesWhatIsNoConfig) {
  constexpr LoadCase kCases[] = {
      {"1.5", "yaml_root_type | f:1:1: a config must be a map or a list, not a float"},
      {"'true'", "yaml_root_type | f:1:1: a config must be a map or a list, not a boolean"},
      {"a: {b: ['${c']}",
       "grammar | f:1:9: a.b[0]: the text ends where '}', '.', '[' or ':' should be\n  ${c\n     "
       "^"},
      {"a: {~: 1}",
       "key_type | f:1:5: null cannot be a key: quote it to use the text\n  a: {~: 1}\n      ^"},
      {"a: !!timestamp 2024-01-02",
       "validation | f:1:4: !!timestamp is not supported: leave the tag out\n"
       "  a: !!timestamp 2024-01-02\n     ^"},
      {"a: &x {k: *x}",
       "circular | f:1:11: alias '*x' is inside its own anchor\n"
       "  a: &x {k: *x}\n            ^"},
      {"a: @b",
       "yaml | f:1:4: this character cannot begin a value: put the value in quotes (while "
       "scanning for the next token)\n  a: @b\n     ^"},
  };
  for (const LoadCase& c : kCases) EXPECT_EQ(shown(load_config(c.yaml, "f")), c.shown) << c.yaml;
}

TEST(CreateConfig, TakesTextForAKey) {
  EXPECT_EQ(shown(create_config("a: 1", "f")), "{'a': 1}");
  EXPECT_EQ(shown(create_config("'a: 1'", "f")), "{'a: 1': None}");
  EXPECT_EQ(shown(create_config("5", "f")),
            "yaml_root_type | f:1:1: a config must be a map or a list, not an integer");
}

TEST(CheckConfig, LooksAtTreesThatWereNotRead) {
  NodeMap map;
  map.set(Node(), Node::integer(1));
  const Result<void> checked = check_config(Node::list({Node::map(std::move(map))}));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message(), "[0]: null cannot be a key");
  EXPECT_EQ(checked.error().reason(), "key_type");
  EXPECT_TRUE(check_config(Node::string("${a}")));
}

}  // namespace
}  // namespace profline::config
