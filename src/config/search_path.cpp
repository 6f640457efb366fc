#include "config/search_path.h"

#include <algorithm>

#include "config/hydra_groups.h"
#include "config/interpolation.h"
#include "config/resolve.h"

namespace profline::config {
namespace {

constexpr std::string_view kSchemaProvider = "schema";

/// A package of Python code, which this program cannot look into.
class PythonPackage final : public ConfigSource {
 public:
  explicit PythonPackage(std::string path) : path_(std::move(path)) {}
  std::string_view scheme() const override { return "pkg"; }
  std::string path() const override { return path_; }
  bool is_available() const override { return false; }
  bool has_group(std::string_view /*group*/) const override { return false; }
  bool has_config(std::string_view /*config*/) const override { return false; }
  Result<std::optional<ConfigFile>> load(const std::string& /*config*/) const override {
    return std::optional<ConfigFile>();
  }
  std::vector<std::string> configs_in(std::string_view /*group*/) const override { return {}; }
  std::vector<std::string> groups_in(std::string_view /*group*/) const override { return {}; }

 private:
  std::string path_;
};

std::vector<std::string> sorted_once(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool is_interpolation(const Node& node) {
  return node.is_string() && holds_interpolation(node.as_string());
}

/// Takes the defaults list out of a config. One that is `???` counts as absent.
Result<Node> take_defaults(Node& tree, const ResolveContext& context) {
  const Node* found = tree.find("defaults");
  if (found == nullptr) return Node::list();
  Node defaults = *found;
  if (is_interpolation(defaults)) {
    Resolution resolution(tree, context);
    defaults = PL_TRY(resolution.get("defaults"));
  }
  tree.as_map().erase("defaults");
  if (is_missing(defaults)) return Node::list();
  return defaults;
}

}  // namespace

std::string SearchPath::Entry::location() const {
  return std::string(source->scheme()) + "://" + source->path();
}

SearchPath SearchPath::standard(std::shared_ptr<const ConfigSource> main) {
  SearchPath path;
  path.entries_.push_back({"hydra", hydra_groups()});
  if (main) path.entries_.push_back({"main", std::move(main)});
  path.entries_.push_back({std::string(kSchemaProvider), hydra_schemas()});
  return path;
}

void SearchPath::set_fallback(std::string provider, std::shared_ptr<const ConfigSource> source) {
  append(std::move(provider), std::move(source));
  ++last_;
}

void SearchPath::append(std::string provider, std::shared_ptr<const ConfigSource> source) {
  const std::size_t staying = std::min(last_, entries_.size());
  entries_.insert(entries_.end() - static_cast<std::ptrdiff_t>(staying),
                  {std::move(provider), std::move(source)});
}

Result<std::shared_ptr<const ConfigSource>> source_at(const std::string& location,
                                                      const std::filesystem::path& base) {
  const std::size_t at = location.find("://");
  const std::string scheme = at == std::string::npos ? "file" : location.substr(0, at);
  const std::string path = at == std::string::npos ? location : location.substr(at + 3);
  if (scheme == "file") {
    return std::shared_ptr<const ConfigSource>(std::make_shared<FolderSource>(path, base));
  }
  if (scheme == "pkg") {
    return std::shared_ptr<const ConfigSource>(std::make_shared<PythonPackage>(path));
  }
  if (scheme == "structured") return hydra_schemas();
  return Error(ErrorKind::Config, "nothing is known about '" + scheme +
                                      "://' in the search path '" + location +
                                      "'; folders are written file://path or path")
      .with_reason("unknown_scheme");
}

Result<std::shared_ptr<const LoadedConfig>> ConfigRepository::load(const std::string& config) {
  const auto known = loaded_.find(config);
  if (known != loaded_.end()) return known->second;
  std::shared_ptr<const LoadedConfig> read_now = PL_TRY(read(config));
  loaded_.emplace(config, read_now);
  return read_now;
}

Result<std::shared_ptr<const LoadedConfig>> ConfigRepository::read(
    const std::string& config) const {
  for (const SearchPath::Entry& entry : path_.entries()) {
    std::optional<ConfigFile> file = PL_TRY(entry.source->load(config));
    if (!file) continue;
    auto loaded = std::make_shared<LoadedConfig>();
    loaded->tree = std::move(file->tree);
    loaded->package = std::move(file->package);
    loaded->is_schema = entry.provider == kSchemaProvider;
    if (loaded->tree.is_map()) {
      const Node defaults = PL_TRY(take_defaults(loaded->tree, context_));
      loaded->defaults = PL_TRY(read_defaults(defaults, config));
    }
    return std::shared_ptr<const LoadedConfig>(std::move(loaded));
  }
  return std::shared_ptr<const LoadedConfig>();
}

bool ConfigRepository::has_config(std::string_view config) const {
  return std::any_of(
      path_.entries().begin(), path_.entries().end(),
      [&](const SearchPath::Entry& entry) { return entry.source->has_config(config); });
}

bool ConfigRepository::has_group(std::string_view group) const {
  return std::any_of(
      path_.entries().begin(), path_.entries().end(),
      [&](const SearchPath::Entry& entry) { return entry.source->has_group(group); });
}

std::vector<std::string> ConfigRepository::options_of(std::string_view group) const {
  std::vector<std::string> names;
  for (const SearchPath::Entry& entry : path_.entries()) {
    for (std::string& name : entry.source->configs_in(group)) names.push_back(std::move(name));
  }
  return sorted_once(std::move(names));
}

std::vector<std::string> ConfigRepository::groups_of(std::string_view group) const {
  std::vector<std::string> names;
  for (const SearchPath::Entry& entry : path_.entries()) {
    for (std::string& name : entry.source->groups_in(group)) names.push_back(std::move(name));
  }
  return sorted_once(std::move(names));
}

}  // namespace profline::config
