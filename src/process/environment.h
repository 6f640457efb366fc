#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/result.h"

namespace profline {

/// Where a shell would find `name`: a name with a slash is a path, relative to `cwd`; any other is
/// sought in the folders of `path_text` (`/usr/local/bin:/usr/bin`; an empty entry is `cwd`). What
/// is not an executable file is passed over. The result is absolute, or relative if `cwd` is empty.
Result<std::filesystem::path> find_program(std::string_view name, std::string_view path_text,
                                           const std::filesystem::path& cwd);

/// The same with our own PATH and folder.
Result<std::filesystem::path> find_program(std::string_view name);

/// A program that is installed with this one: beside it, else on PATH.
Result<std::filesystem::path> find_companion(const std::string& name);

/// PATH of our environment; the system's default when there is none, as execvp has it.
std::string own_path();
/// What stands for a PATH that is not set.
std::string default_path();

/// Where temporary files go: the folder that TMPDIR names (or TMP, TEMP, TEMPDIR), else /tmp. An
/// Error of kind NotFound, which names the variable, when it is not a folder or not ours to write
/// to: without it no program can be asked anything.
Result<std::filesystem::path> temporary_folder();

/// A folder for what a command needs only while it runs, gone at the end with all it holds,
/// at an interrupt too.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Empty when none could be made.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  UnfinishedWork unfinished_;
};

}  // namespace profline
