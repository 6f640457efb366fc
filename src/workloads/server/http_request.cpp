#include "workloads/server/http_request.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include <netdb.h>

#include "base/files.h"
#include "base/strings.h"
#include "process/process_table.h"

namespace profline::server {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostHead = std::size_t{16} << 10U;

Error failed(const std::string& why) {
  return Error(ErrorKind::Io, why);
}

std::string words_of(int error) {
  if (error == ECONNREFUSED) return "connection refused";
  if (error == ECONNRESET) return "connection reset";
  return lower(std::strerror(error));
}

/// Waits for the socket, in slices, so that it can be stopped.
class Patience {
 public:
  Patience(std::chrono::milliseconds timeout, const std::function<bool()>& stopping)
      : timeout_(timeout), deadline_(Clock::now() + timeout), stopping_(stopping) {}

  Result<void> wait(int socket, short events) const {
    constexpr std::chrono::milliseconds kSlice{50};
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
      if (left <= std::chrono::milliseconds(0)) {
        return failed("no answer within " + std::to_string(timeout_.count()) + " ms")
            .with_reason(kNoAnswer);
      }
      if (stopping_ && stopping_()) return Error(ErrorKind::Cancelled, "interrupted");
      pollfd event{socket, events, 0};
      const int ready = ::poll(&event, 1, static_cast<int>(std::min(left, kSlice).count()));
      if (ready > 0) return {};
    }
  }

 private:
  std::chrono::milliseconds timeout_;
  Clock::time_point deadline_;
  const std::function<bool()>& stopping_;
};

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

Result<FileDescriptor> connection_to(const Address& address, const Patience& patience) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int status = ::getaddrinfo(address.host.c_str(), port.c_str(), &wanted, &found);
  if (status != 0) return failed("'" + address.host + "' has no address: " + gai_strerror(status));
  const std::unique_ptr<addrinfo, FreeAddresses> list(found);
  std::string why = "no address";
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    FileDescriptor socket(
        ::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, at->ai_protocol));
    if (!socket.is_open()) continue;
    if (::connect(socket.get(), at->ai_addr, at->ai_addrlen) != 0) {
      if (errno != EINPROGRESS) {
        why = words_of(errno);
        continue;
      }
      PL_TRY(patience.wait(socket.get(), POLLOUT));
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) {
        why = words_of(error);
        continue;
      }
    }
    return socket;
  }
  return failed(why);
}

Result<void> send_all(int socket, std::string_view bytes, const Patience& patience) {
  while (!bytes.empty()) {
    PL_TRY(patience.wait(socket, POLLOUT));
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent < 0) return failed(words_of(errno));
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

/// The value of a header, in lower case; empty: it is not there.
std::string header_of(std::string_view head, std::string_view name) {
  for (const std::string_view line : lines(head)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || lower(line.substr(0, colon)) != name) continue;
    return lower(trim(line.substr(colon + 1)));
  }
  return {};
}

std::optional<std::size_t> number_in(std::string_view text, int base = 10) {
  std::size_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return status == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

/// Removes the sizes of chunks.
std::string unchunked(std::string_view body) {
  std::string text;
  while (true) {
    const std::size_t end = body.find("\r\n");
    if (end == std::string_view::npos) return text;
    const auto size = number_in(body.substr(0, end), 16);
    body.remove_prefix(end + 2);
    if (!size || *size == 0) return text;
    text += body.substr(0, *size);
    body.remove_prefix(std::min(body.size(), *size + 2));
  }
}

/// Whether everything of an answer with this head has arrived.
bool is_whole(std::string_view head, std::string_view body) {
  if (const auto length = number_in(header_of(head, "content-length"))) {
    return body.size() >= *length;
  }
  if (header_of(head, "transfer-encoding").find("chunked") != std::string::npos) {
    return body.ends_with("\r\n0\r\n\r\n") || body == "0\r\n\r\n";
  }
  return false;  // until the connection closes
}

}  // namespace

Result<Address> parse_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  Address address;
  address.host = text.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  const auto port =
      colon == std::string_view::npos ? std::nullopt : number_in(text.substr(colon + 1));
  constexpr std::size_t kMostPort = 65'535;
  if (address.host.empty() || !port || *port == 0 || *port > kMostPort) {
    return Error(ErrorKind::Config, "'" + std::string(text) + "' is not HOST:PORT");
  }
  address.port = static_cast<std::uint16_t>(*port);
  return address;
}

Result<Address> parse_address(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) {
    return Error(ErrorKind::Config, "'" + std::string(url) +
                                        "' does not begin with http://, which readiness and the "
                                        "gates http and cuda need");
  }
  url.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(url.find('/'), url.size());
  std::string host(url.substr(0, slash));
  const bool has_port = host.rfind(':') != std::string::npos && !host.ends_with(']');
  if (!has_port) host += ":80";
  Address address = PL_TRY(parse_host_port(host));
  address.path = url.substr(slash);
  while (address.path.ends_with('/')) address.path.pop_back();
  return address;
}

/// `127.0.0.1:8000`, `[::1]:8000`
std::string host_header(const Address& address) {
  const bool is_numeric_6 = address.host.find(':') != std::string::npos;
  return (is_numeric_6 ? "[" + address.host + "]" : address.host) + ":" +
         std::to_string(address.port);
}

Result<HttpAnswer> call(const Address& address, const HttpCall& request,
                        const std::function<bool()>& stopping) {
  const Patience patience(request.timeout, stopping);
  const FileDescriptor socket = PL_TRY(connection_to(address, patience));
  std::string text = request.method + " " + address.path + request.path +
                     " HTTP/1.1\r\nHost: " + host_header(address) +
                     "\r\nUser-Agent: profline\r\nAccept: */*\r\nConnection: close\r\n";
  if (!request.body.empty()) text += "Content-Type: application/json\r\n";
  if (!request.body.empty() || request.method != "GET") {
    text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  PL_TRY(send_all(socket.get(), text + "\r\n" + request.body, patience));
  std::string received;
  std::size_t head_end = std::string::npos;
  while (true) {
    PL_TRY(patience.wait(socket.get(), POLLIN));
    char buffer[4096];
    const ssize_t got = ::recv(socket.get(), buffer, sizeof buffer, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got < 0) return failed(words_of(errno));
    received.append(buffer, static_cast<std::size_t>(got));
    if (head_end == std::string::npos) head_end = received.find("\r\n\r\n");
    if (head_end == std::string::npos && received.size() > kMostHead) break;
    if (got == 0) break;
    if (head_end == std::string::npos) continue;
    const std::string_view body = std::string_view(received).substr(head_end + 4);
    if (body.size() >= request.most_body || is_whole(received.substr(0, head_end), body)) break;
  }
  const std::size_t blank = received.find(' ');
  const auto status = received.starts_with("HTTP/") && blank != std::string::npos
                          ? number_in(std::string_view(received).substr(blank + 1))
                          : std::nullopt;
  if (received.empty()) return failed("the connection was closed without an answer");
  if (!status || head_end == std::string::npos) return failed("the answer is not HTTP");
  HttpAnswer answer{static_cast<int>(*status), received.substr(head_end + 4)};
  const std::string head = received.substr(0, head_end);
  if (header_of(head, "transfer-encoding").find("chunked") != std::string::npos) {
    answer.body = unchunked(answer.body);
  }
  if (answer.body.size() > request.most_body) answer.body.resize(request.most_body);
  return answer;
}

Result<void> connects(const Address& address, std::chrono::milliseconds timeout) {
  const std::function<bool()> never;
  PL_TRY(connection_to(address, Patience(timeout, never)));
  return {};
}

std::int64_t listener_on(std::uint16_t port) {
  constexpr std::string_view kListening = "0A";
  std::set<std::string> inodes;
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const std::string table = read_file(file).value_or("");
    for (const std::string_view line : lines(table)) {
      // `  0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 12345 …`
      std::vector<std::string_view> words;
      for (const std::string_view word : split(line, ' ')) {
        if (!word.empty()) words.push_back(word);
      }
      constexpr std::size_t kInode = 9;
      if (words.size() <= kInode || words[3] != kListening) continue;
      const auto its_port = number_in(words[1].substr(words[1].rfind(':') + 1), 16);
      if (its_port == port) inodes.insert("socket:[" + std::string(words[kInode]) + "]");
    }
  }
  if (inodes.empty()) return 0;
  ProcessList processes;
  for (pid_t pid = processes.next(); pid != 0; pid = processes.next()) {
    std::error_code failure;
    namespace fs = std::filesystem;
    for (fs::directory_iterator at("/proc/" + std::to_string(pid) + "/fd", failure), end;
         !failure && at != end; at.increment(failure)) {
      std::error_code gone;
      if (inodes.contains(fs::read_symlink(at->path(), gone).string())) return pid;
    }
  }
  return 0;
}

}  // namespace profline::server
