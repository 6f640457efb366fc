#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace profline {

/// Where a shell would find `name`: a name with a slash is a path, relative to `cwd`; any other is
/// sought in the folders of `path_text` (`/usr/local/bin:/usr/bin`; an empty entry is `cwd`). What
/// is not an executable file is passed over. The result is absolute, or relative if `cwd` is empty.
Result<std::filesystem::path> find_program(std::string_view name, std::string_view path_text,
                                           const std::filesystem::path& cwd);

/// The same with our own PATH and folder.
Result<std::filesystem::path> find_program(std::string_view name);

/// PATH of our environment; the system's default when there is none, as execvp has it.
std::string own_path();
/// What stands for a PATH that is not set.
std::string default_path();

}  // namespace profline
