#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "base/files.h"

namespace profline {

/// The user's request to stop. The first request stops what runs gracefully, the second at once. It
/// cannot be withdrawn.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// May be called from a signal handler and from any thread.
  void request() noexcept;
  /// The same, but a repetition is not taken for impatience: a closed terminal sends SIGHUP twice.
  void request_once() noexcept;

  bool requested() const noexcept { return requests_.load() > 0; }
  bool in_a_hurry() const noexcept { return requests_.load() > 1; }

  /// Readable, for poll(), as soon as requested() or in_a_hurry() holds. Never read, so everyone
  /// who polls them wakes up.
  int requested_fd() const { return requested_fd_.get(); }
  int in_a_hurry_fd() const { return in_a_hurry_fd_.get(); }

  /// While one of these lives, its owner responds to a request in an orderly way, such as by
  /// stopping a child gracefully; EndOnInterrupt waits for that.
  class OrderlyStop {
   public:
    explicit OrderlyStop(const Interrupt& interrupt) : interrupt_(interrupt) {
      ++interrupt.orderly_stops_;
    }
    ~OrderlyStop() { --interrupt_.orderly_stops_; }
    OrderlyStop(const OrderlyStop&) = delete;
    OrderlyStop& operator=(const OrderlyStop&) = delete;

   private:
    const Interrupt& interrupt_;
  };
  bool is_stopping_in_order() const noexcept { return orderly_stops_.load() > 0; }

 private:
  std::atomic<int> requests_{0};
  mutable std::atomic<int> orderly_stops_{0};
  FileDescriptor requested_fd_;
  FileDescriptor in_a_hurry_fd_;
};

/// While this lives, SIGINT, SIGTERM and SIGHUP request the interrupt instead of ending the
/// program; a second SIGINT means that the user is in a hurry. A signal that was ignored (nohup, a
/// shell's background job) stays ignored. At most one at a time.
class InterruptOnSignals {
 public:
  explicit InterruptOnSignals(Interrupt& interrupt);
  ~InterruptOnSignals();
  InterruptOnSignals(const InterruptOnSignals&) = delete;
  InterruptOnSignals& operator=(const InterruptOnSignals&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

/// While this lives, SIGUSR2 requests the interrupt that signals request: a queueing system sends
/// it when the time limit of a job is near. At most one at a time, and only within the life of an
/// InterruptOnSignals.
class TimeLimitNotice {
 public:
  TimeLimitNotice();
  ~TimeLimitNotice();
  TimeLimitNotice(const TimeLimitNotice&) = delete;
  TimeLimitNotice& operator=(const TimeLimitNotice&) = delete;

  bool arrived() const noexcept;

 private:
  struct sigaction before_ {};
};

/// Ends the program after an interrupt wherever it is: in a long computation, in the middle of a
/// large file, in a read from a pipe that never delivers. `grace` after the request, or after the
/// last Interrupt::OrderlyStop ended if that is later, calls `end` on its own thread; `end` does
/// not return. Code that responds to the interrupt sooner ends in its own way: destroy this last.
class EndOnInterrupt {
 public:
  static constexpr std::chrono::milliseconds kGrace{200};

  /// If no thread can be started, only the rest of the program responds to interrupts.
  EndOnInterrupt(const Interrupt& interrupt, std::function<void()> end,
                 std::chrono::milliseconds grace = kGrace);
  ~EndOnInterrupt();
  EndOnInterrupt(const EndOnInterrupt&) = delete;
  EndOnInterrupt& operator=(const EndOnInterrupt&) = delete;

 private:
  class Watch;
  std::unique_ptr<Watch> watch_;
};

}  // namespace profline
