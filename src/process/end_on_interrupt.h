#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "process/interrupt.h"

namespace profline {

/// Ends the program after an interrupt wherever it is: in a long computation, in the middle of a
/// large file, in a read from a pipe that never delivers. `grace` after the request, or after the
/// last Interrupt::OrderlyStop ended if that is later, calls `end` on a thread of its own; `end`
/// does not return. Who acts on the interrupt sooner ends in his own way: destroy this last.
class EndOnInterrupt {
 public:
  static constexpr std::chrono::milliseconds kGrace{200};

  /// Where no thread can be had, interrupts are what the rest of the program makes of them.
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
