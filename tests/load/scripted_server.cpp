// A server of completions with a known schedule, which logs when it really sent each event, or
// which misbehaves in a way that has a name. For tests of the load generator; loopback only.
//
//   scripted_server [--ttft MS] [--gap MS] [--capacity R] [--stall REQUEST FOR_S] [--broken KIND]
//                   [--no-usage] [--log FILE]
//
// Prints `port N`. Every second completion is broken. On SIGTERM it writes the log, with one line
// per event: request, event, time before and after it was sent, in ns of the monotonic clock.

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr double kMillisecond = 1e6;

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

struct Options {
  double ttft_ms = 5;
  double gap_ms = 2;
  double capacity = 0;
  int stall_at = 0;
  double stall_for_s = 0;
  bool usage = true;
  std::string broken;
  std::string log;
};

struct Step {
  enum class Do { Send, Close, Reset, Flood };
  std::int64_t at_ns = 0;
  std::string bytes{};
  Do what = Do::Send;
  int request = -1;  // of an event that is logged
  int event = -1;
  std::size_t offset = 0;  // of a flood
};

struct Connection {
  int fd = -1;
  std::string in{};
  std::deque<Step> steps{};
};

struct Sent {
  int request, event;
  std::int64_t before, after;
};

std::atomic<bool> g_stopping{false};

std::string chunked(const std::string& data) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  return size + data + "\r\n";
}
std::string event(const std::string& data) {
  return "data: " + data + "\n\n";
}
std::string text_event(const std::string& text) {
  return event(R"({"choices":[{"index":0,"text":")" + text + R"(","finish_reason":null}]})");
}
const std::string kFinish = R"({"choices":[{"text":"","finish_reason":"length"}]})";
const std::string kStreamHeaders =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nServer: scripted\r\n";
const std::string kChunkedHeaders = kStreamHeaders + "Transfer-Encoding: chunked\r\n\r\n";

std::string answer(const std::string& status, const std::string& type, const std::string& body,
                   const std::string& more = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\n" + more +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}
std::string json_answer(const std::string& body) {
  return answer("200 OK", "application/json", body);
}
std::string whole_stream(const std::vector<std::string>& events) {
  std::string text = kChunkedHeaders;
  for (const std::string& each : events) text += chunked(each);
  return text + "0\r\n\r\n";
}

/// What each kind of broken server does with a request.
using Script = std::function<std::vector<Step>(std::int64_t now)>;
Script sends(std::string bytes, Step::Do then = Step::Do::Send) {
  return [=](std::int64_t now) {
    std::vector<Step> steps{{now, bytes}};
    if (then != Step::Do::Send) steps.push_back({now + kSecond / 50, "", then});
    return steps;
  };
}
Script floods(std::string first, std::string again) {
  return [=](std::int64_t now) {
    return std::vector<Step>{{now, first}, {now, again, Step::Do::Flood}};
  };
}

std::map<std::string, Script> broken_kinds() {
  const std::string token = chunked(text_event("x"));
  const std::string a_kilobyte(1024, 'a');
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += '[';
  std::map<std::string, Script> kinds;
  using Do = Step::Do;
  kinds["reset_at_once"] = sends("", Do::Reset);
  kinds["close_at_once"] = sends("", Do::Close);
  kinds["close_in_headers"] = sends("HTTP/1.1 200 OK\r\nContent-", Do::Close);
  kinds["not_http"] = sends("SSH-2.0-OpenSSH_9.2\r\n\r\n", Do::Close);
  kinds["silence"] = sends("");
  kinds["stuck_in_headers"] = sends("HTTP/1.1 200 OK\r\nContent-");
  kinds["endless_headers"] = floods("HTTP/1.1 200 OK\r\n", "X-More: " + a_kilobyte + "\r\n");
  kinds["endless_header_line"] = floods("HTTP/1.1 200 OK\r\nX-More: ", a_kilobyte);
  kinds["endless_continue"] = floods("", "HTTP/1.1 100 Continue\r\nX: " + a_kilobyte + "\r\n\r\n");
  kinds["status_204"] = sends("HTTP/1.1 204 No Content\r\n\r\n");
  kinds["status_400"] =
      sends(answer("400 Bad Request", "application/json", R"({"error":{"message":"bad"}})"));
  kinds["status_401"] =
      sends(answer("401 Unauthorized", "application/json", R"({"detail":"key"})"));
  kinds["status_404"] = sends(answer("404 Not Found", "text/html", "<h1>no</h1>"));
  kinds["status_429"] = sends(answer("429 Too Many Requests", "text/plain", "slow down"));
  kinds["status_500"] = sends(answer("500 Internal Server Error", "text/plain", ""));
  kinds["status_503_endless"] =
      floods("HTTP/1.1 503 Busy\r\nContent-Type: text/plain\r\n\r\n", a_kilobyte);
  kinds["redirect"] =
      sends(answer("302 Found", "text/plain", "", "Location: http://127.0.0.1:1/\r\n"));
  kinds["redirect_loop"] =
      sends(answer("307 Temporary Redirect", "text/plain", "", "Location: /v1/completions\r\n"));
  kinds["gzip"] = floods(kStreamHeaders + "Content-Encoding: gzip\r\n\r\n", a_kilobyte);
  kinds["gzip_transfer"] =
      floods(kStreamHeaders + "Transfer-Encoding: gzip, chunked\r\n\r\n", chunked(a_kilobyte));
  kinds["html"] = sends(answer("200 OK", "text/html", "<h1>Welcome</h1>"));
  kinds["json"] = sends(json_answer(R"({"choices":[{"text":"whole"}]})"));
  kinds["not_json"] = sends(whole_stream({text_event("x"), event("{oops")}));
  kinds["no_choices"] = sends(whole_stream({event(R"({"id":1})")}));
  kinds["nul_bytes"] = sends(whole_stream({event(std::string("{\"a\0\"", 5))}));
  kinds["invalid_utf8"] = sends(whole_stream({text_event("\xC3(")}));
  kinds["deep_json"] = sends(whole_stream({event(deep)}));
  kinds["cut_in_event"] = sends(kChunkedHeaders + token + "40\r\ndata: {\"cho", Do::Close);
  kinds["no_finish"] = sends(whole_stream({text_event("x"), text_event("y")}));
  kinds["empty_stream"] = sends(whole_stream({}));
  kinds["no_output"] = sends(whole_stream({event(kFinish), event("[DONE]")}));
  kinds["length_too_long"] =
      sends(kStreamHeaders + "Content-Length: 9999\r\n\r\n" + text_event("x"), Do::Close);
  kinds["length_too_short"] = sends(
      kStreamHeaders + "Content-Length: 20\r\n\r\n" + text_event("x") + event("[DONE]"), Do::Close);
  kinds["bad_chunk_size"] = sends(kChunkedHeaders + token + "zzz\r\n", Do::Close);
  kinds["reset_in_stream"] = sends(kChunkedHeaders + token, Do::Reset);
  kinds["stall_in_stream"] = sends(kChunkedHeaders + token + token);
  kinds["endless_stream"] = floods(kChunkedHeaders, token);
  kinds["endless_line"] = floods(kStreamHeaders + "\r\ndata: ", a_kilobyte);
  kinds["endless_comments"] = floods(kStreamHeaders + "\r\n", ": " + a_kilobyte + "\n");
  kinds["error_in_stream"] =
      sends(whole_stream({text_event("x"), event(R"({"error":{"message":"out of memory"}})")}));
  kinds["error_event"] = sends(whole_stream({"event: error\ndata: engine died\n\n"}));
  // Unusual, but complete.
  kinds["done_without_end"] =
      sends(kChunkedHeaders + token + chunked(event(kFinish)) + chunked(event("[DONE]")));
  kinds["no_done"] = sends(whole_stream({text_event("x"), event(kFinish)}));
  return kinds;
}

class Server {
 public:
  explicit Server(Options options) : options_(std::move(options)), kinds_(broken_kinds()) {}
  int run();

 private:
  int listen_on_loopback();
  void accept_all();
  void read_from(Connection& connection);
  bool take_request(Connection& connection);
  void complete(Connection& connection, const std::string& body);
  std::int64_t stalled(std::int64_t at_ns) const;
  bool play(Connection& connection, std::int64_t now);
  bool flood(Connection& connection, Step& step);
  void drop(int fd);
  void arm();
  void write_log() const;

  Options options_;
  std::map<std::string, Script> kinds_;
  int listener_ = -1;
  int poll_ = -1;
  int timer_ = -1;
  std::map<int, std::unique_ptr<Connection>> connections_;
  int completions_ = 0;
  std::int64_t stall_ns_ = 0;
  std::int64_t free_ns_ = 0;
  std::vector<Sent> sent_;
};

int Server::listen_on_loopback() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0) return -1;
  ::listen(listener_, 1024);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

void Server::accept_all() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event watch{};
    watch.events = EPOLLIN;
    watch.data.fd = fd;
    ::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &watch);
    connections_[fd] = std::make_unique<Connection>();
    connections_[fd]->fd = fd;
  }
}

void Server::drop(int fd) {
  ::close(fd);
  connections_.erase(fd);
}

std::int64_t Server::stalled(std::int64_t at_ns) const {
  const std::int64_t begin = stall_ns_;
  const auto end = begin + static_cast<std::int64_t>(options_.stall_for_s * kSecond);
  return at_ns >= begin && at_ns < end ? end : at_ns;
}

void Server::complete(Connection& connection, const std::string& body) {
  const std::int64_t now = now_ns();
  const int number = completions_++;
  if (number == options_.stall_at) stall_ns_ = now;
  if (!options_.broken.empty() && number % 2 == 1) {
    for (Step& step : kinds_.at(options_.broken)(now)) connection.steps.push_back(std::move(step));
    return;
  }
  const std::size_t at = body.find("\"max_tokens\":");
  const int tokens = at == std::string::npos ? 4 : std::atoi(body.c_str() + at + 13);
  std::int64_t start = now;
  if (options_.capacity > 0) {
    start = std::max(now, free_ns_);
    free_ns_ = start + static_cast<std::int64_t>(kSecond / options_.capacity);
  }
  start += static_cast<std::int64_t>(options_.ttft_ms * kMillisecond);
  connection.steps.push_back({now, kChunkedHeaders});
  for (int i = 0; i < tokens; ++i) {
    const auto due = stalled(start + static_cast<std::int64_t>(i * options_.gap_ms * kMillisecond));
    const std::string text = "r" + std::to_string(number) + " ";
    connection.steps.push_back({due, chunked(text_event(text)), Step::Do::Send, number, i});
  }
  const std::int64_t end = connection.steps.back().at_ns;
  std::string last = chunked(event(kFinish));
  if (options_.usage) {
    last += chunked(event(R"({"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":)" +
                          std::to_string(tokens) + "}}"));
  }
  connection.steps.push_back({end, last + chunked(event("[DONE]")) + "0\r\n\r\n"});
}

/// Takes one whole request from the input, if there is one.
bool Server::take_request(Connection& connection) {
  const std::size_t headers = connection.in.find("\r\n\r\n");
  if (headers == std::string::npos) return false;
  std::size_t length = 0;
  const std::size_t at = connection.in.find("Content-Length: ");
  if (at < headers) length = static_cast<std::size_t>(std::atoll(connection.in.c_str() + at + 16));
  if (connection.in.size() < headers + 4 + length) return false;
  const std::string head = connection.in.substr(0, headers);
  const std::string body = connection.in.substr(headers + 4, length);
  connection.in.erase(0, headers + 4 + length);
  const std::int64_t now = now_ns();
  if (head.find("/v1/models") != std::string::npos) {
    connection.steps.push_back({now, json_answer(R"({"data":[{"id":"scripted"}]})")});
  } else if (head.find("/tokenize") != std::string::npos) {
    const std::size_t text = body.find("\"content\":");
    const std::string_view words =
        std::string_view(body).substr(text, body.find("\",\"add_special") - text);
    const auto count = 1 + std::count(words.begin(), words.end(), ' ');
    connection.steps.push_back({now, json_answer("{\"count\":" + std::to_string(count) + "}")});
  } else if (head.find("completions") != std::string::npos) {
    complete(connection, body);
  } else {
    connection.steps.push_back({now, answer("404 Not Found", "text/plain", "no such page")});
  }
  return true;
}

void Server::read_from(Connection& connection) {
  char buffer[65536];
  while (true) {
    const ssize_t got = ::read(connection.fd, buffer, sizeof buffer);
    if (got > 0) {
      connection.in.append(buffer, static_cast<std::size_t>(got));
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
    drop(connection.fd);
    return;
  }
  while (take_request(connection)) {
  }
}

/// As much as the client takes, continued where the last time ended. False: it is gone.
bool Server::flood(Connection& connection, Step& step) {
  std::string many = step.bytes.substr(step.offset);
  while (many.size() < 65536) many += step.bytes;
  for (int i = 0; i < 16; ++i) {
    const ssize_t put = ::send(connection.fd, many.data(), many.size(), MSG_NOSIGNAL);
    if (put < 0) return errno == EAGAIN;
    const auto taken = static_cast<std::size_t>(put);
    step.offset = (step.offset + taken) % step.bytes.size();
    many.erase(0, taken);
    while (many.size() < 65536) many += step.bytes;
  }
  return true;
}

/// Does what is due. False: the connection is gone.
bool Server::play(Connection& connection, std::int64_t now) {
  while (!connection.steps.empty() && connection.steps.front().at_ns <= now) {
    Step& step = connection.steps.front();
    if (step.what == Step::Do::Flood) {
      step.at_ns = now + kSecond / 500;
      return flood(connection, step);
    }
    if (step.what != Step::Do::Send) {
      if (step.what == Step::Do::Reset) {
        const linger hard{1, 0};
        ::setsockopt(connection.fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
      }
      return false;
    }
    const std::int64_t before = now_ns();
    if (!step.bytes.empty() &&
        ::send(connection.fd, step.bytes.data(), step.bytes.size(), MSG_NOSIGNAL) < 0) {
      return false;
    }
    if (step.request >= 0) sent_.push_back({step.request, step.event, before, now_ns()});
    connection.steps.pop_front();
  }
  return true;
}

void Server::arm() {
  std::int64_t next = now_ns() + kSecond / 10;
  for (const auto& [fd, connection] : connections_) {
    if (!connection->steps.empty()) next = std::min(next, connection->steps.front().at_ns);
  }
  itimerspec when{};
  when.it_value.tv_sec = std::max<std::int64_t>(1, next) / kSecond;
  when.it_value.tv_nsec = std::max<std::int64_t>(1, next) % kSecond;
  ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
}

void Server::write_log() const {
  if (options_.log.empty()) return;
  std::FILE* const file = std::fopen(options_.log.c_str(), "w");
  if (file == nullptr) return;
  for (const Sent& each : sent_) {
    std::fprintf(file, "%d %d %lld %lld\n", each.request, each.event,
                 static_cast<long long>(each.before), static_cast<long long>(each.after));
  }
  std::fclose(file);
}

int Server::run() {
  if (!options_.broken.empty() && !kinds_.contains(options_.broken)) {
    for (const auto& [name, script] : kinds_) std::printf("%s\n", name.c_str());
    return 2;
  }
  const int port = listen_on_loopback();
  if (port < 0) return 1;
  poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  for (const int fd : {listener_, timer_}) {
    epoll_event watch{};
    watch.events = EPOLLIN;
    watch.data.fd = fd;
    ::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &watch);
  }
  std::printf("port %d\n", port);
  std::fflush(stdout);
  std::vector<epoll_event> events(256);
  while (!g_stopping) {
    arm();
    const int count = ::epoll_wait(poll_, events.data(), 256, 200);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener_) accept_all();
      if (fd == timer_) {
        std::uint64_t ignored = 0;
        (void)!::read(timer_, &ignored, sizeof ignored);
      }
      const auto found = connections_.find(fd);
      if (found != connections_.end()) read_from(*found->second);
    }
    const std::int64_t now = now_ns();
    std::vector<int> gone;
    for (const auto& [fd, connection] : connections_) {
      if (!play(*connection, now)) gone.push_back(fd);
    }
    for (const int fd : gone) drop(fd);
  }
  write_log();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto next = [&] { return i + 1 < argc ? argv[++i] : "0"; };
    if (name == "--ttft") options.ttft_ms = std::atof(next());
    if (name == "--gap") options.gap_ms = std::atof(next());
    if (name == "--capacity") options.capacity = std::atof(next());
    if (name == "--stall") {
      options.stall_at = std::atoi(next());
      options.stall_for_s = std::atof(next());
    }
    if (name == "--broken") options.broken = next();
    if (name == "--no-usage") options.usage = false;
    if (name == "--log") options.log = next();
  }
  struct sigaction action {};
  action.sa_handler = [](int) { g_stopping = true; };
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  return Server(options).run();
}
