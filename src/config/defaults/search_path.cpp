#include "config/defaults/search_path.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "base/files.h"
#include "base/strings.h"
#include "config/interpolation/expression.h"
#include "config/interpolation/load.h"
#include "config/interpolation/resolve.h"

namespace profline::config {
namespace {

constexpr std::string_view kExtension = ".yaml";
/// Hydra searches for the header in this many characters.
constexpr std::size_t kHeaderSize = 512;

/// `# @package db` -> `@package db`; empty if the line is not a header.
std::string_view header_in(std::string_view line) {
  if (line.empty() || line.front() != '#') return {};
  const std::string_view content = trim(line.substr(1));
  return !content.empty() && content.front() == '@' ? content : std::string_view();
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  for (const std::string_view part : split(text, ' ')) {
    if (!part.empty()) out.push_back(part);
  }
  return out;
}

/// The package in the header. Only leading comments that begin with '@' are part of the header.
Result<std::optional<std::string>> package_in(std::string_view text, const std::string& name) {
  std::optional<std::string> package;
  std::uint32_t number = 0;
  for (const std::string_view raw : lines(text.substr(0, kHeaderSize))) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty()) continue;
    const std::string_view header = header_in(line);
    if (header.empty()) break;
    const std::vector<std::string_view> parts = words(header);
    if (parts.size() != 2) {
      return Error(ErrorKind::Parse,
                   "the header '" + std::string(header) + "' has " +
                       std::to_string(parts.size() - 1) +
                       " values; it takes one, as in '# @package db'",
                   {name, number, 1})
          .with_reason("header");
    }
    if (parts[0] == "@package") package = std::string(parts[1]);
  }
  return package;
}

/// `mysql.yaml` -> `mysql`
std::string without_extension(std::string_view file_name) {
  return std::string(file_name.substr(0, file_name.size() - kExtension.size()));
}

bool is_config_name(std::string_view file_name) {
  return file_name.size() > kExtension.size() && file_name.ends_with(kExtension);
}

bool is_python_left_over(std::string_view name) {
  return name == "__pycache__" || name == "__init__.py";
}

constexpr std::string_view kSchemaProvider = "schema";

/// A package of Python code, which this program cannot read.
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

/// Removes the defaults list from a config. A list that is `???` counts as absent.
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

std::string config_file_name(std::string_view config) {
  std::string name(config);
  if (!config.ends_with(kExtension)) name += kExtension;
  return name;
}

Result<ConfigFile> read_config(std::string_view text, std::string name) {
  ConfigFile file;
  file.package = PL_TRY(package_in(text, name));
  file.tree = PL_TRY(load_config(text, std::move(name)));
  return file;
}

FolderSource::FolderSource(std::string path, const std::filesystem::path& base)
    : path_(std::move(path)), folder_(base / path_) {}

bool FolderSource::has_group(std::string_view group) const {
  std::error_code problem;
  return std::filesystem::is_directory(folder_ / group, problem);
}

bool FolderSource::has_config(std::string_view config) const {
  // Anything of this name counts: a folder or an unreadable file is an error when it is loaded,
  // because continuing with the next config of this name would run something else than requested.
  std::error_code problem;
  return std::filesystem::exists(folder_ / config_file_name(config), problem);
}

Result<std::optional<ConfigFile>> FolderSource::load(const std::string& config) const {
  if (!has_config(config)) return std::optional<ConfigFile>();
  const std::string file_name = config_file_name(config);
  std::error_code problem;
  if (!std::filesystem::is_regular_file(folder_ / file_name, problem)) {
    const bool is_folder = std::filesystem::is_directory(folder_ / file_name, problem);
    return Error(ErrorKind::Config, (std::filesystem::path(path_) / file_name).string() + " is " +
                                        (is_folder ? "a folder" : "no regular file") +
                                        ", so it cannot be read as a config")
        .with_reason("config_unreadable");
  }
  Result<std::string> text = read_file(folder_ / file_name);
  if (!text) return std::move(text).error().with_reason("config_unreadable");
  ConfigFile file = PL_TRY(read_config(*text, (std::filesystem::path(path_) / file_name).string()));
  return std::optional<ConfigFile>(std::move(file));
}

std::vector<std::string> FolderSource::configs_in(std::string_view group) const {
  std::vector<std::string> names;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / group, problem)) {
    const std::string name = entry.path().filename().string();
    if (is_config_name(name) && entry.is_regular_file(problem)) {
      names.push_back(without_extension(name));
    }
  }
  return names;
}

std::vector<std::string> FolderSource::groups_in(std::string_view group) const {
  std::vector<std::string> names;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / group, problem)) {
    const std::string name = entry.path().filename().string();
    if (!is_python_left_over(name) && entry.is_directory(problem)) names.push_back(name);
  }
  return names;
}

EmbeddedSource::EmbeddedSource(std::string path, Files files)
    : path_(std::move(path)), files_(std::move(files)), groups_{""} {
  for (const auto& [name, text] : files_) {
    for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
      groups_.insert(name.substr(0, at));
    }
  }
}

bool EmbeddedSource::has_group(std::string_view group) const {
  return groups_.contains(group);
}

bool EmbeddedSource::has_config(std::string_view config) const {
  return files_.contains(config_file_name(config));
}

Result<std::optional<ConfigFile>> EmbeddedSource::load(const std::string& config) const {
  const auto file = files_.find(config_file_name(config));
  if (file == files_.end()) return std::optional<ConfigFile>();
  ConfigFile read = PL_TRY(read_config(file->second, path_ + "/" + file->first));
  return std::optional<ConfigFile>(std::move(read));
}

std::vector<std::string> EmbeddedSource::configs_in(std::string_view group) const {
  const std::string prefix = group.empty() ? std::string() : std::string(group) + "/";
  std::vector<std::string> names;
  for (auto file = files_.lower_bound(prefix); file != files_.end(); ++file) {
    if (!file->first.starts_with(prefix)) break;
    const std::string_view name = std::string_view(file->first).substr(prefix.size());
    if (name.find('/') == std::string_view::npos && is_config_name(name)) {
      names.push_back(without_extension(name));
    }
  }
  return names;
}

std::vector<std::string> EmbeddedSource::groups_in(std::string_view group) const {
  const std::string prefix = group.empty() ? std::string() : std::string(group) + "/";
  std::vector<std::string> names;
  for (const std::string& one : groups_) {
    if (!one.starts_with(prefix) || one.size() == prefix.size()) continue;
    const std::string_view name = std::string_view(one).substr(prefix.size());
    if (name.find('/') == std::string_view::npos) names.emplace_back(name);
  }
  return names;
}

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
