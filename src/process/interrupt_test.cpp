#include "process/interrupt.h"

#include <poll.h>

#include <atomic>
#include <semaphore>

#include <gtest/gtest.h>

namespace profline {
namespace {

bool readable(int fd) {
  pollfd event{fd, POLLIN, 0};
  return ::poll(&event, 1, 0) == 1;
}

/// Gives a signal its default action and restores it: a shell's background job ignores SIGINT.
class DefaultSignal {
 public:
  explicit DefaultSignal(int number) : number_(number), before_(::signal(number, SIG_DFL)) {}
  ~DefaultSignal() { ::signal(number_, before_); }
  DefaultSignal(const DefaultSignal&) = delete;
  DefaultSignal& operator=(const DefaultSignal&) = delete;

 private:
  int number_;
  sighandler_t before_;
};

TEST(Interrupt, AskedTwiceIsAHurry) {
  Interrupt interrupt;
  EXPECT_FALSE(interrupt.requested());
  EXPECT_FALSE(readable(interrupt.requested_fd()));
  interrupt.request();
  EXPECT_TRUE(interrupt.requested());
  EXPECT_TRUE(readable(interrupt.requested_fd()));
  EXPECT_FALSE(interrupt.in_a_hurry());
  EXPECT_FALSE(readable(interrupt.in_a_hurry_fd()));
  interrupt.request();
  EXPECT_TRUE(interrupt.in_a_hurry());
  EXPECT_TRUE(readable(interrupt.in_a_hurry_fd()));
  EXPECT_TRUE(readable(interrupt.requested_fd()));
}

TEST(Interrupt, AClosedTerminalIsNoHurry) {
  const DefaultSignal hangup(SIGHUP);
  const DefaultSignal terminate(SIGTERM);
  const DefaultSignal interrupted(SIGINT);
  Interrupt interrupt;
  const InterruptOnSignals on_signals(interrupt);
  ::raise(SIGHUP);
  ::raise(SIGHUP);
  ::raise(SIGTERM);
  EXPECT_TRUE(interrupt.requested());
  EXPECT_TRUE(readable(interrupt.requested_fd()));
  EXPECT_FALSE(interrupt.in_a_hurry());
  ::raise(SIGINT);
  EXPECT_TRUE(interrupt.in_a_hurry());
  EXPECT_TRUE(readable(interrupt.in_a_hurry_fd()));
}

TEST(InterruptOnSignals, PutsBackWhatWasThere) {
  const DefaultSignal interrupted(SIGINT);
  {
    Interrupt interrupt;
    const InterruptOnSignals on_signals(interrupt);
    ::raise(SIGINT);
    EXPECT_TRUE(interrupt.requested());
  }
  struct sigaction after {};
  ::sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
}

TEST(InterruptOnSignals, LeavesAnIgnoredSignalIgnored) {
  const auto before = ::signal(SIGHUP, SIG_IGN);
  Interrupt interrupt;
  {
    const InterruptOnSignals on_signals(interrupt);
    ::raise(SIGHUP);
  }
  EXPECT_FALSE(interrupt.requested());
  ::signal(SIGHUP, before);
}

using std::chrono::milliseconds;

TEST(EndOnInterrupt, EndsWhatTakesNoNotice) {
  Interrupt interrupt;
  std::binary_semaphore ended(0);
  const EndOnInterrupt ending(
      interrupt, [&] { ended.release(); }, milliseconds(1));
  interrupt.request_once();
  EXPECT_TRUE(ended.try_acquire_for(std::chrono::minutes(1)));
}

TEST(EndOnInterrupt, IsDismissedByAnEndInOrder) {
  Interrupt interrupt;
  std::atomic<int> ends = 0;
  {
    const EndOnInterrupt ending(
        interrupt, [&] { ++ends; }, std::chrono::hours(1));
    interrupt.request();
  }
  {
    const EndOnInterrupt never_asked(
        interrupt, [&] { ++ends; }, std::chrono::hours(1));
  }
  EXPECT_EQ(ends, 0);
}

TEST(TimeLimitNotice, RequestsTheInterruptAndIsToldApart) {
  Interrupt interrupt;
  const InterruptOnSignals on_signals(interrupt);
  const TimeLimitNotice notice;
  EXPECT_FALSE(notice.arrived());
  ::raise(SIGUSR2);
  EXPECT_TRUE(notice.arrived());
  EXPECT_TRUE(interrupt.requested());
  ::raise(SIGUSR2);
  EXPECT_FALSE(interrupt.in_a_hurry());
}

TEST(TimeLimitNotice, LeavesOtherSignalsAlone) {
  Interrupt interrupt;
  const InterruptOnSignals on_signals(interrupt);
  const TimeLimitNotice notice;
  ::raise(SIGTERM);
  EXPECT_TRUE(interrupt.requested());
  EXPECT_FALSE(notice.arrived());
}

TEST(EndOnInterrupt, WaitsForAnOrderlyStop) {
  Interrupt interrupt;
  std::binary_semaphore ended(0);
  std::atomic<bool> is_orderly = true;
  std::atomic<bool> came_too_early = false;
  const EndOnInterrupt ending(
      interrupt,
      [&] {
        came_too_early = is_orderly.load();
        ended.release();
      },
      milliseconds(10));
  {
    const Interrupt::OrderlyStop stopping(interrupt);
    interrupt.request();
    EXPECT_TRUE(interrupt.is_stopping_in_order());
    EXPECT_FALSE(ended.try_acquire_for(milliseconds(100)));
    is_orderly = false;
  }
  ended.acquire();
  EXPECT_FALSE(came_too_early);
}

}  // namespace
}  // namespace profline
