#include "load/client/stream_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/core.h>
#include <strings.h>

#include "base/figures.h"
#include "base/strings.h"
#include "load/client/http_loop.h"

namespace profline::load {
namespace {

constexpr std::size_t kMostOther = std::size_t{64} << 10U;
constexpr int kOk = 200;

/// The value of a header of this name; empty if the line is another one.
std::string_view header_value(std::string_view line, std::string_view name) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || lower(line.substr(0, colon)) != name) return {};
  return trim(line.substr(colon + 1));
}

/// The status of a line such as `HTTP/1.1 200 OK`; 0 for other lines.
int status_of(std::string_view line) {
  if (!line.starts_with("HTTP/")) return 0;
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return 0;
  constexpr std::size_t kDigits = 3;
  return whole_number<std::uint16_t>(line.substr(blank + 1, kDigits)).value_or(0);
}

std::int32_t microseconds(std::int64_t ns) {
  constexpr std::int64_t kMicrosecond = 1000;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(ns / kMicrosecond, 0, kMost));
}

}  // namespace

std::size_t StreamReader::most_bytes(std::uint32_t output_tokens) {
  constexpr std::size_t kBase = std::size_t{1} << 20U;
  constexpr std::size_t kPerToken = std::size_t{16} << 10U;
  return kBase + kPerToken * output_tokens;
}

void StreamReader::fail(std::string kind, std::string text) {
  if (!outcome_.failure) outcome_.failure = Failure{std::move(kind), std::move(text)};
}

void StreamReader::header(std::string_view line) {
  if (const int status = status_of(line); status != 0) {
    status_ = status;
    content_type_.clear();
    content_encoding_.clear();
    return;
  }
  if (const auto type = header_value(line, "content-type"); !type.empty()) {
    content_type_ = lower(type);
  }
  if (const auto encoding = header_value(line, "content-encoding"); !encoding.empty()) {
    content_encoding_ = lower(encoding);
  }
  if (const auto encoding = lower(header_value(line, "transfer-encoding"));
      !encoding.empty() && encoding != "chunked") {
    content_encoding_ = encoding;
  }
  if (const auto place = header_value(line, "location"); !place.empty()) location_ = place;
}

void StreamReader::add_output(const ReadTime& when) {
  const std::int32_t delay = microseconds(monotonic_ns() - when.arrived_ns);
  // The kernel's time is that of one event. If others waited with it, theirs is only known to lie
  // within the delay.
  std::int32_t error = when.is_kernels ? 0 : delay;
  if (!outcome_.events.empty() && outcome_.events.back().at_ns == when.arrived_ns) {
    error = delay;
    outcome_.events.back().error_us = std::max(outcome_.events.back().error_us, delay);
  }
  outcome_.events.push_back({when.arrived_ns, delay, error});
}

void StreamReader::take_chunk(Chunk chunk, const ReadTime& when) {
  if (outcome_.has_done || outcome_.failure) return;
  outcome_.end_ns = when.arrived_ns;
  if (!chunk.finish.empty()) outcome_.finish = std::move(chunk.finish);
  if (chunk.prompt_tokens) outcome_.prompt_tokens = chunk.prompt_tokens;
  if (chunk.output_tokens) outcome_.usage_tokens = chunk.output_tokens;
  switch (chunk.kind) {
    case Chunk::Kind::Output:
      add_output(when);
      if (rule_.keep_text) outcome_.text += chunk.text;
      break;
    case Chunk::Kind::Done:
      outcome_.has_done = true;
      break;
    case Chunk::Kind::Error:
      fail("server_error", "the stream reports an error: " + chunk.text);
      break;
    case Chunk::Kind::Malformed:
      fail("malformed", std::move(chunk.text));
      break;
    case Chunk::Kind::Empty:
      break;
  }
}

bool StreamReader::body(std::string_view bytes, const ReadTime& when) {
  bytes_ += bytes.size();
  if (!content_encoding_.empty() && content_encoding_ != "identity") {
    fail("compressed",
         "the answer is compressed (" + content_encoding_ + "), which was not requested");
    return false;
  }
  const bool is_stream = content_type_.empty() || content_type_.starts_with("text/event-stream") ||
                         content_type_.starts_with("text/plain");
  if (status_ != kOk || !is_stream) {
    other_ += bytes.substr(0, kMostOther - std::min(kMostOther, other_.size()));
    return bytes_ <= kMostOther;
  }
  if (bytes_ > rule_.most_bytes) {
    fail("too_large", fmt::format("the stream is longer than {}", human_bytes(rule_.most_bytes)));
    return false;
  }
  const bool fits = parser_.feed(
      bytes, [&](const EventParser::Event& event) { take_chunk(interpret(event), when); });
  if (!fits) {
    fail("too_large", fmt::format("an event of the stream is longer than {}",
                                  human_bytes(EventParser::kMostBytes)));
  }
  return !outcome_.failure;
}

std::string StreamReader::waited_for() const {
  if (status_ == 0) return "waiting for the answer's headers";
  if (outcome_.events.empty()) return "waiting for the first token";
  return fmt::format("after {} with output", counted(outcome_.events.size(), "event"));
}

void StreamReader::judge_status(int status) {
  constexpr int kRedirects = 300;
  constexpr int kErrors = 400;
  if (status >= kRedirects && status < kErrors) {
    fail("redirect", fmt::format("answered {}, a redirect to {}, which is not followed", status,
                                 location_.empty() ? "nowhere" : location_));
  } else {
    const std::string message = error_message(other_);
    fail(fmt::format("http_{}", status),
         fmt::format("answered {}{}{}", status, message.empty() ? "" : ": ", message));
  }
}

void StreamReader::judge(const TransferEnd& end) {
  if (outcome_.failure || outcome_.has_done) return;
  if (end.failure && end.failure->kind == "headers_too_large") {
    return fail(end.failure->kind, end.failure->text);
  }
  const int status = end.status != 0 ? end.status : status_;
  if (status != 0 && status != kOk) return judge_status(status);
  if (end.failure) {
    if (end.failure->kind == "refused") return fail(end.failure->kind, end.failure->text);
    return fail(end.failure->kind, end.failure->kind == "timeout"
                                       ? "timed out " + waited_for()
                                       : end.failure->text + ", " + waited_for());
  }
  if (!content_encoding_.empty() && content_encoding_ != "identity") {
    return fail("compressed", "the answer is compressed (" + content_encoding_ + ")");
  }
  if (!other_.empty() || end.stopped_by_reader) {
    return fail("malformed", fmt::format("answered with {} instead of a stream: {}", content_type_,
                                         error_message(other_, 80)));
  }
  const ReadTime now{outcome_.end_ns, false};
  parser_.end([&](const EventParser::Event& event) {
    const Chunk chunk = interpret(event);
    // An event that the end cut off says that, not that it is malformed.
    if (chunk.kind != Chunk::Kind::Malformed) take_chunk(chunk, now);
  });
  if (outcome_.failure || outcome_.has_done) return;
  if (outcome_.finish.empty()) {
    fail("truncated", outcome_.events.empty()
                          ? "the stream ended without an event"
                          : "the stream ended without a finish reason or [DONE], " + waited_for());
  }
}

void StreamReader::ended(const TransferEnd& end) {
  has_ended_ = true;
  if (outcome_.end_ns == 0) outcome_.end_ns = monotonic_ns();
  judge(end);
  if (!outcome_.failure && outcome_.events.empty()) fail("empty", "the stream has no output");
  if (outcome_.failure) outcome_.end_ns = monotonic_ns();
}

namespace {

/// Reads a whole answer, for what is asked about a server besides the load.
class WholeAnswer final : public AnswerReader {
 public:
  void header(std::string_view line) override;
  bool body(std::string_view bytes, const ReadTime& /*when*/) override {
    if (answer.body.size() + bytes.size() > kMostBytes) return false;
    answer.body += bytes;
    return true;
  }
  void ended(const TransferEnd& end) override {
    answer.status = end.status;
    answer.failure = end.failure;
    if (end.stopped_by_reader) answer.failure = Failure{"too_large", "more than 4 MiB"};
    has_ended = true;
  }

  Answer answer;
  bool has_ended = false;

 private:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20U;
};

void WholeAnswer::header(std::string_view line) {
  constexpr std::string_view kServer = "server:";
  if (line.size() <= kServer.size()) return;
  if (::strncasecmp(line.data(), kServer.data(), kServer.size()) != 0) return;
  line.remove_prefix(kServer.size());
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  answer.server = line;
}

}  // namespace

std::string Answer::describe() const {
  return failure ? failure->text : fmt::format("answered {}", status);
}

Answer fetch(HttpLoop& loop, const HttpRequest& request, const std::function<bool()>& stopping) {
  WholeAnswer reader;
  loop.start(request, reader);
  while (!reader.has_ended) {
    if (stopping()) loop.cancel(reader);
    if (!reader.has_ended) loop.step(monotonic_ns() + kSecondNs);
  }
  return std::move(reader.answer);
}

}  // namespace profline::load
