#include "process/background.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/files.h"
#include "process/process_table.h"

namespace profline {

/// Passes on what the runner says, and notes the start.
class BackgroundChild::Watch final : public RunObserver {
 public:
  Watch(BackgroundChild& child, RunObserver* next) : child_(child), next_(next) {}

  void started(const ProcessId& process) override {
    if (next_ != nullptr) next_->started(process);
    const std::lock_guard lock(child_.mutex_);
    child_.process_ = process;
    child_.has_started_ = true;
    child_.changed_.notify_all();
  }
  void output(std::string_view bytes) override {
    if (next_ != nullptr) next_->output(bytes);
  }
  void outlived() override {
    if (next_ != nullptr) next_->outlived();
  }
  void abandoned() override {
    if (next_ != nullptr) next_->abandoned();
  }

 private:
  BackgroundChild& child_;
  RunObserver* next_;
};

Result<std::unique_ptr<BackgroundChild>> BackgroundChild::start(const Command& command,
                                                                const StopRules& rules,
                                                                RunObserver* observer) {
  std::unique_ptr<BackgroundChild> child(new BackgroundChild());
  BackgroundChild& self = *child;
  self.thread_ = std::jthread([&self, command, rules, observer] {
    PosixRunner runner(self.interrupt_, rules);
    Watch watch(self, observer);
    Result<Exit> end = runner.run(command, watch);
    const std::lock_guard lock(self.mutex_);
    self.end_.emplace(std::move(end));
    self.changed_.notify_all();
  });
  std::unique_lock lock(self.mutex_);
  self.changed_.wait(lock, [&] { return self.has_started_ || self.end_; });
  if (!self.has_started_) return self.end_->error();
  lock.unlock();
  return child;
}

BackgroundChild::~BackgroundChild() {
  kill();
}

const Exit* BackgroundChild::wait(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, at_most, [&] { return end_.has_value(); });
  return end_ ? &end_->value() : nullptr;
}

void BackgroundChild::kill() {
  interrupt_.request();
  interrupt_.request();
}

bool send_signal(const ProcessId& process, int signal) {
  const FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0U)));
  ProcessStat stat;
  if (!read_process(process.pid, stat) || stat.start_ticks != process.start_ticks) return false;
  if (!handle.is_open()) return ::kill(process.pid, signal) == 0;  // kernels before 5.3
  return ::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0U) == 0;
}

}  // namespace profline
