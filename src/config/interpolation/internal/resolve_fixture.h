#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "config/interpolation/load.h"
#include "config/interpolation/resolve.h"
#include "config/interpolation/value.h"

namespace profline::config::internal {

/// A configuration written in YAML, in an environment that the test sets. Results are shown as in
/// Python, failures as users see them with the reason in front.
class ResolveFixture : public testing::Test {
 protected:
  ResolveFixture() : registry_(ResolverRegistry::standard()) {
    context_.resolvers = &registry_;
    context_.environment = [this](std::string_view name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    };
    context_.clock = [this] {
      ++clock_reads_;
      return LocalTime{2031, 2, 3, 4, 5, 6, 789};
    };
    context_.warn = [this](std::string message) { warnings_.push_back(std::move(message)); };
  }

  static Node load(std::string_view yaml) {
    Result<Node> tree = load_config(yaml, "conf/a.yaml");
    EXPECT_TRUE(tree) << tree.error().to_string();
    return tree ? *tree : Node::map();
  }

  std::string get(std::string_view yaml, std::string_view key) {
    const Node tree = load(yaml);
    return shown(Resolution(tree, context_).get(key));
  }

  std::string select(std::string_view yaml, std::string_view key) {
    const Node tree = load(yaml);
    Result<std::optional<Node>> found = Resolution(tree, context_).select(key);
    if (!found) return shown(Result<Node>(found.error()));
    return *found ? python_repr(**found) : "nothing";
  }

  std::string all(std::string_view yaml) {
    const Node tree = load(yaml);
    return shown(Resolution(tree, context_).resolve_all());
  }

  std::string in_place(std::string_view yaml) {
    Node tree = load(yaml);
    const Result<void> done = resolve_in_place(tree, context_);
    return done ? python_repr(tree) : shown(Result<Node>(done.error()));
  }

  static std::string shown(const Result<Node>& result) {
    if (result) return python_repr(*result);
    return std::string(result.error().reason()) + " | " + result.error().to_string();
  }

  ResolverRegistry registry_;
  ResolveContext context_;
  std::map<std::string, std::string, std::less<>> variables_;
  std::vector<std::string> warnings_;
  int clock_reads_ = 0;
};

}  // namespace profline::config::internal
