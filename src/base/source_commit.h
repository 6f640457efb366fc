#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace profline {

/// The commit that is checked out in the git repository a folder lies in: its hash, in hexadecimal.
/// Reads the repository's files, also those of a further worktree or a submodule, and starts no
/// program. Empty: it lies in none, or in one without commits.
std::string checked_out_commit(const std::filesystem::path& folder);

/// The first digits of the full hash of a commit, for people; any other text as it is.
std::string short_commit(const std::string& commit);

/// Whether a text is the full hash of a commit.
bool is_commit_hash(std::string_view text);

}  // namespace profline
