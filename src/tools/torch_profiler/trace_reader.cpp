#include "tools/torch_profiler/trace_reader.h"

#include <array>
#include <memory>
#include <utility>

#include "formats/gzip.h"
#include "formats/json_stream.h"
#include "tools/torch_profiler/internal/timeline_builder.h"
#include "tools/torch_profiler/internal/trace_event.h"

namespace profline::torch_profiler {
namespace {

using internal::RawEvent;
using internal::TimelineBuilder;

/// The source as it was before its first bytes were looked at.
ChunkSource put_back(std::string first, ChunkSource rest) {
  return [first = std::move(first), at = std::size_t{0},
          rest = std::move(rest)](std::span<char> into) mutable -> Result<std::size_t> {
    if (at == first.size()) return rest(into);
    const std::size_t bytes = first.copy(into.data(), into.size(), at);
    at += bytes;
    return bytes;
  };
}

/// The first bytes of a source, which may give them one by one.
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

JsonStreamHandlers handlers_for(TimelineBuilder& builder) {
  JsonStreamHandlers handlers;
  handlers.take = [&builder](std::string_view text, std::uint64_t offset) {
    RawEvent event;
    const JsonTaken taken = internal::scan_event(text, event);
    if (taken.outcome == JsonTaken::Outcome::Taken) builder.add(event, offset);
    return taken;
  };
  handlers.element = [&builder](const JsonView&, std::uint64_t offset) -> Result<void> {
    builder.skip("no map, so no event", offset);
    return {};
  };
  handlers.skipped = [&builder](const SkippedJson& skipped) {
    if (skipped.is_member) {
      builder.note("byte " + std::to_string(skipped.problem_offset) + ": " + skipped.reason +
                   " (a member beside the events, ignored)");
      return;
    }
    builder.skip("not JSON", skipped.offset);
    if (builder.told_malformed()) return;
    builder.note("byte " + std::to_string(skipped.problem_offset) + ": " + skipped.reason);
  };
  handlers.member = [&builder](const std::string& key, const Node& value) -> Result<void> {
    builder.add_member(key, value);
    return {};
  };
  return handlers;
}

void tell_of_the_end(const JsonStreamTotals& totals, TimelineBuilder& builder) {
  if (!totals.truncated_at) return;
  if (totals.torn_at) {
    builder.loss("the trace ends at byte " + std::to_string(*totals.truncated_at) +
                 ", inside what begins at byte " + std::to_string(*totals.torn_at) +
                 ": the rest is missing");
  } else {
    builder.note("the list of events is not closed: what follows it, if anything, is missing");
  }
}

}  // namespace

Result<Timeline> read_trace(ChunkSource bytes, std::string source, const TraceLimits& limits) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string first = PL_TRY(first_bytes(bytes, kByteOrderMark.size()));
  if (first == kByteOrderMark) first.clear();
  std::shared_ptr<GzipReader> gzip;  // std::function wants what it holds to be copyable
  const bool is_compressed = is_gzip(first);
  ChunkSource text = put_back(std::move(first), std::move(bytes));
  if (is_compressed) {
    gzip = std::make_shared<GzipReader>(std::move(text));
    text = [gzip](std::span<char> into) { return gzip->read(into); };
  }
  TimelineBuilder builder;
  const auto totals = read_json_list(std::move(text), "traceEvents", handlers_for(builder),
                                     {limits.window_bytes, limits.max_event_bytes});
  if (!totals) {
    // Of a file that goes wrong in the middle what came before is kept; of one that is no trace
    // there is nothing.
    if (builder.events() == 0) {
      const bool is_damaged = gzip && gzip->problem();
      const Error cause = is_damaged ? Error(ErrorKind::Parse, *gzip->problem()) : totals.error();
      return cause.during("reading " + source);
    }
    builder.loss("reading stopped: " + totals.error().to_string());
  } else {
    tell_of_the_end(*totals, builder);
  }
  if (gzip && gzip->problem()) builder.loss(*gzip->problem());
  return builder.finish(std::move(source));
}

Result<Timeline> read_trace(const std::filesystem::path& file, const TraceLimits& limits) {
  return read_trace(PL_TRY(chunks_of_file(file)), file.string(), limits);
}

}  // namespace profline::torch_profiler
