#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

/// One HTTP request to a server, for what the orchestrator itself asks: whether it is ready, and
/// its profiler's endpoints. Without TLS; loads go through profline-load.
namespace profline::server {

/// `http://127.0.0.1:8000/base`.
struct Address {
  std::string host;
  std::uint16_t port = 80;
  std::string path;  ///< in front of every path; empty or without a slash at its end
};
/// An Error of kind Config for https and for what is not a URL.
Result<Address> parse_address(std::string_view url);
/// `HOST:PORT`.
Result<Address> parse_host_port(std::string_view text);

struct HttpAnswer {
  int status = 0;
  std::string body;  ///< at most the first HttpCall::most_body bytes of it
};

struct HttpCall {
  std::string method = "GET";
  std::string path = "/";
  std::string body{};  ///< JSON; empty: none
  std::chrono::milliseconds timeout{1000};
  std::size_t most_body = std::size_t{64} << 10U;
};
/// The reason of the Error of a call that took too long.
inline constexpr const char* kNoAnswer = "no_answer";
/// An Error of kind Io says what went wrong, in words that follow a colon: `connection refused`. If
/// `stopping` holds, it ends early.
Result<HttpAnswer> call(const Address& address, const HttpCall& request,
                        const std::function<bool()>& stopping = {});

/// Whether something accepts connections; an Error says why not.
Result<void> connects(const Address& address, std::chrono::milliseconds timeout);

/// The process that listens on a port of this machine; 0: nobody, or not known.
std::int64_t listener_on(std::uint16_t port);

}  // namespace profline::server
