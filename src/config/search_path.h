#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "config/config_source.h"
#include "config/default_item.h"
#include "formats/node.h"

namespace profline::config {

struct ResolveContext;

/// Where configs are looked for, in this order, and who asked for each place: `hydra` (its own
/// groups), `main` (the application's), `hydra.searchpath in main`, …, `schema` (last).
class SearchPath {
 public:
  struct Entry {
    std::string provider;
    std::shared_ptr<const ConfigSource> source;  ///< shared by the compositions that use it
    /// `file:///home/me/conf`
    std::string location() const;
  };

  /// Hydra's own configs around those of the application, if there are any.
  static SearchPath standard(std::shared_ptr<const ConfigSource> main = nullptr);

  /// Where to look after everything else that is or will be there; the schemas alone come later.
  void set_fallback(std::string provider, std::shared_ptr<const ConfigSource> source);
  /// Adds in front of the fallback and the schemas, which stay last.
  void append(std::string provider, std::shared_ptr<const ConfigSource> source);
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::size_t last_ = 1;  // how many of them stay last
};

/// A place named in a `hydra.searchpath`: `file://conf`, `conf`. Relative paths start at `base`.
/// An Error (reason `unknown_scheme`) where nothing can be read from such a place.
Result<std::shared_ptr<const ConfigSource>> source_at(const std::string& location,
                                                      const std::filesystem::path& base);

/// A config with its defaults list taken out of it and read.
struct LoadedConfig {
  Node tree;                           ///< without its defaults list
  std::optional<std::string> package;  ///< of its header
  std::vector<DefaultItem> defaults;
  /// From the schemas at the end of the search path.
  bool is_schema = false;
};

/// Finds configs along a search path, each read once.
class ConfigRepository {
 public:
  ConfigRepository(SearchPath path, const ResolveContext& context)
      : path_(std::move(path)), context_(context) {}

  /// Null when there is no such config. What is returned lives as long as this.
  Result<std::shared_ptr<const LoadedConfig>> load(const std::string& config);
  bool has_config(std::string_view config) const;
  bool has_group(std::string_view group) const;
  /// Sorted, each name once.
  std::vector<std::string> options_of(std::string_view group) const;
  std::vector<std::string> groups_of(std::string_view group) const;

  const SearchPath& path() const { return path_; }
  /// What was loaded before stays.
  void replace_path(SearchPath path) { path_ = std::move(path); }

 private:
  Result<std::shared_ptr<const LoadedConfig>> read(const std::string& config) const;

  SearchPath path_;
  const ResolveContext& context_;
  std::unordered_map<std::string, std::shared_ptr<const LoadedConfig>> loaded_;
};

}  // namespace profline::config
