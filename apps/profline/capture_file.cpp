#include "capture_file.h"

#include <array>
#include <string>

#include "formats/chunks.h"
#include "formats/gzip.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/torch_profiler/trace_reader.h"

namespace profline {
namespace {

constexpr std::string_view kSqlite = "SQLite format 3";

Result<std::string> beginning_of(const std::filesystem::path& file) {
  const ChunkSource source = PL_TRY(chunks_of_file(file));
  std::string bytes(512, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const std::size_t more = PL_TRY(source(std::span(bytes).subspan(filled)));
    if (more == 0) break;
    filled += more;
  }
  bytes.resize(filled);
  return bytes;
}

bool begins_like_json(std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '[');
}

}  // namespace

Result<Timeline> read_capture(const std::filesystem::path& file) {
  // A pipe can be read only once, so it is taken for what is usually piped.
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown) && std::filesystem::exists(file, unknown) &&
      !std::filesystem::is_directory(file, unknown)) {
    return torch_profiler::read_trace(file);
  }
  const std::string first = PL_TRY(beginning_of(file));
  if (first.starts_with(kSqlite)) return nsys::read_sqlite(file);
  if (is_gzip(first) || begins_like_json(first)) return torch_profiler::read_trace(file);
  std::string message = file.string();
  if (first.empty()) {
    message += " is empty";
  } else if (file.extension() == ".nsys-rep" || file.extension() == ".qdstrm") {
    message += " is a report of nsys: export it first with 'nsys export --type sqlite " +
               file.filename().string() + "'";
  } else {
    message +=
        " is neither a Kineto or Chrome trace (.json, .json.gz) nor an SQLite export of nsys";
  }
  return Error(ErrorKind::Parse, std::move(message));
}

}  // namespace profline
