#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "config/defaults/default_item.h"
#include "formats/node.h"

namespace profline::config {

/// A config as read from its source.
struct ConfigFile {
  Node tree;                           ///< all of it, including the defaults list
  std::optional<std::string> package;  ///< of its header, `# @package db`
};

/// Something that configs are read from. Paths in it use '/' and have no extension: `db/mysql`, the
/// group `db`, and the group of everything, ``.
class ConfigSource {
 public:
  virtual ~ConfigSource() = default;

  /// `file`, `pkg`, …
  virtual std::string_view scheme() const = 0;
  /// Where it is, without the scheme.
  virtual std::string path() const = 0;
  /// False if there is nothing at that path.
  virtual bool is_available() const = 0;
  virtual bool has_group(std::string_view group) const = 0;
  virtual bool has_config(std::string_view config) const = 0;
  /// Nothing if there is no such config. The reason of an Error is one of load_config's, `header`
  /// or `config_unreadable`.
  virtual Result<std::optional<ConfigFile>> load(const std::string& config) const = 0;
  /// The names of the configs in a group, and of its subgroups; unordered.
  virtual std::vector<std::string> configs_in(std::string_view group) const = 0;
  virtual std::vector<std::string> groups_in(std::string_view group) const = 0;
};

/// `mysql` and `mysql.yaml` are both the file `mysql.yaml`.
std::string config_file_name(std::string_view config);

/// Reads a config's text: YAML and its header. `name` is used in positions.
Result<ConfigFile> read_config(std::string_view text, std::string name);

/// A folder of `*.yaml`. Positions name files relative to `path` as given.
class FolderSource final : public ConfigSource {
 public:
  /// A relative path starts at `base`.
  explicit FolderSource(std::string path, const std::filesystem::path& base = {});

  std::string_view scheme() const override { return "file"; }
  std::string path() const override { return path_; }
  bool is_available() const override { return has_group(""); }
  bool has_group(std::string_view group) const override;
  bool has_config(std::string_view config) const override;
  Result<std::optional<ConfigFile>> load(const std::string& config) const override;
  std::vector<std::string> configs_in(std::string_view group) const override;
  std::vector<std::string> groups_in(std::string_view group) const override;

 private:
  std::string path_;
  std::filesystem::path folder_;
};

/// Configs that are compiled into the program: texts by file name, `db/mysql.yaml`.
class EmbeddedSource final : public ConfigSource {
 public:
  using Files = std::map<std::string, std::string_view, std::less<>>;
  /// The texts must outlive this; `path` names the tree in messages.
  EmbeddedSource(std::string path, Files files);

  std::string_view scheme() const override { return "embedded"; }
  std::string path() const override { return path_; }
  bool is_available() const override { return true; }
  bool has_group(std::string_view group) const override;
  bool has_config(std::string_view config) const override;
  Result<std::optional<ConfigFile>> load(const std::string& config) const override;
  std::vector<std::string> configs_in(std::string_view group) const override;
  std::vector<std::string> groups_in(std::string_view group) const override;

 private:
  std::string path_;
  Files files_;
  std::set<std::string, std::less<>> groups_;
};

struct ResolveContext;

/// Where configs are searched for, in order, and who provided each place: `hydra` (its own groups),
/// `main` (the application's), `hydra.searchpath in main`, …, `schema` (last).
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

  /// Sets the place to search after all others, including later ones; only the schemas follow it.
  void set_fallback(std::string provider, std::shared_ptr<const ConfigSource> source);
  /// Adds a place before the fallback and the schemas, which stay last.
  void append(std::string provider, std::shared_ptr<const ConfigSource> source);
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::size_t last_ = 1;  // number of entries that stay last
};

/// A place in a `hydra.searchpath`: `file://conf`, `conf`. Relative paths start at `base`. An Error
/// (reason `unknown_scheme`) if nothing can be read from such a place.
Result<std::shared_ptr<const ConfigSource>> source_at(const std::string& location,
                                                      const std::filesystem::path& base);

/// A config with its defaults list separated and parsed.
struct LoadedConfig {
  Node tree;                           ///< without its defaults list
  std::optional<std::string> package;  ///< of its header
  std::vector<DefaultItem> defaults;
  /// From the schemas at the end of the search path.
  bool is_schema = false;
};

/// Finds configs along a search path and reads each once.
class ConfigRepository {
 public:
  ConfigRepository(SearchPath path, const ResolveContext& context)
      : path_(std::move(path)), context_(context) {}

  /// Null if there is no such config. The result lives as long as this object.
  Result<std::shared_ptr<const LoadedConfig>> load(const std::string& config);
  bool has_config(std::string_view config) const;
  bool has_group(std::string_view group) const;
  /// Sorted, each name once.
  std::vector<std::string> options_of(std::string_view group) const;
  std::vector<std::string> groups_of(std::string_view group) const;

  const SearchPath& path() const { return path_; }
  /// Configs that were already loaded stay.
  void replace_path(SearchPath path) { path_ = std::move(path); }

 private:
  Result<std::shared_ptr<const LoadedConfig>> read(const std::string& config) const;

  SearchPath path_;
  const ResolveContext& context_;
  std::unordered_map<std::string, std::shared_ptr<const LoadedConfig>> loaded_;
};

/// Hydra's own config groups (`hydra/output`, `hydra/job_logging`, …), as `pkg://hydra.conf`. The
/// logging options are kept for Python programs that receive our configuration.
std::shared_ptr<const ConfigSource> hydra_groups();

/// The configs that have a type (`hydra/config`, `hydra/launcher/basic`, `hydra/sweeper/basic`), as
/// `structured://`.
std::shared_ptr<const ConfigSource> hydra_schemas();

}  // namespace profline::config
