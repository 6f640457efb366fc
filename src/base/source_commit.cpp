#include "base/source_commit.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/files.h"
#include "base/strings.h"

namespace profline {
namespace {

namespace fs = std::filesystem;

/// Nothing for what is not a file: reading a named pipe would wait.
std::string text_of(const fs::path& file) {
  std::error_code failure;
  if (!fs::is_regular_file(file, failure)) return "";
  return read_file(file).value_or("");
}

/// `gitdir: ../.git/worktrees/x` -> `../.git/worktrees/x`, as seen from `base`.
std::optional<fs::path> path_after(std::string_view key, std::string_view text,
                                   const fs::path& base) {
  if (!text.starts_with(key)) return std::nullopt;
  return base / std::string(trim(text.substr(key.size())));
}

/// The folder with HEAD of the repository that the folder lies in.
std::optional<fs::path> git_folder_of(const fs::path& folder) {
  std::error_code failure;
  fs::path at = fs::weakly_canonical(folder, failure);
  for (; !failure && !at.empty(); at = at.parent_path()) {
    const fs::path found = at / ".git";
    if (fs::is_directory(found, failure)) return found;
    failure.clear();
    if (auto elsewhere = path_after("gitdir:", text_of(found), at)) return elsewhere;
    if (at == at.root_path()) break;
  }
  return std::nullopt;
}

/// A line is `HASH NAME`; one that begins with `^` belongs to the tag before it.
std::string packed_hash(const fs::path& common, std::string_view name) {
  const std::string packed = text_of(common / "packed-refs");
  for (const std::string_view line : lines(packed)) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.front() == '#') continue;
    if (trim(line.substr(space + 1)) == name) return std::string(line.substr(0, space));
  }
  return "";
}

bool is_ref_name(std::string_view name) {
  return name.starts_with("refs/") && name.find("..") == std::string_view::npos;
}

}  // namespace

bool is_commit_hash(std::string_view text) {
  constexpr std::size_t kSha1 = 40;
  constexpr std::size_t kSha256 = 64;
  return (text.size() == kSha1 || text.size() == kSha256) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string short_commit(const std::string& commit) {
  constexpr std::size_t kShown = 12;
  return is_commit_hash(commit) ? commit.substr(0, kShown) : commit;
}

std::string checked_out_commit(const fs::path& folder) {
  const auto git = git_folder_of(folder);
  if (!git) return "";
  // A further worktree shares branches with the first one.
  const std::string shared = text_of(*git / "commondir");
  const fs::path common = shared.empty() ? *git : *git / std::string(trim(shared));
  std::string value(trim(text_of(*git / "HEAD")));
  constexpr std::string_view kRef = "ref:";
  constexpr int kMostSteps = 5;  // as git has it for references to references
  for (int step = 0; step < kMostSteps && value.starts_with(kRef); ++step) {
    const std::string name(trim(std::string_view(value).substr(kRef.size())));
    if (!is_ref_name(name)) return "";
    value = std::string(trim(text_of(*git / name)));
    if (value.empty()) value = std::string(trim(text_of(common / name)));
    if (value.empty()) value = packed_hash(common, name);
  }
  return is_commit_hash(value) ? value : "";
}

}  // namespace profline
