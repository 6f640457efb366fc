#include "trace_report/capture_file.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/figures.h"
#include "formats/chunks.h"
#include "tools/nsys/sqlite_reader.h"
#include "tools/torch_profiler/trace.h"

namespace profline::trace_report {
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

bool is_pipe(const std::filesystem::path& file) {
  std::error_code unknown;
  return !std::filesystem::is_regular_file(file, unknown) &&
         std::filesystem::exists(file, unknown) && !std::filesystem::is_directory(file, unknown);
}

bool begins_like_trace(std::string_view bytes) {
  return is_gzip(bytes) || begins_like_json(bytes);
}

/// Why nothing in a file was usable: `2 events were skipped (2: category 'FEE', which is not
/// read)`.
std::string why_nothing(const Reading& reading) {
  constexpr std::size_t kMostReasons = 3;
  std::vector<Reading::Skipped> reasons = reading.skipped;
  if (reasons.empty()) return reading.losses.empty() ? "it has no events" : reading.losses.front();
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  const std::uint64_t skipped = reading.events() - reading.used;
  std::string text = counted(skipped, "event was", "events were") + " skipped (";
  for (std::size_t i = 0; i < std::min(kMostReasons, reasons.size()); ++i) {
    text += (i > 0 ? "; " : "") + std::to_string(reasons[i].count) + ": " + reasons[i].reason;
  }
  if (reasons.size() > kMostReasons) text += "; and others";
  return text + ')';
}

/// The timeline, if it has any rows.
Result<Timeline> with_rows(Timeline timeline) {
  const bool has_rows = !timeline.work.empty() || !timeline.calls.empty() ||
                        !timeline.ranges.empty() || !timeline.operators.empty();
  if (has_rows) return timeline;
  return Error(ErrorKind::Parse, timeline.source + " holds nothing that profline can use: " +
                                     why_nothing(timeline.reading));
}

}  // namespace

Result<bool> looks_like_trace(const std::filesystem::path& file) {
  return is_pipe(file) || begins_like_trace(PL_TRY(beginning_of(file)));
}

Result<Timeline> read_capture(const std::filesystem::path& file) {
  // A pipe can be read only once, so assume the usual kind.
  if (is_pipe(file)) return with_rows(PL_TRY(torch_profiler::read_trace(file)));
  const std::string first = PL_TRY(beginning_of(file));
  if (first.starts_with(kSqlite)) return with_rows(PL_TRY(nsys::read_sqlite(file)));
  if (begins_like_trace(first)) return with_rows(PL_TRY(torch_profiler::read_trace(file)));
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

}  // namespace profline::trace_report
