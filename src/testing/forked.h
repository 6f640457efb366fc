#pragma once

#include <functional>
#include <string>

namespace profline::testing {

/// What `body` returns, run in a child process: for what a test must not do to its own process,
/// such as giving up privileges or mounting. `child died` when it ended in another way.
std::string in_child(const std::function<std::string()>& body);

/// To be called in a child: gives it a file system view of its own and mounts an empty tmpfs of at
/// most `bytes` at `folder`, with more of mount's options if need be (`nr_inodes=200`). Empty when
/// done, else why it is not permitted here.
std::string mount_small_tmpfs(const std::string& folder, std::size_t bytes,
                              const std::string& options = "");

/// To be called in a child: makes a file system mounted so read-only. Empty when done.
std::string remount_read_only(const std::string& folder);

}  // namespace profline::testing
