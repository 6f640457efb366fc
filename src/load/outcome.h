#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What happened to one request.
namespace profline::load {

/// Why a request failed. `kind` is one of these names, or `http_` with the status:
///
///   refused unreachable unresolved tls reset timeout   the connection
///   protocol redirect compressed headers_too_large     the answer's headers
///   malformed truncated empty server_error too_large   the stream
///   cancelled client_limit                             this side
struct Failure {
  std::string kind;
  std::string text;

  bool operator==(const Failure&) const = default;
};

/// An event with output, and how well its time is known.
struct OutputEvent {
  std::int64_t at_ns = 0;
  std::int32_t delay_us = 0;  ///< from its arrival at the socket to when we looked at it
  std::int32_t error_us = 0;  ///< what of that may be in `at_ns`
};

/// Times are by the machine's monotonic clock.
struct Outcome {
  std::uint64_t id = 0;
  bool measured = false;  ///< not part of the warm-up
  std::int64_t due_ns = 0;
  std::int64_t sent_ns = 0;
  std::int64_t end_ns = 0;  ///< the last event, or the failure
  std::vector<OutputEvent> events{};
  std::optional<std::uint64_t> prompt_tokens{};
  std::optional<std::uint64_t> usage_tokens{};  ///< generated, as the server counts them
  bool has_done = false;
  std::string finish{};
  std::optional<Failure> failure{};
  std::size_t prompt = 0;  ///< which of the prompts
  std::string text{};      ///< only if responses are stored

  bool succeeded() const { return !failure.has_value(); }
  /// Without usage: an estimate.
  std::uint64_t tokens() const { return usage_tokens.value_or(events.size()); }
};

}  // namespace profline::load
