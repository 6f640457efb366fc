#include "serve/http/http_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
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
#include "serve/byte_range.h"
#include "serve/http/bounded_stream.h"

namespace profline::serve {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kTimeBetween(15);  ///< a connection may be idle
constexpr int kMostRequests = 1000;  ///< of a connection
/// Each connection has a thread while it lasts; further ones wait.
constexpr std::size_t kMostThreads = 256;

/// A thread for each connection, up to a limit: a slow client then delays nobody else.
class Threads final : public httplib::TaskQueue {
 public:
  /// `is_ending` becomes true when no more connections come, so that those that are open end.
  explicit Threads(std::atomic<bool>& is_ending) : is_ending_(is_ending) {}

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
    is_ending_ = true;
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

  std::atomic<bool>& is_ending_;
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

/// Sends a part of the file in pieces; a client that goes away ends it.
void send_part(FileBody& body, const ByteRange& part, const std::string& type,
               httplib::Response& to) {
  const auto file = std::make_shared<FileDescriptor>(std::move(body.file));
  to.set_content_provider(
      static_cast<std::size_t>(part.size), type,
      [file, first = part.first](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
        constexpr std::size_t kPiece = std::size_t{128} * 1024;
        std::string piece(std::min(length, kPiece), '\0');
        const ssize_t count =
            ::pread(file->get(), piece.data(), piece.size(), static_cast<off_t>(first + offset));
        // A file that became shorter cannot be sent as announced.
        return count > 0 && sink.write(piece.data(), static_cast<std::size_t>(count));
      });
}

void send_file(FileBody& body, std::string_view range, const std::string& type,
               httplib::Response& to) {
  constexpr int kPart = 206;
  constexpr int kNoSuchPart = 416;
  const ByteRange part = byte_range(range, body.size);
  const std::string size = "/" + std::to_string(body.size);
  if (part.kind == ByteRange::Kind::None) {
    to.status = kNoSuchPart;
    to.set_header("Content-Range", "bytes *" + size);
    return;
  }
  if (part.kind == ByteRange::Kind::Part) {
    to.status = kPart;
    to.set_header("Content-Range", "bytes " + std::to_string(part.first) + "-" +
                                       std::to_string(part.first + part.size - 1) + size);
  }
  send_part(body, part, type, to);
}

/// `range`: which part of a file the client wants.
void send(Response& response, std::string_view range, httplib::Response& to) {
  constexpr const char* kNothing =
      "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
  to.status = response.status;
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
    send_file(*response.file, range, response.type, to);
  } else {
    to.set_content(std::move(response.body), response.type.c_str());
  }
}

/// What a server keeps while the library's server is replaced.
struct State {
  std::atomic<Site*> site{nullptr};
  std::atomic<bool> is_over{false};    ///< the server is to stop
  std::atomic<bool> is_ending{false};  ///< connections are to end, for this or another reason
  std::atomic<bool> is_done{false};
};

class Listener final : public httplib::Server {
 public:
  explicit Listener(State& state) : state_(state) {
    new_task_queue = [this] { return new Threads(state_.is_ending); };
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      Site* const site = state_.site.load();
      if (site != nullptr) {
        Response answer = site->respond(visitor_of(request), request.target);
        send(answer, request.method == "GET" ? only(request, "Range") : "", response);
      }
      return HandlerResponse::Handled;
    });
    set_payload_max_length(0);
    set_keep_alive_max_count(kMostRequests);
    set_keep_alive_timeout(kTimeBetween.count());
    // Without SO_REUSEPORT, which the library would set: two servers must not share a port.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
  }

  /// The library lets 5 clients wait; further ones would try again after a second, then two.
  void let_many_wait() const { ::listen(svr_sock_, SOMAXCONN); }

  /// Listens until that ends, for whatever reason.
  void listen() {
    state_.is_ending = state_.is_over.load();
    if (!state_.is_over) listen_after_bind();
    state_.is_ending = true;
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    std::string unread;
    for (int i = 0; i < kMostRequests && wait_for_request(socket, unread); ++i) {
      BoundedStream stream(socket, unread, state_.is_ending);
      bool is_closing = false;
      bool has_body = false;
      const auto prepare = [&](httplib::Request& request) {
        // Compressing takes longer than a loopback.
        request.headers.erase("Accept-Encoding");
        // The library does not look whether the file has the bytes.
        request.ranges.clear();
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
    if (!unread.empty()) return !state_.is_ending;
    return wait_until_over(socket, POLLIN, kTimeBetween, state_.is_ending);
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

  State& state_;
};

/// The port, or an Error of kind Io. Port 0 is any free one.
Result<int> bind_to(httplib::Server& server, const std::string& host, int port) {
  errno = 0;
  const int bound =
      port == 0 ? server.bind_to_any_port(host) : (server.bind_to_port(host, port) ? port : -1);
  if (bound > 0) return bound;
  const std::string why = errno != 0 ? ": " + os_error_words(errno) : "";
  return Error(ErrorKind::Io, "cannot listen on " + host + ", port " + std::to_string(port) + why);
}

}  // namespace

class HttpServer::Impl {
 public:
  /// Binds the library's server, or a new one: in some releases, one that has ended cannot listen
  /// again.
  Result<int> bind(const std::string& host, int port) {
    auto listener = std::make_unique<Listener>(state);
    const int bound = PL_TRY(bind_to(*listener, host, port));
    listener->let_many_wait();
    const std::scoped_lock lock(mutex_);
    listener_ = std::move(listener);
    return bound;
  }
  /// Only the thread that listens binds again.
  void listen() { listener_->listen(); }
  void stop() {
    const std::scoped_lock lock(mutex_);
    listener_->stop();
  }

  State state;

 private:
  std::mutex mutex_;
  std::unique_ptr<Listener> listener_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl, std::string host, int port)
    : impl_(std::move(impl)), host_(std::move(host)), port_(port) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

Result<HttpServer> HttpServer::bind(const std::string& host, int port) {
  auto impl = std::make_unique<Impl>();
  const int bound = PL_TRY(impl->bind(host, port));
  return HttpServer(std::move(impl), host, bound);
}

Result<void> HttpServer::serve(Site& site) {
  impl_->state.site = &site;
  constexpr seconds kBriefly(1);
  constexpr int kMostBriefly = 20;
  Result<void> result;
  for (int briefly = 0; !impl_->state.is_over;) {
    const auto began = Clock::now();
    impl_->listen();
    if (impl_->state.is_over) break;
    briefly = Clock::now() - began < kBriefly ? briefly + 1 : 0;
    if (briefly == kMostBriefly) {
      result = Error(ErrorKind::Io, "no connection can be accepted on " + host_ + ", port " +
                                        std::to_string(port_));
      break;
    }
    // The library gives up when a connection cannot be accepted, for example because the system is
    // out of memory for a moment.
    const auto again = impl_->bind(host_, port_);
    if (!again) {
      result = again.error();
      break;
    }
  }
  impl_->state.is_done = true;
  return result;
}

void HttpServer::stop() {
  impl_->state.is_over = true;
  impl_->state.is_ending = true;
  // The library forgets a request to stop that comes before it listens.
  while (!impl_->state.is_done) {
    impl_->stop();
    std::this_thread::sleep_for(milliseconds(5));
  }
}

}  // namespace profline::serve
