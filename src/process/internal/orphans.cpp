#include "process/internal/orphans.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "process/internal/guardian.h"

namespace profline::internal {
namespace {

using Clock = std::chrono::steady_clock;

/// These processes became ours by accident; there is nothing to poll for their end.
void pause_shortly() {
  constexpr int kPauseMs = 5;
  ::poll(nullptr, 0, kPauseMs);
}

class Orphans {
 public:
  Orphans(const ProcessStat& guardian, pid_t main) : guardian_(guardian), main_(main) {}

  /// Signals all there are until none is left (true) or time is up.
  bool end(int signal, bool repeatedly, std::chrono::milliseconds at_most) {
    const auto deadline = Clock::now() + at_most;
    bool first = true;
    while (true) {
      const std::vector<ProcessStat> present = list();
      if (present.empty()) return true;
      if (Clock::now() >= deadline) return false;
      if (first || repeatedly) {
        for (const ProcessStat& process : present) send(process, signal);
      }
      first = false;
      pause_shortly();
    }
  }

  std::vector<Leftover> signalled() && {
    for (Leftover& leftover : signalled_) {
      ProcessStat process;
      leftover.survived = read_process(leftover.pid, process) && !process.is_zombie();
    }
    return std::move(signalled_);
  }

 private:
  /// Those that have ended and are our children are reaped on the way.
  std::vector<ProcessStat> list() const {
    std::vector<ProcessStat> roots;
    std::vector<ProcessStat> all;
    ProcessList pids;
    while (const pid_t pid = pids.next()) {
      ProcessStat process;
      if (pid == main_ || !read_process(pid, process)) continue;
      if (is_root(process)) {
        if (process.is_zombie()) {
          ::waitpid(pid, nullptr, WNOHANG);
          continue;
        }
        roots.push_back(process);
      }
      if (!process.is_zombie()) all.push_back(process);
    }
    const auto is_no_orphan = [&](const ProcessStat& process) {
      return std::none_of(roots.begin(), roots.end(), [&](const ProcessStat& root) {
        return process.pid == root.pid || descends_from(process, root.pid);
      });
    };
    if (roots.empty()) return {};
    all.erase(std::remove_if(all.begin(), all.end(), is_no_orphan), all.end());
    return all;
  }

  bool is_root(const ProcessStat& process) const {
    return process.parent == ::getpid() && process.start_ticks >= guardian_.start_ticks &&
           process.pid != guardian_.pid && std::string_view(process.name.data()) != kGuardianName;
  }

  void send(const ProcessStat& process, int signal) {
    ::kill(process.pid, signal);
    ::kill(process.pid, SIGCONT);
    const auto same = [&](const Leftover& known) { return known.pid == process.pid; };
    if (std::none_of(signalled_.begin(), signalled_.end(), same)) {
      signalled_.push_back({process.pid, process.name.data(), false});
    }
  }

  ProcessStat guardian_;
  pid_t main_;
  std::vector<Leftover> signalled_;
};

}  // namespace

bool wait_for_child(pid_t pid, std::chrono::milliseconds at_most, int& status, rusage& usage) {
  const auto deadline = Clock::now() + at_most;
  while (true) {
    const pid_t ended = ::wait4(pid, &status, WNOHANG, &usage);
    if (ended == pid) return true;
    if (ended < 0 && errno != EINTR) return false;
    if (Clock::now() >= deadline) return false;
    pause_shortly();
  }
}

std::vector<Leftover> end_orphans(const ProcessStat& guardian, pid_t main, const StopRules& rules) {
  Orphans orphans(guardian, main);
  if (!orphans.end(SIGTERM, false, rules.terminate_grace)) {
    orphans.end(SIGKILL, true, rules.kill_wait);
  }
  return std::move(orphans).signalled();
}

}  // namespace profline::internal
