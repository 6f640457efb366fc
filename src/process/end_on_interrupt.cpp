#include "process/end_on_interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cstdint>
#include <system_error>
#include <thread>

#include "base/file_descriptor.h"

namespace profline {

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

  /// False when it was dismissed first.
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
  } catch (const std::system_error&) {  // of std::jthread, where a limit on processes is reached
  }
}

EndOnInterrupt::~EndOnInterrupt() = default;

}  // namespace profline
