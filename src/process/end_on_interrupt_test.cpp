#include "process/end_on_interrupt.h"

#include <atomic>
#include <semaphore>

#include <gtest/gtest.h>

namespace profline {
namespace {

using std::chrono::milliseconds;

TEST(EndOnInterrupt, EndsWhatTakesNoNotice) {
  Interrupt interrupt;
  std::binary_semaphore ended(0);
  const EndOnInterrupt ending(
      interrupt, [&] { ended.release(); }, milliseconds(1));
  interrupt.request_once();
  ended.acquire();
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
