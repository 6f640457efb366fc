#include "inputs/dataset/internal/glob.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/strings.h"

namespace profline::dataset {
namespace {

namespace fs = std::filesystem;

/// A set such as `[a-z]` at the front of a pattern: its length with the brackets, and whether it
/// contains `byte`. Without a length it never ends, so the bracket is an ordinary character.
struct SetMatch {
  std::size_t length = 0;
  bool holds = false;
};

SetMatch match_set(std::string_view pattern, char byte) {
  const auto value = static_cast<unsigned char>(byte);
  std::size_t at = 1;
  const bool is_negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (is_negated) ++at;
  bool holds = false;
  for (const std::size_t first = at; at < pattern.size(); ++at) {
    if (pattern[at] == ']' && at > first) return {.length = at + 1, .holds = holds != is_negated};
    const auto low = static_cast<unsigned char>(pattern[at]);
    auto high = low;
    if (at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']') {
      high = static_cast<unsigned char>(pattern[at + 2]);
      at += 2;
    }
    holds = holds || (low <= value && value <= high);
  }
  return {};
}

/// How much of the pattern one byte of the name uses; 0 if they do not match.
std::size_t match_one(std::string_view pattern, char byte) {
  if (pattern.empty()) return 0;
  if (pattern[0] == '?') return 1;
  if (pattern[0] == '[') {
    const SetMatch set = match_set(pattern, byte);
    if (set.length > 0) return set.holds ? set.length : 0;
  }
  return pattern[0] == byte ? 1 : 0;
}

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
  // The last star and what it was tried against: backtracking further never helps.
  std::size_t star = std::string_view::npos;
  std::size_t tried = 0;
  std::size_t at = 0;
  std::size_t used = 0;
  while (used < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      tried = used;
      continue;
    }
    if (const std::size_t step = match_one(pattern.substr(at), name[used]); step > 0) {
      at += step;
      ++used;
      continue;
    }
    if (star == std::string_view::npos) return false;
    at = star + 1;
    used = ++tried;
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
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
