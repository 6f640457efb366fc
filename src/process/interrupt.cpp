#include "process/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/files.h"

namespace profline {
namespace {

static_assert(std::atomic<int>::is_always_lock_free, "a signal handler counts requests");
static_assert(std::atomic<Interrupt*>::is_always_lock_free, "a signal handler reads the target");

/// A handler cannot be passed an argument, so it finds the interrupt it serves here.
std::atomic<Interrupt*> signal_target{nullptr};

void raise(int event_fd) noexcept {
  const int saved_errno = errno;  // the interrupted code may be about to read it
  const std::uint64_t one = 1;
  // Cannot fail while the fd is open and the counter far from 2^64.
  [[maybe_unused]] const ssize_t written = ::write(event_fd, &one, sizeof one);
  errno = saved_errno;
}

void on_signal(int signal) {
  Interrupt* target = signal_target.load();
  if (target == nullptr) return;
  if (signal == SIGINT) {
    target->request();
  } else {
    target->request_once();
  }
}

std::atomic<bool> time_limit_is_near{false};
static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers use it");

void on_time_limit(int signal) {
  time_limit_is_near.store(true);
  on_signal(signal);
}

}  // namespace

Interrupt::Interrupt()
    : requested_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      in_a_hurry_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  PL_ASSERT(requested_fd_.is_open() && in_a_hurry_fd_.is_open(),
            "a program has two descriptors to spare at its start");
}

void Interrupt::request() noexcept {
  const int before = requests_.fetch_add(1);
  if (before == 0) raise(requested_fd_.get());
  if (before == 1) raise(in_a_hurry_fd_.get());
}

void Interrupt::request_once() noexcept {
  int none = 0;
  if (requests_.compare_exchange_strong(none, 1)) raise(requested_fd_.get());
}

InterruptOnSignals::InterruptOnSignals(Interrupt& interrupt) {
  Interrupt* nobody = nullptr;
  PL_ASSERT(signal_target.compare_exchange_strong(nobody, &interrupt),
            "signals request one interrupt at a time");
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptOnSignals::~InterruptOnSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  signal_target.store(nullptr);
}

TimeLimitNotice::TimeLimitNotice() {
  time_limit_is_near.store(false);
  struct sigaction action {};
  action.sa_handler = on_time_limit;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGUSR2, &action, &before_);
}

TimeLimitNotice::~TimeLimitNotice() {
  ::sigaction(SIGUSR2, &before_, nullptr);
}

bool TimeLimitNotice::arrived() const noexcept {
  return time_limit_is_near.load();
}

class EndOnInterrupt::Watch {
 public:
  Watch(const Interrupt& interrupt, std::function<void()> end, std::chrono::milliseconds grace)
      : interrupt_(interrupt),
        end_(std::move(end)),
        grace_(grace),
        dismissed_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this] { watch(); }) {}
  ~Watch() {
    const std::uint64_t one = 1;
    static_cast<void>(
        write_all(dismissed_.get(), {reinterpret_cast<const char*>(&one), sizeof one}));
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void watch() const {
    if (!waits_for_request()) return;
    constexpr std::chrono::milliseconds kLook{10};
    auto deadline = Clock::now() + grace_;
    while (Clock::now() < deadline) {
      if (is_dismissed_within(kLook)) return;
      if (interrupt_.is_stopping_in_order()) deadline = Clock::now() + grace_;
    }
    end_();
  }

  /// False if it was dismissed first.
  bool waits_for_request() const {
    std::array<pollfd, 2> events{
        {{dismissed_.get(), POLLIN, 0}, {interrupt_.requested_fd(), POLLIN, 0}}};
    while (::poll(events.data(), events.size(), -1) <= 0) {
    }
    return events[0].revents == 0;
  }

  bool is_dismissed_within(std::chrono::milliseconds time) const {
    pollfd event{dismissed_.get(), POLLIN, 0};
    return ::poll(&event, 1, static_cast<int>(time.count())) == 1;
  }

  const Interrupt& interrupt_;
  std::function<void()> end_;
  std::chrono::milliseconds grace_;
  FileDescriptor dismissed_;
  std::jthread thread_;  // last: it uses all of the above
};

EndOnInterrupt::EndOnInterrupt(const Interrupt& interrupt, std::function<void()> end,
                               std::chrono::milliseconds grace) {
  try {
    watch_ = std::make_unique<Watch>(interrupt, std::move(end), grace);
  } catch (const std::system_error&) {  // from std::jthread, at a limit on processes
  }
}

EndOnInterrupt::~EndOnInterrupt() = default;

}  // namespace profline
