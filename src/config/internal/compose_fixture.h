#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/compose.h"
#include "formats/json.h"

namespace profline::config::internal {

using Files = EmbeddedSource::Files;
using Texts = std::vector<std::string>;

/// Composes a tree of configs that the test defines.
class Configs {
 public:
  explicit Configs(Files files)
      : source_(std::make_shared<EmbeddedSource>("conf", std::move(files))) {
    context_.resolvers = &resolvers_;
    context_.environment = [this](std::string_view name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      return found == environment.end() ? std::nullopt : std::optional(found->second);
    };
    context_.clock = [] { return LocalTime{2031, 2, 3, 4, 5, 6, 0}; };
  }

  Configs(const Configs&) = delete;
  Configs& operator=(const Configs&) = delete;

  Result<Composition> compose(std::optional<std::string> name, Texts overrides = {},
                              RunMode mode = RunMode::Run) const {
    ComposeRequest request;
    request.search_path = SearchPath::standard(source_);
    request.config_name = std::move(name);
    request.overrides = std::move(overrides);
    request.mode = mode;
    request.cwd = "/home/me/here";
    return config::compose(request, context_);
  }

  /// The job's config as one line of JSON, or the Error as it is printed.
  std::string config(std::optional<std::string> name, Texts overrides = {}) const {
    const Result<Composition> composed = compose(std::move(name), std::move(overrides));
    return composed ? json(composed->config) : composed.error().to_string();
  }

  /// `config@package`, in merge order, without Hydra's own; or the Error as printed.
  std::string defaults(std::optional<std::string> name, Texts overrides = {}) const {
    const Result<Composition> composed = compose(std::move(name), std::move(overrides));
    if (!composed) return composed.error().to_string();
    std::string out;
    for (const ResolvedDefault& entry : composed->defaults.entries) {
      if (entry.config.starts_with("hydra/")) continue;
      out += (out.empty() ? "" : " ") + entry.config;
      if (!entry.package.empty()) out += "@" + entry.package;
    }
    return out;
  }

  /// The reason of the Error; `none` on success.
  std::string reason(std::optional<std::string> name, Texts overrides = {}) const {
    const Result<Composition> composed = compose(std::move(name), std::move(overrides));
    return composed ? "none" : std::string(composed.error().reason());
  }

  /// A value of the whole configuration, resolved, as JSON.
  std::string value(const std::string& key, std::optional<std::string> name,
                    Texts overrides = {}) const {
    const Result<Composition> composed = compose(std::move(name), std::move(overrides));
    if (!composed) return composed.error().to_string();
    Resolution resolution(composed->root, context_);
    const Result<Node> found = resolution.get(key);
    return found ? json(*found) : found.error().to_string();
  }

  static std::string json(const Node& node) {
    Result<std::string> text = write_json(node, {.indent = 0});
    return text ? *text : text.error().to_string();
  }

  std::map<std::string, std::string, std::less<>> environment;

 private:
  ResolverRegistry resolvers_ = ResolverRegistry::standard();
  ResolveContext context_;
  std::shared_ptr<const ConfigSource> source_;
};

}  // namespace profline::config::internal
