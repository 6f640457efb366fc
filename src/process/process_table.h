#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace profline {

/// The processes of the system, read from /proc. Nothing here allocates or takes a lock; it may be
/// called between fork and exec.

/// What the kernel reports about a process in /proc/PID/stat.
struct ProcessStat {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = 0;                 ///< R, S, D, T, Z, ...
  std::uint64_t start_ticks = 0;  ///< since boot
  std::array<char, 16> name{};    ///< NUL-terminated, cut by the kernel

  /// Ended and not yet reaped by its parent.
  bool is_zombie() const { return state == 'Z' || state == 'X'; }
};

/// False if there is no such process (any more).
bool read_process(pid_t pid, ProcessStat& process) noexcept;

/// Whether `ancestor` started `process`, directly or through other processes.
bool descends_from(const ProcessStat& process, pid_t ancestor) noexcept;

/// Lists the existing pids: each that exists throughout once, others perhaps.
class ProcessList {
 public:
  ProcessList() noexcept;
  ~ProcessList();
  ProcessList(const ProcessList&) = delete;
  ProcessList& operator=(const ProcessList&) = delete;

  /// 0 after the last one.
  pid_t next() noexcept;

 private:
  int folder_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  alignas(dirent64) std::array<char, 8192> entries_{};
};

}  // namespace profline
