#include "base/os_error.h"

#include <errno.h>
#include <sys/statvfs.h>

#include <cctype>
#include <system_error>

#include "base/terminal_text.h"

namespace profline {

std::string os_error_words(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "no such file";
    case EISDIR:
      return "it is a directory";
    case ENOTDIR:
      return "a part of the path is not a directory";
    case ELOOP:
      return "too many symbolic links";
    case ENAMETOOLONG:
      return "the name is too long";
    default:
      break;
  }
  // "No space left on device": the C locale's texts, as nothing of ours calls setlocale().
  std::string words = std::generic_category().message(error_number);
  if (!words.empty()) {
    words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
  }
  return words;
}

ErrorKind os_error_kind(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return ErrorKind::NotFound;
    default:
      return ErrorKind::Io;
  }
}

bool is_out_of_inodes(const std::filesystem::path& path) {
  std::filesystem::path place = path;
  struct statvfs status {};
  while (::statvfs(place.c_str(), &status) != 0) {
    if (errno != ENOENT || !place.has_parent_path() || place == place.root_path()) return false;
    place = place.parent_path();
  }
  // Some file systems create inodes on demand and report a total of zero.
  return status.f_files > 0 && status.f_favail == 0 && status.f_bavail > 0;
}

Error os_error(std::string_view attempt, const std::filesystem::path& path, int error_number) {
  if (error_number == ENOSPC && is_out_of_inodes(path)) {
    return os_error(attempt, path, ErrorKind::Io,
                    "no inodes left on its file system: it has room for bytes, not for more files");
  }
  return os_error(attempt, path, os_error_kind(error_number), os_error_words(error_number));
}

Error os_error(std::string_view attempt, const std::filesystem::path& path, ErrorKind kind,
               std::string_view cause) {
  std::string message = "cannot ";
  message += attempt;
  message += ' ';
  message += path.empty() ? "''" : printable(path.native());
  message += ": ";
  message += cause;
  return Error(kind, std::move(message));
}

}  // namespace profline
