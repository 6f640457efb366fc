#include "base/error.h"

#include <errno.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "base/terminal_text.h"

namespace profline {
namespace {

constexpr std::size_t kExcerptWidth = 96;
constexpr std::size_t kExcerptLead = 64;  // characters kept before the caret when a line is cut

bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

/// `text` without its first `count` characters; stray bytes belong to the preceding character.
std::string_view skip_characters(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && count > 0) {
    ++at;
    while (at < text.size() && !starts_character(text[at])) ++at;
    --count;
  }
  return text.substr(at);
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += starts_character(byte) ? 1U : 0U;
  return count;
}

/// Control characters become spaces, so that the caret below stays aligned.
std::string without_controls(std::string_view text) {
  std::string out(text);
  for (char& byte : out) {
    if (static_cast<unsigned char>(byte) < 0x20U || byte == 0x7F) byte = ' ';
  }
  return out;
}

}  // namespace

std::string Position::to_string() const {
  if (source.empty()) {
    if (line == 0) return {};
    std::string text = "line " + std::to_string(line);
    if (column != 0) text += ", column " + std::to_string(column);
    return text;
  }
  std::string text = source;
  if (line != 0) {
    text += ':' + std::to_string(line);
    if (column != 0) text += ':' + std::to_string(column);
  }
  return text;
}

Error Error::all(const std::vector<Error>& problems) {
  PL_ASSERT(!problems.empty(), "an Error has at least one problem");
  std::vector<Error> flat;
  for (const Error& problem : problems) {
    for (Error& one : problem.each()) flat.push_back(std::move(one));
  }
  Error first = std::move(flat.front());
  flat.erase(flat.begin());
  first.others_ = std::move(flat);
  return first;
}

Error Error::during(std::string activity) && {
  for (Error& other : others_) other.activities_.push_back(activity);
  activities_.push_back(std::move(activity));
  return std::move(*this);
}

Error Error::during(std::string activity) const& {
  return Error(*this).during(std::move(activity));
}

Error Error::with_excerpt(std::string_view line, std::uint32_t column) && {
  PL_ASSERT(column > 0, "columns count from 1");
  const std::size_t caret = column - 1;
  const std::size_t cut = caret > kExcerptLead ? caret - kExcerptLead : 0;
  const std::string_view rest = skip_characters(line, cut);
  const std::string_view shown =
      rest.substr(0, rest.size() - skip_characters(rest, kExcerptWidth).size());
  const std::size_t indent = std::min(caret - cut, count_characters(shown)) + (cut > 0 ? 1 : 0);
  excerpt_ =
      (cut > 0 ? "  …" : "  ") + without_controls(shown) + "\n  " + std::string(indent, ' ') + '^';
  return std::move(*this);
}

Error Error::with_reason(const char* reason) && {
  reason_ = reason;
  return std::move(*this);
}

std::vector<Error> Error::each() const {
  std::vector<Error> out;
  out.reserve(1 + others_.size());
  out.push_back(*this);
  out.front().others_.clear();
  out.insert(out.end(), others_.begin(), others_.end());
  return out;
}

std::string Error::to_string() const {
  std::string text;
  for (auto activity = activities_.rbegin(); activity != activities_.rend(); ++activity) {
    text += *activity + ": ";
  }
  if (position_) {
    const std::string where = position_->to_string();
    if (!where.empty()) text += where + ": ";
  }
  text += message_;
  if (!excerpt_.empty()) text += '\n' + excerpt_;
  for (const Error& other : others_) text += '\n' + other.to_string();
  return text;
}

namespace internal {

void assertion_failed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "profline: bug at %s:%d: %s does not hold (%s)\n", file, line, condition,
               why);
  std::abort();
}

}  // namespace internal

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
  // "No space left on device": these are the C locale's texts, as we never call setlocale().
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
    return os_error(
        attempt, path, ErrorKind::Io,
        "no inodes left on its file system: it has free space but cannot hold more files");
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
