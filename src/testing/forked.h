#pragma once

#include <functional>
#include <string>

namespace profline::testing {

/// Runs `body` in a child process and returns its result: for actions that would affect the test's
/// own process, such as dropping privileges or mounting. `child died` if it ended in another way.
std::string in_child(const std::function<std::string()>& body);

/// Call in a child: gives it its own view of the file system and mounts an empty tmpfs of at most
/// `bytes` at `folder`, with additional mount options (`nr_inodes=200`). Empty on success, else why
/// it is not permitted here.
std::string mount_small_tmpfs(const std::string& folder, std::size_t bytes,
                              const std::string& options = "");

/// Call in a child: makes such a mount read-only. Empty on success.
std::string remount_read_only(const std::string& folder);

}  // namespace profline::testing
