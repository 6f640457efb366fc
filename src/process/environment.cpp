#include "process/environment.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/figures.h"
#include "base/strings.h"

namespace profline {
namespace {

enum class Candidate { Runs, Absent, Folder, NotExecutable, Unreachable };

Candidate look_at(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return errno == EACCES ? Candidate::Unreachable : Candidate::Absent;
  }
  if (S_ISDIR(status.st_mode)) return Candidate::Folder;
  return ::access(path.c_str(), X_OK) == 0 ? Candidate::Runs : Candidate::NotExecutable;
}

Error refusal(const std::string& what, Candidate found) {
  const std::string start = "cannot run " + what + ": ";
  switch (found) {
    case Candidate::Folder:
      return Error(ErrorKind::Config, start + "it is a folder");
    case Candidate::NotExecutable:
      return Error(ErrorKind::Io, start + "it is not executable (chmod +x makes it executable)");
    case Candidate::Unreachable:
      return Error(ErrorKind::Io, start + "permission denied for a folder in its path");
    case Candidate::Absent:
    case Candidate::Runs:
      break;
  }
  return Error(ErrorKind::NotFound, start + "no such file");
}

namespace fs = std::filesystem;

/// The first variable that is set, in the order of std::filesystem; null if none is.
const char* variable() {
  for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (std::getenv(name) != nullptr) return name;
  }
  return nullptr;
}

}  // namespace

Result<std::filesystem::path> find_program(std::string_view name, std::string_view path_text,
                                           const std::filesystem::path& cwd) {
  const std::string quoted = "'" + std::string(name) + "'";
  if (name.find('/') != std::string_view::npos) {
    std::filesystem::path path = cwd / name;
    const Candidate found = look_at(path);
    if (found == Candidate::Runs) return path;
    return refusal(quoted, found);
  }
  std::filesystem::path not_executable;
  const auto folders = split(path_text, ':');
  for (const std::string_view folder : folders) {
    std::filesystem::path path = cwd / (folder.empty() ? "." : folder) / name;
    const Candidate found = look_at(path);
    if (found == Candidate::Runs) return path;
    if (found == Candidate::NotExecutable && not_executable.empty()) not_executable = path;
  }
  if (!not_executable.empty()) {
    return refusal(quoted + " (" + not_executable.string() + ")", Candidate::NotExecutable);
  }
  // The message does not quote PATH, which is long and always the same: run.log and doctor show it.
  return Error(ErrorKind::NotFound, "cannot run " + quoted + ": not found in PATH (" +
                                        counted(folders.size(), "folder") + " searched)");
}

Result<std::filesystem::path> find_program(std::string_view name) {
  return find_program(name, own_path(), {});
}

std::optional<std::string> environment_variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string own_path() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : default_path();
}

std::string default_path() {
  std::string text(::confstr(_CS_PATH, nullptr, 0), '\0');
  ::confstr(_CS_PATH, text.data(), text.size());
  if (!text.empty()) text.pop_back();  // the terminating NUL, which confstr counts
  return text;
}

Result<fs::path> temporary_folder() {
  const char* const name = variable();
  const fs::path folder = name != nullptr ? std::getenv(name) : "/tmp";
  std::error_code failure;
  const bool is_folder = fs::is_directory(folder, failure);
  if (is_folder && ::access(folder.c_str(), W_OK | X_OK) == 0) return folder;
  const std::string subject = name != nullptr ? std::string(name) + " is" : "programs need";
  const std::string why =
      is_folder ? "a folder that cannot be written to" : "which is not a folder";
  return Error(ErrorKind::NotFound, subject + " '" + folder.string() + "', " + why +
                                        "; set TMPDIR to a folder for temporary files, such as "
                                        "TMPDIR=/tmp")
      .with_reason("no_temporary_folder");
}

Result<std::filesystem::path> find_companion(const std::string& name) {
  std::error_code failure;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
  const std::filesystem::path beside = self.parent_path() / name;
  if (!failure && std::filesystem::exists(beside, failure)) return beside;
  return find_program(name);
}

ScratchFolder::ScratchFolder() {
  std::error_code failure;
  const fs::path parent = fs::temp_directory_path(failure);
  if (failure) return;
  std::string name = (parent / "profline-XXXXXX").string();
  const UnfinishedWork::Lock made_and_noted = UnfinishedWork::lock();
  if (mkdtemp(name.data()) == nullptr) return;
  path_ = name;
  unfinished_ = UnfinishedWork([name] {
    std::error_code ignored;
    fs::remove_all(name, ignored);
  });
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace profline
