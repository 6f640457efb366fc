#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/node.h"

namespace profline::config {

/// One entry of a defaults list, and its context: relative names are relative to the config that
/// contains the list.
///
///   - db: mysql              a group and the option chosen
///   - optional db@backup: [a, b]
///   - override /db: null
///   - base_config            a config by its name
///   - _self_                 where the config's own content goes
class DefaultItem {
 public:
  enum class Kind { Config, Group, Root };

  static DefaultItem config(std::string path);
  static DefaultItem group(std::string group, Node value);
  /// The parent of Hydra's config and the primary one.
  static DefaultItem root();

  Kind kind() const { return kind_; }
  bool is_group() const { return kind_ == Kind::Group; }
  bool is_root() const { return kind_ == Kind::Root; }
  bool is_self() const;
  /// The option is a list.
  bool is_options() const { return is_group() && value_.is_list(); }
  bool is_interpolation() const;
  /// The option is `???`.
  bool is_missing() const;

  /// Sets the group and package of the config that contains this entry.
  void set_parent(const std::string& group, const std::string& package);
  /// The package in the header of the chosen config. It is absolute.
  void set_header(const std::optional<std::string>& package);

  /// `db`, from the root; for a config, its folder.
  std::string group_path() const;
  /// `db/mysql`
  std::string config_path() const;
  /// The option, or the last part of the config's path; nothing if the option is null.
  std::optional<std::string> name() const;
  /// The package its content goes into; '' is the root of everything.
  std::string final_package(bool with_header = true) const;
  /// Its name in overrides: `db`, or `db@backup` if its package is not `db`.
  std::string override_key() const;

  const std::string& path() const { return path_; }
  const std::optional<std::string>& package() const { return package_; }
  /// Its own package, else that of the header.
  std::optional<std::string> package_or_header() const;
  const std::string& parent_group() const { return parent_group_; }
  const Node& value() const { return value_; }
  void set_value(Node value) { value_ = std::move(value); }
  void set_path(std::string path) { path_ = std::move(path); }
  void set_package(std::optional<std::string> package);

  /// Where it was written.
  const Mark& mark() const { return mark_; }
  void set_mark(Mark mark) { mark_ = std::move(mark); }

  bool is_optional = false;
  bool is_override = false;
  bool is_primary = false;
  bool is_deleted = false;
  /// Added on the command line.
  bool is_appended = false;

 private:
  std::string relative_group() const;

  Kind kind_ = Kind::Config;
  std::string path_;  // the name of a group, or of a config; '/' in front: from the root
  Node value_;        // for a group: null, a string, or a list of strings
  std::optional<std::string> package_;
  std::optional<std::string> header_;
  std::string parent_group_;
  std::string parent_package_;
  Mark mark_;
};

/// Reads a config's defaults list. An Error has the reason `defaults_not_list`,
/// `defaults_item_invalid` or `self_package`.
Result<std::vector<DefaultItem>> read_defaults(const Node& defaults, const std::string& config);

}  // namespace profline::config
