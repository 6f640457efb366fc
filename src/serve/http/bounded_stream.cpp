#include "serve/http/bounded_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace profline::serve {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A request line and its headers. Nothing else is read.
constexpr std::size_t kMostRequestBytes = std::size_t{32} * 1024;
constexpr seconds kTimeToAsk(10);       ///< for a whole request, however many bytes at a time
constexpr seconds kTimeToTakeMore(20);  ///< for any part of an answer
constexpr milliseconds kLook(250);      ///< how often waiting looks whether it is over

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

}  // namespace

bool wait_until_over(int socket, short event, milliseconds patience,
                     const std::atomic<bool>& is_over) {
  const auto end = Clock::now() + patience;
  while (!is_over) {
    const milliseconds left = left_until(end);
    if (wait_for(socket, event, std::min(left, kLook))) return !is_over;
    if (left == milliseconds(0)) return false;
  }
  return false;
}

BoundedStream::BoundedStream(int socket, std::string& unread, const std::atomic<bool>& is_over)
    : socket_(socket), unread_(unread), is_over_(is_over), deadline_(Clock::now() + kTimeToAsk) {}

bool BoundedStream::is_readable() const {
  return !unread_.empty() || wait_for(socket_, POLLIN, {});
}

bool BoundedStream::is_writable() const {
  return wait_until_over(socket_, POLLOUT, kTimeToTakeMore, is_over_);
}

ssize_t BoundedStream::read(char* bytes, std::size_t size) {
  if (unread_.empty() && !receive()) return -1;
  const std::size_t count = std::min(size, unread_.size() - at_);
  std::memcpy(bytes, unread_.data() + at_, count);
  at_ += count;
  if (at_ == unread_.size()) drop();
  taken_ += count;
  return taken_ > kMostRequestBytes ? -1 : static_cast<ssize_t>(count);
}

ssize_t BoundedStream::write(const char* bytes, std::size_t size) {
  if (!is_writable()) return -1;
  ssize_t count = 0;
  do {
    count = ::send(socket_, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return write(bytes, size);
  return count;
}

void BoundedStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void BoundedStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void BoundedStream::drop() {
  unread_.erase(0, at_);
  at_ = 0;
}

bool BoundedStream::receive() {
  std::array<char, 4096> buffer{};
  if (!wait_until_over(socket_, POLLIN, left_until(deadline_), is_over_)) return false;
  ssize_t count = 0;
  do {
    count = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  unread_.assign(buffer.data(), static_cast<std::size_t>(count));
  at_ = 0;
  return true;
}

}  // namespace profline::serve
