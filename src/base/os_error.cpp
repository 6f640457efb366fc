#include "base/os_error.h"

#include <errno.h>

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

Error os_error(std::string_view attempt, const std::filesystem::path& path, int error_number) {
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
