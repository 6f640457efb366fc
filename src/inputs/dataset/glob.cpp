#include "inputs/dataset/internal/glob.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/strings.h"

namespace profline::dataset {
namespace {

namespace fs = std::filesystem;

class Walk {
 public:
  explicit Walk(std::vector<std::string_view> parts) : parts_(std::move(parts)) {}

  /// Everything below `folder` that matches the parts from `part` on.
  Result<void> go(const fs::path& folder, std::size_t part) {
    const std::string_view pattern = parts_[part];
    if (pattern == "**") return go_deep(folder, part);
    if (!is_pattern(pattern)) return take(folder / pattern, part);
    return for_each(folder, [&](const fs::directory_entry& entry) -> Result<void> {
      if (!matches(pattern, entry.path().filename().native())) return {};
      return take(entry.path(), part);
    });
  }

  std::vector<fs::path> found;

 private:
  Result<void> take(const fs::path& path, std::size_t part) {
    std::error_code gone;
    if (part + 1 < parts_.size()) {
      return fs::is_directory(path, gone) ? go(path, part + 1) : Result<void>();
    }
    if (fs::is_regular_file(path, gone)) found.push_back(path);
    return {};
  }

  Result<void> go_deep(const fs::path& folder, std::size_t part) {
    if (part + 1 == parts_.size()) return {};  // matches only folders, but we want files
    PL_TRY(go(folder, part + 1));
    return for_each(folder, [&](const fs::directory_entry& entry) -> Result<void> {
      std::error_code gone;
      const bool is_hidden = entry.path().filename().native().starts_with('.');
      if (is_hidden || entry.is_symlink(gone) || !entry.is_directory(gone)) return {};
      return go_deep(entry.path(), part);
    });
  }

  template <typename Use>
  Result<void> for_each(const fs::path& folder, const Use& use) {
    std::error_code cause;
    fs::directory_iterator entries(folder, cause);
    if (cause == std::errc::no_such_file_or_directory || cause == std::errc::not_a_directory) {
      return {};
    }
    while (!cause && entries != fs::directory_iterator()) {
      PL_TRY(use(*entries));
      entries.increment(cause);
    }
    if (cause) return os_error("list the folder", folder, cause.value());
    return {};
  }

  std::vector<std::string_view> parts_;
};

}  // namespace

bool is_pattern(std::string_view name) {
  return name.find_first_of("*?[") != std::string_view::npos;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  // Shells also negate a set with '^'.
  std::string shell(pattern);
  for (std::size_t at = shell.find("[^"); at != std::string::npos; at = shell.find("[^", at + 2)) {
    if (shell.find(']', at + 3) != std::string::npos) shell[at + 1] = '!';
  }
  return matches_pattern(name, shell);
}

Result<std::vector<fs::path>> glob(const fs::path& root, std::string_view pattern) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(pattern, '/')) {
    const bool repeats = part == "**" && !parts.empty() && parts.back() == "**";
    if (!part.empty() && part != "." && !repeats) parts.push_back(part);
  }
  if (parts.empty()) return std::vector<fs::path>();
  Walk walk(std::move(parts));
  PL_TRY(walk.go(pattern.starts_with('/') ? fs::path("/") : root, 0));
  std::sort(walk.found.begin(), walk.found.end(),
            [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  walk.found.erase(std::unique(walk.found.begin(), walk.found.end()), walk.found.end());
  return std::move(walk.found);
}

}  // namespace profline::dataset
