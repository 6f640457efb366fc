#include "process/interrupt.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/assert.h"

namespace profline {
namespace {

static_assert(std::atomic<int>::is_always_lock_free, "a signal handler counts requests");
static_assert(std::atomic<Interrupt*>::is_always_lock_free, "a signal handler reads the target");

/// A handler gets no argument of ours, so the one interrupt it serves is found here.
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

}  // namespace profline
