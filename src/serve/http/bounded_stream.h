#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

#include <httplib.h>

namespace profline::serve {

/// Waits until the socket is ready for `event` of poll(); false after `patience`, and once
/// `is_over`, which is looked at again and again.
bool wait_until_over(int socket, short event, std::chrono::milliseconds patience,
                     const std::atomic<bool>& is_over);

/// A connection during one request: what arrives is bounded in size and time, which the library
/// does not do. It reads a byte at a time, hence the buffer, which outlives the request. Once
/// `is_over`, nothing more is read or sent.
class BoundedStream final : public httplib::Stream {
 public:
  BoundedStream(int socket, std::string& unread, const std::atomic<bool>& is_over);

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* bytes, std::size_t size) override;
  ssize_t write(const char* bytes, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }
  // Of later releases of the library.
  virtual bool wait_readable() const { return is_readable(); }
  virtual bool wait_writable() const { return is_writable(); }

  /// What was received after the request.
  void drop();

 private:
  bool receive();

  int socket_;
  std::string& unread_;
  const std::atomic<bool>& is_over_;
  std::size_t at_ = 0;
  std::size_t taken_ = 0;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace profline::serve
