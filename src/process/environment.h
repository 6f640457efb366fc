#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/result.h"

namespace profline {

/// Where a shell would find `name`: a name with a slash is a path, relative to `cwd`; any other is
/// searched for in the folders of `path_text` (`/usr/local/bin:/usr/bin`; an empty entry is `cwd`).
/// Anything that is not an executable file is skipped. The result is absolute, or relative if `cwd`
/// is empty.
Result<std::filesystem::path> find_program(std::string_view name, std::string_view path_text,
                                           const std::filesystem::path& cwd);

/// The same with our own PATH and folder.
Result<std::filesystem::path> find_program(std::string_view name);

/// A program that is installed with this one: next to it, else on PATH.
Result<std::filesystem::path> find_companion(const std::string& name);

/// A variable of our environment; nothing if it is not set.
std::optional<std::string> environment_variable(std::string_view name);

/// PATH of our environment; if it is not set, the system's default, as for execvp.
std::string own_path();
/// The default for an unset PATH.
std::string default_path();

/// Where temporary files go: the folder named by TMPDIR (or TMP, TEMP, TEMPDIR), else /tmp. An
/// Error of kind NotFound that names the variable if it is not a folder or not writable: without it
/// no program can be queried.
Result<std::filesystem::path> temporary_folder();

/// A folder that a command needs only while it runs; removed with its content at the end, and on an
/// interrupt.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Empty if it could not be created.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  UnfinishedWork unfinished_;
};

}  // namespace profline
