#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/node.h"

namespace profline::config {

/// A config as its source gives it.
struct ConfigFile {
  Node tree;                           ///< all of it, the defaults list included
  std::optional<std::string> package;  ///< of its header, `# @package db`
};

/// Something that configs are read from. Paths inside of it use '/' and lack the extension:
/// `db/mysql`, the group `db`, and the group that is everything, ``.
class ConfigSource {
 public:
  virtual ~ConfigSource() = default;

  /// `file`, `pkg`, …
  virtual std::string_view scheme() const = 0;
  /// Where it is, without the scheme.
  virtual std::string path() const = 0;
  /// False when there is nothing at that path.
  virtual bool is_available() const = 0;
  virtual bool has_group(std::string_view group) const = 0;
  virtual bool has_config(std::string_view config) const = 0;
  /// Nothing when there is no such config. The reason of an Error is one of load_config's,
  /// `header` or `config_unreadable`.
  virtual Result<std::optional<ConfigFile>> load(const std::string& config) const = 0;
  /// The names of the configs in a group, and of the groups in it; in no order.
  virtual std::vector<std::string> configs_in(std::string_view group) const = 0;
  virtual std::vector<std::string> groups_in(std::string_view group) const = 0;
};

/// `mysql` and `mysql.yaml` are both the file `mysql.yaml`.
std::string config_file_name(std::string_view config);

/// Reads a config's text: YAML and its header. `name` stands for it in positions.
Result<ConfigFile> read_config(std::string_view text, std::string name);

/// A folder of `*.yaml`. Files that are read are named as `path` was given.
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

/// Configs that are part of the program: texts by file name, `db/mysql.yaml`.
class EmbeddedSource final : public ConfigSource {
 public:
  using Files = std::map<std::string, std::string_view, std::less<>>;
  /// The texts must outlive it; `path` names the tree in messages.
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

}  // namespace profline::config
