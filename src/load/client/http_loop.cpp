#include "load/client/http_loop.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <set>

#include <curl/curl.h>
#include <netinet/in.h>

#include "base/error.h"
#include "base/files.h"

namespace profline::load {
namespace {

constexpr std::int64_t kMillisecondNs = 1'000'000;

std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * kSecondNs + time.tv_nsec;
}

/// When the first byte that waits at a socket was received, by the realtime clock; nothing if
/// nothing waits or the kernel does not say.
std::optional<std::int64_t> received_ns(int fd) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, 128> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT) <= 0) return std::nullopt;
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec time{};
    std::memcpy(&time, CMSG_DATA(each), sizeof(time));
    return time.tv_sec * kSecondNs + time.tv_nsec;
  }
  return std::nullopt;
}

/// What curl reports, in the words of Failure. Nothing: the transfer succeeded.
std::optional<Failure> failure_of(CURLcode code, long os_error, const char* text) {
  const std::string words = text[0] != '\0' ? text : curl_easy_strerror(code);
  const Failure long_line{"headers_too_large", "a line of the answer's headers is too long"};
  constexpr int kTooLarge = 100;  // CURLE_TOO_LARGE, since curl 8.6
  if (static_cast<int>(code) == kTooLarge) return long_line;
  switch (code) {
    case CURLE_OK:
      return std::nullopt;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Failure{"unresolved", words};
    case CURLE_COULDNT_CONNECT:
      return Failure{os_error == ECONNREFUSED ? "refused" : "unreachable", words};
    case CURLE_OPERATION_TIMEDOUT:
      return Failure{"timeout", words};
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return Failure{"tls", words};
    case CURLE_RECV_ERROR:  // also what curl says about chunks that it does not understand
      return Failure{os_error != 0 ? "reset" : "protocol", words};
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
      return Failure{"reset", words};
    case CURLE_PARTIAL_FILE:
      return Failure{"truncated", words};
    case CURLE_OUT_OF_MEMORY:  // a line of more than 100 KiB
      return long_line;
    case CURLE_BAD_CONTENT_ENCODING:
      return Failure{"compressed", words};
    default:
      return Failure{"protocol", words};
  }
}

/// Descriptors for connections: as many as the system allows.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

std::int64_t monotonic_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

/// curl's handles, the descriptors that it waits for, and a timer.
class HttpLoop::Implementation {
 public:
  Implementation(CURLM* multi, FileDescriptor poll, FileDescriptor timer)
      : multi_(multi), poll_(std::move(poll)), timer_(std::move(timer)) {
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Implementation::watch_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Implementation::set_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kMostConnections);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = timer_.get();
    ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, timer_.get(), &event);
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() {
    cancel_all();
    curl_multi_cleanup(multi_);
  }

  void start(const HttpRequest& request, AnswerReader& reader);
  void cancel(AnswerReader& reader);
  void cancel_all();
  std::size_t in_flight() const { return transfers_.size(); }
  void step(std::int64_t until_ns);
  void begin_account();
  double busy_share() const;
  bool has_kernel_times() const { return has_kernel_times_; }

 private:
  static constexpr long kMostConnections = 20'000;
  static constexpr std::size_t kMostHeaderBytes = std::size_t{256} << 10U;

  struct Transfer {
    Implementation* loop = nullptr;
    AnswerReader* reader = nullptr;
    CURL* easy = nullptr;
    curl_slist* headers = nullptr;
    std::string body{};
    std::array<char, CURL_ERROR_SIZE> error{};
    std::size_t header_bytes = 0;
    bool headers_too_large = false;
    bool stopped_by_reader = false;
  };

  static int watch_socket(CURL* easy, curl_socket_t fd, int what, void* self, void* known);
  static int set_timer(CURLM* multi, long milliseconds, void* self);
  static int prepare_socket(void* self, curl_socket_t fd, curlsocktype purpose);
  static std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* transfer);
  static std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* transfer);

  void arm(std::int64_t until_ns);
  void handle(const epoll_event& event, std::int64_t woke_ns);
  bool take_finished();  // whether any transfer had ended
  void end(Transfer* transfer, CURLcode code);
  void release(Transfer* transfer);

  CURLM* multi_;
  FileDescriptor poll_;
  FileDescriptor timer_;
  std::set<Transfer*> transfers_;
  std::optional<std::int64_t> curl_timer_ns_;
  ReadTime read_time_;
  bool has_kernel_times_ = false;
  std::int64_t account_start_ns_ = 0;
  std::int64_t waited_ns_ = 0;
};

int HttpLoop::Implementation::watch_socket(CURL* /*easy*/, curl_socket_t fd, int what, void* self,
                                           void* known) {
  auto& loop = *static_cast<Implementation*>(self);
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(loop.poll_.get(), EPOLL_CTL_DEL, fd, nullptr);
    curl_multi_assign(loop.multi_, fd, nullptr);
    return 0;
  }
  epoll_event event{};
  event.data.fd = fd;
  if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  const int change = known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(loop.poll_.get(), change, fd, &event) != 0 && errno == EEXIST) {
    ::epoll_ctl(loop.poll_.get(), EPOLL_CTL_MOD, fd, &event);
  }
  curl_multi_assign(loop.multi_, fd, self);
  return 0;
}

int HttpLoop::Implementation::set_timer(CURLM* /*multi*/, long milliseconds, void* self) {
  auto& loop = *static_cast<Implementation*>(self);
  loop.curl_timer_ns_.reset();
  if (milliseconds >= 0) loop.curl_timer_ns_ = monotonic_ns() + milliseconds * kMillisecondNs;
  return 0;
}

int HttpLoop::Implementation::prepare_socket(void* /*self*/, curl_socket_t fd,
                                             curlsocktype /*purpose*/) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
  return CURL_SOCKOPT_OK;
}

std::size_t HttpLoop::Implementation::take_header(char* bytes, std::size_t size, std::size_t count,
                                                  void* transfer) {
  auto& at = *static_cast<Transfer*>(transfer);
  at.header_bytes += size * count;
  if (at.header_bytes > kMostHeaderBytes) {
    at.headers_too_large = true;
    return 0;
  }
  at.reader->header({bytes, size * count});
  return size * count;
}

std::size_t HttpLoop::Implementation::take_body(char* bytes, std::size_t size, std::size_t count,
                                                void* transfer) {
  auto& at = *static_cast<Transfer*>(transfer);
  if (at.reader->body({bytes, size * count}, at.loop->read_time_)) return size * count;
  at.stopped_by_reader = true;
  return 0;
}

void HttpLoop::Implementation::start(const HttpRequest& request, AnswerReader& reader) {
  auto* const transfer = new Transfer;  // owned by transfers_, freed by release()
  transfers_.insert(transfer);
  transfer->loop = this;
  transfer->reader = &reader;
  transfer->body = request.body;
  CURL* const easy = transfer->easy = curl_easy_init();
  if (easy == nullptr) {
    end(transfer, CURLE_OUT_OF_MEMORY);
    return;
  }
  for (const std::string& header : request.headers) {
    transfer->headers = curl_slist_append(transfer->headers, header.c_str());
  }
  // curl would wait for "100 Continue" before it sends a large body.
  transfer->headers = curl_slist_append(transfer->headers, "Expect:");
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
  if (!request.body.empty()) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer->body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(transfer->body.size()));
  }
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.timeout.count()));
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(easy, CURLOPT_PROXY, "");  // a proxy would be measured, too
  curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error.data());
  curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, &Implementation::prepare_socket);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Implementation::take_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Implementation::take_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
  if (curl_multi_add_handle(multi_, easy) != CURLM_OK) {
    end(transfer, CURLE_OUT_OF_MEMORY);
    return;
  }
  // Connect, or send on a connection that is open, now and not at the next turn.
  read_time_ = {monotonic_ns(), false};
  int running = 0;
  curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
}

void HttpLoop::Implementation::release(Transfer* transfer) {
  transfers_.erase(transfer);
  if (transfer->easy != nullptr) {
    curl_multi_remove_handle(multi_, transfer->easy);
    curl_easy_cleanup(transfer->easy);
  }
  curl_slist_free_all(transfer->headers);
  delete transfer;
}

void HttpLoop::Implementation::end(Transfer* transfer, CURLcode code) {
  TransferEnd end;
  long os_error = 0;
  if (transfer->easy != nullptr) {
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &os_error);
    end.status = static_cast<int>(status);
  }
  end.stopped_by_reader = transfer->stopped_by_reader;
  if (transfer->headers_too_large) {
    end.failure = Failure{"headers_too_large", "the answer's headers are larger than 256 KiB"};
  } else if (!transfer->stopped_by_reader) {
    end.failure = failure_of(code, os_error, transfer->error.data());
  }
  AnswerReader& reader = *transfer->reader;
  release(transfer);
  reader.ended(end);
}

void HttpLoop::Implementation::cancel(AnswerReader& reader) {
  const auto found =
      std::find_if(transfers_.begin(), transfers_.end(),
                   [&](const Transfer* transfer) { return transfer->reader == &reader; });
  if (found == transfers_.end()) return;
  release(*found);
  TransferEnd end;
  end.failure = Failure{"cancelled", "the client ended the request"};
  reader.ended(end);
}

void HttpLoop::Implementation::cancel_all() {
  while (!transfers_.empty()) cancel(*(*transfers_.begin())->reader);
}

bool HttpLoop::Implementation::take_finished() {
  bool any = false;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    void* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    end(static_cast<Transfer*>(transfer), message->data.result);
    any = true;
  }
  return any;
}

void HttpLoop::Implementation::arm(std::int64_t until_ns) {
  const std::int64_t at =
      std::max<std::int64_t>(1, std::min(until_ns, curl_timer_ns_.value_or(until_ns)));
  itimerspec when{};
  when.it_value.tv_sec = at / kSecondNs;
  when.it_value.tv_nsec = at % kSecondNs;
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void HttpLoop::Implementation::handle(const epoll_event& event, std::int64_t woke_ns) {
  constexpr std::int64_t kMostDelay = 60 * kSecondNs;
  const int fd = event.data.fd;
  read_time_ = {woke_ns, false};
  // Looking would take a connection's error away from curl.
  const bool is_whole = (event.events & (EPOLLERR | EPOLLHUP)) == 0U;
  if ((event.events & EPOLLIN) != 0U && is_whole) {
    if (const auto received = received_ns(fd)) {
      // The clock may have been set meanwhile; an impossible time is not used.
      const std::int64_t delay = clock_ns(CLOCK_REALTIME) - *received;
      if (delay >= 0 && delay < kMostDelay) {
        read_time_ = {monotonic_ns() - delay, true};
        has_kernel_times_ = true;
      }
    }
  }
  int flags = 0;
  if ((event.events & (EPOLLIN | EPOLLHUP)) != 0U) flags |= CURL_CSELECT_IN;
  if ((event.events & EPOLLOUT) != 0U) flags |= CURL_CSELECT_OUT;
  if ((event.events & EPOLLERR) != 0U) flags |= CURL_CSELECT_ERR;
  int running = 0;
  curl_multi_socket_action(multi_, fd, flags, &running);
  read_time_ = {woke_ns, false};
}

void HttpLoop::Implementation::step(std::int64_t until_ns) {
  std::array<epoll_event, 256> events{};
  // An answer can be complete as soon as its request is sent: the caller has to act on it now.
  if (take_finished()) until_ns = 0;
  arm(until_ns);
  const std::int64_t before = monotonic_ns();
  const int count = ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), -1);
  const std::int64_t woke = monotonic_ns();
  waited_ns_ += woke - before;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == timer_.get()) {
      std::uint64_t expirations = 0;
      (void)read_some(timer_.get(), reinterpret_cast<char*>(&expirations), sizeof(expirations));
    } else {
      handle(event, woke);
    }
  }
  if (curl_timer_ns_ && *curl_timer_ns_ <= monotonic_ns()) {
    curl_timer_ns_.reset();
    read_time_ = {monotonic_ns(), false};
    int running = 0;
    curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
  }
  take_finished();
}

void HttpLoop::Implementation::begin_account() {
  account_start_ns_ = monotonic_ns();
  waited_ns_ = 0;
}

double HttpLoop::Implementation::busy_share() const {
  const auto total = static_cast<double>(monotonic_ns() - account_start_ns_);
  return total <= 0 ? 0 : std::clamp(1 - static_cast<double>(waited_ns_) / total, 0.0, 1.0);
}

HttpLoop::HttpLoop(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
HttpLoop::~HttpLoop() = default;

Result<std::unique_ptr<HttpLoop>> HttpLoop::open() {
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Error(ErrorKind::Tool, "libcurl cannot be initialised");
  }
  raise_descriptor_limit();
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // timers are otherwise up to 50 us late
  FileDescriptor poll(::epoll_create1(EPOLL_CLOEXEC));
  FileDescriptor timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!poll.is_open() || !timer.is_open()) {
    return os_error("open", "an event descriptor", errno);
  }
  CURLM* const multi = curl_multi_init();
  if (multi == nullptr) return Error(ErrorKind::Tool, "libcurl cannot be initialised");
  return std::unique_ptr<HttpLoop>(
      new HttpLoop(std::make_unique<Implementation>(multi, std::move(poll), std::move(timer))));
}

void HttpLoop::start(const HttpRequest& request, AnswerReader& reader) {
  implementation_->start(request, reader);
}
void HttpLoop::cancel(AnswerReader& reader) {
  implementation_->cancel(reader);
}
void HttpLoop::cancel_all() {
  implementation_->cancel_all();
}
std::size_t HttpLoop::in_flight() const {
  return implementation_->in_flight();
}
void HttpLoop::step(std::int64_t until_ns) {
  implementation_->step(until_ns);
}
void HttpLoop::begin_account() {
  implementation_->begin_account();
}
double HttpLoop::busy_share() const {
  return implementation_->busy_share();
}
bool HttpLoop::has_kernel_times() const {
  return implementation_->has_kernel_times();
}

}  // namespace profline::load
