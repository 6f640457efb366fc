#include "serve/http/http_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <httplib.h>

#include "base/files.h"

namespace profline::serve {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A request line and its headers. Nothing else is read.
constexpr std::size_t kMostRequestBytes = std::size_t{32} * 1024;
constexpr seconds kTimeToAsk(10);       ///< for a whole request, however many bytes at a time
constexpr seconds kTimeToTakeMore(20);  ///< for any part of an answer
constexpr seconds kTimeBetween(15);     ///< a connection may be idle
constexpr int kMostRequests = 1000;     ///< of a connection
/// Each connection has a thread while it lasts; further ones wait.
constexpr std::size_t kMostThreads = 256;

milliseconds left_until(Clock::time_point end) {
  return std::max(std::chrono::duration_cast<milliseconds>(end - Clock::now()), milliseconds(0));
}

bool wait_for(int socket, short event, milliseconds patience) {
  pollfd asked{socket, event, 0};
  int ready = 0;
  do {
    ready = ::poll(&asked, 1, static_cast<int>(patience.count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

/// A connection during one request: what arrives is bounded in size and time, which the library
/// does not do. It reads a byte at a time, hence the buffer, which outlives the request.
class BoundedStream final : public httplib::Stream {
 public:
  BoundedStream(int socket, std::string& unread)
      : socket_(socket), unread_(unread), deadline_(Clock::now() + kTimeToAsk) {}

  bool is_readable() const override { return !unread_.empty() || wait_for(socket_, POLLIN, {}); }
  bool is_writable() const override { return wait_for(socket_, POLLOUT, kTimeToTakeMore); }

  ssize_t read(char* bytes, std::size_t size) override {
    if (unread_.empty() && !receive()) return -1;
    const std::size_t count = std::min(size, unread_.size() - at_);
    std::memcpy(bytes, unread_.data() + at_, count);
    at_ += count;
    if (at_ == unread_.size()) drop();
    taken_ += count;
    return taken_ > kMostRequestBytes ? -1 : static_cast<ssize_t>(count);
  }

  ssize_t write(const char* bytes, std::size_t size) override {
    if (!is_writable()) return -1;
    ssize_t count = 0;
    do {
      count = ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return write(bytes, size);
    return count;
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  socket_t socket() const override { return socket_; }
  // Of later releases of the library.
  virtual bool wait_readable() const { return is_readable(); }
  virtual bool wait_writable() const { return is_writable(); }

  /// What was received after the request.
  void drop() {
    unread_.erase(0, at_);
    at_ = 0;
  }

 private:
  bool receive() {
    std::array<char, 4096> buffer{};
    if (!wait_for(socket_, POLLIN, left_until(deadline_))) return false;
    ssize_t count = 0;
    do {
      count = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count <= 0) return false;
    unread_.assign(buffer.data(), static_cast<std::size_t>(count));
    at_ = 0;
    return true;
  }

  int socket_;
  std::string& unread_;
  std::size_t at_ = 0;
  std::size_t taken_ = 0;
  Clock::time_point deadline_;
};

/// A thread for each connection, up to a limit: a slow client then delays nobody else.
class Threads final : public httplib::TaskQueue {
 public:
  // Returns nothing in some releases, and whether there was room in others.
  using Enqueued =
      decltype(std::declval<httplib::TaskQueue&>().enqueue(std::declval<std::function<void()>>()));
  Enqueued enqueue(std::function<void()> task) override {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
    if (idle_ < tasks_.size() && threads_.size() < kMostThreads) start();
    wakes_.notify_one();
    return Enqueued(true);
  }
  void shutdown() override {
    {
      const std::scoped_lock lock(mutex_);
      is_over_ = true;
      wakes_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void start() {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // As many as the system gives; with none, the connection waits for the next attempt.
    }
  }
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      wakes_.wait(lock, [this] { return !tasks_.empty() || is_over_; });
      --idle_;
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool is_over_ = false;
};

std::string only(const httplib::Request& request, const char* name) {
  return request.get_header_value_count(name) == 1 ? request.get_header_value(name) : "";
}

Visitor visitor_of(const httplib::Request& request) {
  return {.method = request.method,
          .host = only(request, "Host"),
          .origin = request.get_header_value("Origin"),
          .fetch_site = request.get_header_value("Sec-Fetch-Site"),
          .fetch_mode = request.get_header_value("Sec-Fetch-Mode"),
          .cookies = request.get_header_value("Cookie"),
          .authorization = only(request, "Authorization"),
          .token = {}};
}

/// Sends the file in pieces; a client that goes away ends it.
void send_file(FileBody& body, const std::string& type, httplib::Response& to) {
  const auto file = std::make_shared<FileDescriptor>(std::move(body.file));
  to.set_content_provider(
      static_cast<std::size_t>(body.size), type,
      [file](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
        constexpr std::size_t kPiece = std::size_t{128} * 1024;
        std::string piece(std::min(length, kPiece), '\0');
        const ssize_t count =
            ::pread(file->get(), piece.data(), piece.size(), static_cast<off_t>(offset));
        // A file that became shorter cannot be sent as announced.
        return count > 0 && sink.write(piece.data(), static_cast<std::size_t>(count));
      });
}

void send(Response& response, httplib::Response& to) {
  constexpr const char* kNothing =
      "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
  constexpr int kOk = 200;
  // The library chooses between that and a part of the content.
  if (response.status != kOk) to.status = response.status;
  to.set_header("Content-Security-Policy", response.policy.empty() ? kNothing : response.policy);
  to.set_header("X-Content-Type-Options", "nosniff");
  to.set_header("X-Frame-Options", "DENY");
  to.set_header("Referrer-Policy", "no-referrer");
  to.set_header("Cross-Origin-Resource-Policy", "same-origin");
  to.set_header("Cross-Origin-Opener-Policy", "same-origin-allow-popups");
  to.set_header("Cache-Control",
                response.is_kept ? "private, max-age=31536000, immutable" : "no-store");
  for (const auto& [name, value] : response.headers) to.set_header(name.c_str(), value.c_str());
  if (response.file && response.file->size > 0) {
    send_file(*response.file, response.type, to);
  } else {
    to.set_content(std::move(response.body), response.type.c_str());
  }
}

}  // namespace

class HttpServer::Impl final : public httplib::Server {
 public:
  Impl() {
    new_task_queue = [] { return new Threads; };
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      Site* const site = site_.load();
      if (site != nullptr) {
        Response answer = site->respond(visitor_of(request), request.target);
        send(answer, response);
      }
      return HandlerResponse::Handled;
    });
    set_payload_max_length(0);
    set_keep_alive_max_count(kMostRequests);
    set_keep_alive_timeout(kTimeBetween.count());
  }

  /// The library lets 5 clients wait; further ones would try again after a second, then two.
  void let_many_wait() const { ::listen(svr_sock_, SOMAXCONN); }

  std::atomic<Site*> site_{nullptr};
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_done_{false};

 private:
  bool process_and_close_socket(socket_t socket) override {
    std::string unread;
    for (int i = 0; i < kMostRequests && wait_for_request(socket, unread); ++i) {
      BoundedStream stream(socket, unread);
      bool is_closing = false;
      bool has_body = false;
      const auto prepare = [&](httplib::Request& request) {
        // Compressing takes longer than a loopback.
        request.headers.erase("Accept-Encoding");
        // Many ranges of a large file would be a large answer to a small request.
        if (request.ranges.size() > 1) request.ranges.clear();
        // A body is not read, so that nothing after it can be.
        has_body = request.has_header("Content-Length") ||
                   request.has_header("Transfer-Encoding") ||
                   (request.method != "GET" && request.method != "HEAD");
      };
      if (!answer(stream, is_closing, prepare) || is_closing || has_body) break;
      stream.drop();
    }
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return true;
  }

  bool wait_for_request(socket_t socket, const std::string& unread) const {
    if (!unread.empty()) return !is_over_;
    const auto end = Clock::now() + kTimeBetween;
    constexpr milliseconds kLook(250);  // whether the server is to stop
    while (!is_over_ && Clock::now() < end) {
      if (wait_for(socket, POLLIN, kLook)) return !is_over_;
    }
    return false;
  }

  /// The library's releases differ in what they want to know about the connection.
  template <typename Prepare>
  bool answer(httplib::Stream& stream, bool& is_closing, const Prepare& prepare) {
    return answer_with(*this, stream, is_closing, prepare);
  }
  template <typename Server, typename Prepare>
  static bool answer_with(Server& server, httplib::Stream& stream, bool& is_closing,
                          const Prepare& prepare) {
    if constexpr (requires { server.process_request(stream, false, is_closing, prepare); }) {
      return server.process_request(stream, false, is_closing, prepare);
    } else {
      return server.process_request(stream, "", 0, "", 0, false, is_closing, prepare);
    }
  }
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl, int port)
    : impl_(std::move(impl)), port_(port) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

Result<HttpServer> HttpServer::bind(const std::string& host, int port) {
  auto impl = std::make_unique<Impl>();
  // Without SO_REUSEPORT, which the library would set: two servers must not share a port.
  impl->set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  errno = 0;
  const int bound =
      port == 0 ? impl->bind_to_any_port(host) : (impl->bind_to_port(host, port) ? port : -1);
  if (bound <= 0) {
    const std::string why = errno != 0 ? ": " + os_error_words(errno) : "";
    return Error(ErrorKind::Io,
                 "cannot listen on " + host + ", port " + std::to_string(port) + why);
  }
  impl->let_many_wait();
  return HttpServer(std::move(impl), bound);
}

void HttpServer::serve(Site& site) {
  impl_->site_ = &site;
  if (!impl_->is_over_) impl_->listen_after_bind();
  impl_->is_done_ = true;
}

void HttpServer::stop() {
  impl_->is_over_ = true;
  // The library forgets a request to stop that comes before it listens.
  while (!impl_->is_done_) {
    impl_->stop();
    std::this_thread::sleep_for(milliseconds(5));
  }
}

}  // namespace profline::serve
