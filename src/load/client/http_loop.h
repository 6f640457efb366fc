#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "load/metrics.h"

/// HTTP requests on one thread: libcurl's multi interface in an event loop of our own, which knows
/// when data arrived and how long it took to look at it.
namespace profline::load {

/// Nanoseconds of the machine's monotonic clock.
std::int64_t monotonic_ns();
inline constexpr std::int64_t kSecondNs = 1'000'000'000;

struct HttpRequest {
  std::string url;
  std::string body{};  ///< empty: GET
  std::vector<std::string> headers{};
  std::chrono::milliseconds timeout{};
};

/// When data reached the socket.
struct ReadTime {
  std::int64_t arrived_ns = 0;  ///< the kernel's time, or when the loop woke up
  bool is_kernels = false;
};

/// The end of a transfer, if the connection, the headers or the reader ended it.
struct TransferEnd {
  int status = 0;                    ///< of HTTP; 0: there was no answer
  std::optional<Failure> failure{};  ///< of the transfer itself; a status is not one
  bool stopped_by_reader = false;
};

/// Receives an answer. Called by the loop only.
class AnswerReader {
 public:
  virtual ~AnswerReader() = default;
  /// A header line such as `Content-Type: text/event-stream`; several answers may follow each
  /// other, each begins with its status line.
  virtual void header(std::string_view line) = 0;
  /// False: enough; the transfer ends.
  virtual bool body(std::string_view bytes, const ReadTime& when) = 0;
  virtual void ended(const TransferEnd& end) = 0;
};

/// Any number of transfers. Compression is not requested, redirects are not followed.
class HttpLoop {
 public:
  static Result<std::unique_ptr<HttpLoop>> open();
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;
  ~HttpLoop();

  /// The reader must live until ended(), which may be called before this returns.
  void start(const HttpRequest& request, AnswerReader& reader);
  /// Ends a transfer, or every transfer, as cancelled.
  void cancel(AnswerReader& reader);
  void cancel_all();
  std::size_t in_flight() const;

  /// Waits for data, but not beyond `until_ns`, and handles what there is. Returns without waiting
  /// if a transfer ended when it was started, and when a signal arrives.
  void step(std::int64_t until_ns);

  /// Share of the time since begin_account() in which the loop was not waiting.
  void begin_account();
  double busy_share() const;
  /// Whether the kernel stamps received data.
  bool has_kernel_times() const;

 private:
  class Implementation;
  explicit HttpLoop(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// A whole answer, for requests that are not measured.
struct Answer {
  int status = 0;
  std::string body{};
  std::string server{};  ///< the header of that name
  std::optional<Failure> failure{};

  bool is_ok() const { return !failure && status == 200; }
  /// `answered 404`, `connection refused`.
  std::string describe() const;
};
/// Bodies beyond 4 MiB are a failure. If `stopping` holds, the answer is a failure, too.
Answer fetch(HttpLoop& loop, const HttpRequest& request, const std::function<bool()>& stopping);

}  // namespace profline::load
