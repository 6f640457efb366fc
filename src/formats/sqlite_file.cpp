#include "formats/internal/sqlite_file.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <system_error>

namespace profline::sqlite::internal {
namespace {

namespace fs = std::filesystem;

// The first 100 bytes of a database, https://www.sqlite.org/fileformat2.html#the_database_header
constexpr std::size_t kHeaderSize = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kPageSizeAt = 16;       // two bytes; 1 stands for 65536
constexpr std::size_t kReadVersionAt = 19;    // 1: rollback journal, 2: WAL
constexpr std::size_t kChangeCounterAt = 24;  // the page count holds while these two agree
constexpr std::size_t kPageCountAt = 28;
constexpr std::size_t kValidForAt = 92;

struct Header {
  std::array<char, kHeaderSize> bytes{};
  std::size_t size = 0;

  std::uint32_t number(std::size_t at, std::size_t width) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      value = (value << 8U) | static_cast<unsigned char>(bytes[at + i]);
    }
    return value;
  }
  bool is_database() const {
    return size == kHeaderSize && std::string_view(bytes.data(), kMagic.size()) == kMagic;
  }
  bool is_wal() const { return number(kReadVersionAt, 1) == 2; }
  /// What the file's size should be; 0 when the header does not tell.
  std::uint64_t expected_bytes() const {
    if (number(kChangeCounterAt, 4) != number(kValidForAt, 4)) return 0;
    const std::uint32_t page = number(kPageSizeAt, 2);
    return std::uint64_t{page == 1 ? 65536 : page} * number(kPageCountAt, 4);
  }
};

fs::path beside(const fs::path& path, std::string_view suffix) {
  fs::path other = path;
  other += suffix;
  return other;
}

/// Whether there is such a file with something in it.
bool holds_something(const fs::path& path) {
  std::error_code absent;
  const std::uintmax_t size = fs::file_size(path, absent);
  return !absent && size > 0;
}

Error no_database(const std::string& name, std::string why) {
  return Error(ErrorKind::Parse, std::move(why), {name, 0, 0});
}

Result<ReadOnlyMode> wal_mode(const fs::path& path, const std::string& name) {
  if (!holds_something(beside(path, "-wal"))) return ReadOnlyMode::Immutable;
  if (fs::exists(beside(path, "-shm"))) return ReadOnlyMode::Shared;
  return Error(ErrorKind::Io,
               "has changes in its -wal file that cannot be read without writing beside it; "
               "run 'PRAGMA wal_checkpoint(TRUNCATE)' on it (or on a copy of both files) first",
               {name, 0, 0});
}

/// The last 8 bytes of a journal that belongs to a transaction over several databases; the name of
/// their common journal is in front of them.
bool names_another_journal(const fs::path& journal) {
  constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  std::array<char, kJournalMagic.size()> end{};
  std::ifstream file(journal, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  file.read(end.data(), end.size());
  return file && std::string_view(end.data(), end.size()) == kJournalMagic;
}

}  // namespace

Result<bool> may_be_written(const fs::path& path, const std::string& name) {
  std::error_code failure;
  const fs::file_status status = fs::symlink_status(path, failure);
  if (fs::is_symlink(status)) return Error(ErrorKind::Io, "is a link", {name, 0, 0});
  if (fs::is_directory(status)) return no_database(name, "is a folder, not an SQLite database");
  if (!fs::exists(status)) return false;
  if (!fs::is_regular_file(status)) return no_database(name, "is not a regular file");
  const fs::path journal = beside(path, "-journal");
  const fs::file_status beside_it = fs::symlink_status(journal, failure);
  const bool is_plain = !fs::exists(beside_it) || fs::is_regular_file(beside_it);
  if (!is_plain || names_another_journal(journal)) {
    return Error(ErrorKind::Io, "has a -journal file that profline did not write", {name, 0, 0});
  }
  return true;
}

Result<ReadOnlyMode> inspect(const fs::path& path, const std::string& name, bool damaged_too) {
  // Anything else but a plain file may block (a pipe) or never end (a device).
  if (fs::is_directory(path)) return no_database(name, "is a folder, not an SQLite database");
  if (!fs::is_regular_file(path)) return no_database(name, "is not a regular file");

  std::ifstream file(path, std::ios::binary);
  if (!file) return Error(ErrorKind::Io, "cannot be read (no permission?)", {name, 0, 0});
  Header header;
  file.read(header.bytes.data(), header.bytes.size());
  header.size = static_cast<std::size_t>(file.gcount());
  if (header.size == 0) {
    return no_database(name, "is empty, not an SQLite database (was its export cut short?)");
  }
  if (!header.is_database()) return no_database(name, "is not an SQLite database");
  if (header.is_wal()) return wal_mode(path, name);
  if (damaged_too) return ReadOnlyMode::Shared;

  // Where there is a journal somebody may be writing just now: SQLite, which can lock, must judge.
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(path, unknown);
  const std::uint64_t expected = header.expected_bytes();
  if (!unknown && size < expected && !holds_something(beside(path, "-journal"))) {
    return no_database(name, "is cut short: " + std::to_string(size) + " of " +
                                 std::to_string(expected) + " bytes");
  }
  return ReadOnlyMode::Shared;
}

std::string uri(const fs::path& absolute, std::string_view query) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text = "file://";  // and an empty host, so that a path may begin with two slashes
  for (const char byte : absolute.native()) {
    if (kPlain.find(byte) != std::string_view::npos) {
      text += byte;
      continue;
    }
    const auto value = static_cast<unsigned char>(byte);
    text += {'%', kHex[value >> 4U], kHex[value & 15U]};
  }
  return text + '?' + std::string(query);
}

}  // namespace profline::sqlite::internal
