#include "config/defaults/default_item.h"

#include <algorithm>

#include "base/strings.h"
#include "config/interpolation/expression.h"

namespace profline::config {
namespace {

constexpr std::string_view kSelf = "_self_";
constexpr std::string_view kGlobal = "_global_";
constexpr std::string_view kGroup = "_group_";
constexpr std::string_view kMissing = "???";

std::string dotted(std::string path) {
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

std::string_view from_root(std::string_view path) {
  return path.starts_with('/') ? path.substr(1) : path;
}

std::string below(const std::string& parent, std::string_view path) {
  if (parent.empty()) return std::string(path);
  return path.empty() ? parent : parent + "/" + std::string(path);
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

Error item_error(const Node& at, const std::string& config, const std::string& message) {
  return Error(ErrorKind::Config, "in the defaults list of '" + config + "': " + message,
               at.position())
      .with_reason("defaults_item_invalid");
}

/// `db@backup:old` -> `db` and `backup`. The part after the colon used to be a renaming.
struct GroupAndPackage {
  std::string group;
  std::optional<std::string> package;
};

GroupAndPackage split_package(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return {std::string(text), std::nullopt};
  const std::string_view package = text.substr(at + 1);
  return {std::string(text.substr(0, at)), std::string(package.substr(0, package.find(':')))};
}

Result<void> check_options(const Node& value, const std::string& config) {
  for (const Node& option : value.as_list()) {
    if (option.is_string()) continue;
    return item_error(option, config,
                      "an option must be a string, not " + std::string(describe(option.kind())));
  }
  return {};
}

/// `override /db@backup: mysql`
Result<DefaultItem> read_group(const Node& item, const std::string& config) {
  const NodeMap& map = item.as_map();
  if (map.size() != 1) {
    return item_error(item, config,
                      "an entry must be one group and its option, but this has " +
                          std::to_string(map.size()) + " keys");
  }
  const NodeMap::Entry& entry = *map.begin();
  if (!entry.key.is_string()) {
    return item_error(entry.key, config,
                      "a group must be a string, not " + std::string(describe(entry.key.kind())));
  }
  const Node& value = entry.value;
  if (!value.is_null() && !value.is_string() && !value.is_list()) {
    return item_error(value, config,
                      "an option must be a string, a list of strings or null, not " +
                          std::string(describe(value.kind())));
  }
  if (value.is_list()) PL_TRY(check_options(value, config));

  GroupAndPackage name = split_package(entry.key.as_string());
  const std::vector<std::string_view> words = split(name.group, ' ');
  DefaultItem out = DefaultItem::group(std::string(words.back()), value);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "optional") {
      out.is_optional = true;
    } else if (words[i] == "override") {
      out.is_override = true;
    } else {
      break;
    }
  }
  if (out.path().empty()) return item_error(entry.key, config, "the name of the group is missing");
  out.set_package(std::move(name.package));
  out.set_mark(entry.key.mark());
  return out;
}

Result<DefaultItem> read_item(const Node& item, const std::string& config) {
  if (item.is_map()) return read_group(item, config);
  if (!item.is_string()) {
    return item_error(item, config,
                      "an entry must be 'group: option' or the name of a config, not " +
                          std::string(describe(item.kind())));
  }
  GroupAndPackage name = split_package(item.as_string());
  DefaultItem out = DefaultItem::config(std::move(name.group));
  if (out.is_self() && name.package) {
    return Error(ErrorKind::Config,
                 "in the defaults list of '" + config +
                     "': _self_ goes into the config's own package and takes no other",
                 item.position())
        .with_reason("self_package");
  }
  out.set_package(std::move(name.package));
  out.set_mark(item.mark());
  return out;
}

}  // namespace

DefaultItem DefaultItem::config(std::string path) {
  DefaultItem item;
  item.path_ = std::move(path);
  return item;
}

DefaultItem DefaultItem::group(std::string group, Node value) {
  DefaultItem item;
  item.kind_ = Kind::Group;
  item.path_ = std::move(group);
  item.value_ = std::move(value);
  return item;
}

DefaultItem DefaultItem::root() {
  DefaultItem item;
  item.kind_ = Kind::Root;
  return item;
}

void DefaultItem::set_package(std::optional<std::string> package) {
  package_ = std::move(package);
  if (package_ == "_here_") package_ = "";
}

bool DefaultItem::is_self() const {
  if (is_group()) return value_.is_string() && value_.as_string() == kSelf;
  return path_ == kSelf;
}

bool DefaultItem::is_interpolation() const {
  if (is_group()) return value_.is_string() && holds_interpolation(value_.as_string());
  return kind_ == Kind::Config && holds_interpolation(config_path());
}

bool DefaultItem::is_missing() const {
  return !is_root() && name() == kMissing;
}

void DefaultItem::set_parent(const std::string& group, const std::string& package) {
  parent_group_ = group;
  parent_package_ = package;
  if (package_ && package_->find(kGroup) != std::string::npos) {
    replace_all(*package_, kGroup, dotted(group_path()));
    package_ = std::string(kGlobal) + "." + *package_;
  }
}

void DefaultItem::set_header(const std::optional<std::string>& package) {
  if (!package) return;
  if (*package == kGlobal || package->starts_with("_global_.")) {
    header_ = *package;
  } else {
    header_ = std::string(kGlobal) + "." + *package;
  }
}

std::string DefaultItem::relative_group() const {
  const std::string_view path = from_root(path_);
  if (is_group()) return std::string(path);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

std::string DefaultItem::group_path() const {
  return path_.starts_with('/') ? relative_group() : below(parent_group_, relative_group());
}

std::string DefaultItem::config_path() const {
  if (is_root()) return "<root>";
  if (is_group()) return group_path() + "/" + name().value_or("None");
  if (path_.starts_with('/')) return path_.substr(1);
  return parent_group_.empty() ? path_ : parent_group_ + "/" + path_;
}

std::optional<std::string> DefaultItem::name() const {
  if (is_group()) return value_.is_string() ? std::optional(value_.as_string()) : std::nullopt;
  return path_.substr(path_.rfind('/') + 1);  // npos + 1 is 0: all of it
}

std::optional<std::string> DefaultItem::package_or_header() const {
  return package_ ? package_ : header_;
}

std::string DefaultItem::final_package(bool with_header) const {
  const std::optional<std::string> given = with_header ? package_or_header() : package_;
  const std::string own = given ? *given : dotted(relative_group());
  std::string package = parent_package_;
  if (!package.empty() && !own.empty()) package += '.';
  package += own;
  const std::size_t global = package.rfind(kGlobal);
  if (global == std::string::npos) return package;
  const std::size_t after = global + kGlobal.size() + 1;
  return after < package.size() ? package.substr(after) : std::string();
}

std::string DefaultItem::override_key() const {
  std::string group = group_path();
  const std::string package = final_package(false);
  if (package == dotted(group)) return group;
  return group + "@" + (package.empty() ? std::string(kGlobal) : package);
}

Result<std::vector<DefaultItem>> read_defaults(const Node& defaults, const std::string& config) {
  if (!defaults.is_list()) {
    return Error(ErrorKind::Config,
                 "the defaults of '" + config + "' must be a list, not " +
                     std::string(describe(defaults.kind())),
                 defaults.position())
        .with_reason("defaults_not_list");
  }
  std::vector<DefaultItem> items;
  items.reserve(defaults.as_list().size());
  for (const Node& item : defaults.as_list()) items.push_back(PL_TRY(read_item(item, config)));
  return items;
}

}  // namespace profline::config
