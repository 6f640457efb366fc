#include <algorithm>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/strings.h"
#include "formats/chunks.h"
#include "formats/json_stream.h"
#include "tools/torch_profiler/internal/scan_ahead.h"
#include "tools/torch_profiler/internal/timeline_builder.h"
#include "tools/torch_profiler/internal/trace_event.h"
#include "tools/torch_profiler/trace.h"

namespace profline::torch_profiler {
namespace {

using internal::RawEvent;
using internal::ScanAhead;
using internal::TimelineBuilder;

/// The source with the inspected first bytes put back.
ChunkSource put_back(std::string first, ChunkSource rest) {
  return [first = std::move(first), at = std::size_t{0},
          rest = std::move(rest)](std::span<char> into) mutable -> Result<std::size_t> {
    if (at == first.size()) return rest(into);
    const std::size_t bytes = first.copy(into.data(), into.size(), at);
    at += bytes;
    return bytes;
  };
}

/// The first bytes of a source, which may deliver them one by one.
Result<std::string> first_bytes(const ChunkSource& source, std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t filled = 0;
  while (filled < count) {
    const std::size_t more = PL_TRY(source(std::span(bytes).subspan(filled)));
    if (more == 0) break;
    filled += more;
  }
  bytes.resize(filled);
  return bytes;
}

/// The output of PyTorch's ExecutionTraceObserver: `{"schema": "1.1.1-chakra.0.0.4", ..., "nodes":
/// [...]}`. It may be gigabytes long and contains no times.
Error is_execution_trace(const std::string& schema) {
  return {ErrorKind::Parse,
          "this is an execution trace (PyTorch's ExecutionTraceObserver" +
              (schema.empty() ? std::string() : ", schema " + schema) +
              "), which has no times; give the trace that the profiler exported instead"};
}

JsonStreamHandlers handlers_for(ScanAhead& scanned, TimelineBuilder& builder) {
  JsonStreamHandlers handlers;
  handlers.take = [&scanned, &builder](std::string_view text, std::uint64_t offset) {
    const RawEvent* event = nullptr;
    const JsonTaken taken = scanned.scan(text, offset, event);
    if (taken.outcome == JsonTaken::Outcome::Taken) builder.add(*event, offset);
    return taken;
  };
  handlers.element = [&builder](const JsonView&, std::uint64_t offset) -> Result<void> {
    builder.skip("no map, so no event", offset);
    return {};
  };
  handlers.skipped = [&builder](const SkippedJson& skipped) {
    if (skipped.is_member) {
      builder.note("byte " + std::to_string(skipped.problem_offset) + ": " + skipped.reason +
                   " (a member next to the events, ignored)");
      return;
    }
    builder.skip("not JSON", skipped.offset);
    if (builder.reported_malformed()) return;
    builder.note("byte " + std::to_string(skipped.problem_offset) + ": " + skipped.reason);
  };
  const auto schema = std::make_shared<std::string>();
  handlers.member = [&builder, schema](const std::string& key, const Node& value) -> Result<void> {
    if (key == "schema" && value.is_string()) *schema = value.as_string();
    builder.add_member(key, value);
    return {};
  };
  handlers.other_list = [&builder, schema](const std::string& key) -> Result<void> {
    if (key == "nodes" && builder.events() == 0) return is_execution_trace(*schema);
    return {};
  };
  return handlers;
}

void note_early_end(const JsonStreamTotals& totals, TimelineBuilder& builder) {
  if (!totals.truncated_at) return;
  if (totals.torn_at) {
    builder.loss("the trace ends at byte " + std::to_string(*totals.truncated_at) +
                 ", inside what begins at byte " + std::to_string(*totals.torn_at) +
                 ": the rest is missing");
  } else {
    builder.note("the list of events is not closed: what follows it, if anything, is missing");
  }
}

/// One thread builds the tables, which takes a third as long as scanning.
constexpr unsigned kMostThreads = 4;

/// How much of the text is inspected to find out its form.
constexpr std::size_t kLookedAt = std::size_t{64} << 10U;

/// Where the map at the start of the text ends; npos if it does not end in the text.
std::size_t end_of_map(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

/// The first line of a text of JSON Lines: a map, then the end of the line. Nothing if the text has
/// another form, such as a map with all events in it.
std::optional<std::string_view> first_json_line(std::string_view text) {
  text = trim(text);
  if (!text.starts_with('{')) return std::nullopt;
  const std::size_t end = end_of_map(text);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view map = text.substr(0, end);
  const std::string_view rest = text.substr(end);
  if (map.find("\"traceEvents\"") != std::string_view::npos) return std::nullopt;
  const std::size_t next = rest.find_first_not_of(" \t\r\n,");
  const bool is_followed = next != std::string_view::npos && rest[next] == '{' &&
                           rest.substr(0, next).find('\n') != std::string_view::npos;
  const bool is_alone = rest.empty() && map.find("\"ph\"") != std::string_view::npos;
  return is_followed || is_alone ? std::optional(map) : std::nullopt;
}

Result<JsonStreamTotals> read_events(ChunkSource text, TimelineBuilder& builder,
                                     const TraceLimits& limits) {
  const std::string beginning = PL_TRY(first_bytes(text, kLookedAt));
  ScanAhead scanned(put_back(beginning, std::move(text)),
                    {.threads = std::max(limits.threads, 1U) - 1,
                     .window_bytes = limits.window_bytes,
                     .block_bytes = limits.block_bytes,
                     .bytes_before = limits.bytes_before_threads});
  const ChunkSource whole = [&scanned](std::span<char> into) { return scanned.read(into); };
  const JsonStreamLimits stream_limits = {limits.window_bytes, limits.max_event_bytes};
  const auto line = first_json_line(beginning);
  if (!line) {
    return read_json_list(whole, "traceEvents", handlers_for(scanned, builder), stream_limits);
  }
  if (line->find("\"ph\"") == std::string_view::npos) {
    return Error(ErrorKind::Parse,
                 "these are JSON lines, and the first is not a trace event (it has no 'ph'); if "
                 "nsys wrote them, use 'nsys export --type sqlite' instead");
  }
  return read_json_lines(whole, handlers_for(scanned, builder), stream_limits);
}

}  // namespace

Result<Timeline> read_trace(ChunkSource bytes, std::string source, const TraceLimits& limits) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string first = PL_TRY(first_bytes(bytes, kByteOrderMark.size()));
  if (first == kByteOrderMark) first.clear();
  std::shared_ptr<GzipReader> gzip;  // shared: std::function requires copyable content
  const bool is_compressed = is_gzip(first);
  ChunkSource text = put_back(std::move(first), std::move(bytes));
  if (is_compressed) {
    gzip = std::make_shared<GzipReader>(std::move(text));
    text = [gzip](std::span<char> into) { return gzip->read(into); };
  }
  TimelineBuilder builder;
  const auto totals = read_events(std::move(text), builder, limits);
  if (!totals) {
    // What precedes an error in the file is kept; a file that is not a trace has
    // nothing there.
    if (builder.events() == 0) {
      const bool is_damaged = gzip && gzip->problem();
      const Error cause = is_damaged ? Error(ErrorKind::Parse, *gzip->problem()) : totals.error();
      return cause.during("reading " + source);
    }
    builder.loss("reading stopped: " + totals.error().to_string());
  } else {
    note_early_end(*totals, builder);
  }
  if (gzip && gzip->problem()) builder.loss(*gzip->problem());
  if (const auto refusal = builder.refusal()) {
    return Error(ErrorKind::Parse, source + " is " + *refusal);
  }
  return builder.finish(std::move(source));
}

Result<Timeline> read_trace(const std::filesystem::path& file, const TraceLimits& limits) {
  // A pipe may deliver nothing for a long time, and a thread that waits for it cannot be ended.
  std::error_code none;
  TraceLimits used = limits;
  if (!std::filesystem::is_regular_file(file, none)) {
    used.threads = 1;
  } else if (used.threads == 0) {
    used.threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  }
  return read_trace(PL_TRY(chunks_of_file(file)), file.string(), used);
}

}  // namespace profline::torch_profiler
