#include "process/find_program.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

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
      return Error(ErrorKind::Io, start + "it is not executable (chmod +x makes it so)");
    case Candidate::Unreachable:
      return Error(ErrorKind::Io, start + "permission denied on the way to it");
    case Candidate::Absent:
    case Candidate::Runs:
      break;
  }
  return Error(ErrorKind::NotFound, start + "no such file");
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
  // PATH itself is long and the same in every message: run.log and doctor have it.
  return Error(ErrorKind::NotFound,
               "cannot run " + quoted + ": not found in PATH (" + std::to_string(folders.size()) +
                   (folders.size() == 1 ? " folder" : " folders") + " searched)");
}

Result<std::filesystem::path> find_program(std::string_view name) {
  return find_program(name, own_path(), {});
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

}  // namespace profline
