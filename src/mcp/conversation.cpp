#include "mcp/conversation.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/files.h"

namespace profline::mcp {
namespace {

/// The lines that wait for their answers, between the thread that reads and the one that answers.
class Inbox {
 public:
  /// Waits while too much is waiting already.
  void add(Lines::Line line) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return bytes_ < kMost || is_closed_; });
    bytes_ += line.text.size();
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }
  /// Nothing more comes, because of this Error if there is one.
  void end(Result<void> how) {
    const std::scoped_lock lock(mutex_);
    if (has_ended_) return;
    has_ended_ = true;
    end_ = std::move(how);
    changed_.notify_all();
  }
  /// Nobody takes lines any more.
  void close() {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }
  /// Waits for a line; nothing at the end.
  std::optional<Lines::Line> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !lines_.empty() || has_ended_; });
    if (lines_.empty()) return std::nullopt;
    Lines::Line line = std::move(lines_.front());
    lines_.pop_front();
    bytes_ -= line.text.size();
    changed_.notify_all();
    return line;
  }
  Result<void> how_it_ended() {
    const std::scoped_lock lock(mutex_);
    return end_;
  }

 private:
  static constexpr std::size_t kMost = 16 * kLongestMessage;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Lines::Line> lines_;
  std::size_t bytes_ = 0;
  bool has_ended_ = false;
  bool is_closed_ = false;
  Result<void> end_;
};

/// Reads into the inbox until the input ends or `stop` is readable.
Result<void> read_all(int in, int stop, Inbox& inbox, const Write& write) {
  const auto take = [&](Lines::Line line) -> Result<void> {
    if (!line.is_too_long) {
      if (const auto answer = answer_to_ping(line.text)) return write(*answer + '\n');
    }
    inbox.add(std::move(line));
    return {};
  };
  Lines lines;
  std::array<char, 65536> buffer{};
  for (;;) {
    std::array<pollfd, 2> ready{{{in, POLLIN, 0}, {stop, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return os_error("wait for", "stdin", errno);
    }
    if (ready[1].revents != 0) return {};
    const ssize_t count = read_some(in, buffer.data(), buffer.size());
    if (count < 0) return os_error("read", "stdin", errno);
    if (count == 0) break;
    lines.add({buffer.data(), static_cast<std::size_t>(count)});
    while (auto line = lines.next()) PL_TRY(take(*std::move(line)));
  }
  if (auto line = lines.rest()) PL_TRY(take(*std::move(line)));
  return {};
}

/// A thread that gets no signals: they are for the one that runs programs.
template <typename Work>
std::jthread without_signals(Work work) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::jthread thread(std::move(work));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

Result<void> converse(Server& server, int in, const Write& write) {
  std::mutex writing;
  const Write write_alone = [&](const std::string& line) {
    const std::scoped_lock lock(writing);
    return write(line);
  };
  const FileDescriptor stop(::eventfd(0, EFD_CLOEXEC));
  if (stop.get() < 0) return os_error("create", "an event", errno);
  Inbox inbox;
  const std::jthread reader =
      without_signals([&] { inbox.end(read_all(in, stop.get(), inbox, write_alone)); });
  const auto answer_all = [&]() -> Result<void> {
    Result<void> sent;
    const Send send = [&](const std::string& message) {
      if (sent) sent = write_alone(message + '\n');
    };
    while (const auto line = inbox.next()) {
      const auto text = line->is_too_long ? answer_to_long_line() : server.answer(line->text, send);
      PL_TRY(sent);
      if (text) PL_TRY(write_alone(*text + '\n'));
    }
    return inbox.how_it_ended();
  };
  Result<void> result = answer_all();
  // The reader may be waiting for input or for room.
  inbox.close();
  constexpr std::uint64_t kOne = 1;
  static_cast<void>(write_all(stop.get(), {reinterpret_cast<const char*>(&kOne), sizeof(kOne)}));
  return result;
}

}  // namespace profline::mcp
