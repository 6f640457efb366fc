#include "pipeline/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "base/files.h"
#include "base/strings.h"
#include "process/process_table.h"

namespace profline::pipeline {

std::string host_name() {
  utsname system{};
  return ::uname(&system) == 0 ? system.nodename : "";
}

std::string boot_id() {
  return std::string(trim(read_file("/proc/sys/kernel/random/boot_id").value_or("")));
}

bool is_alive(const ProcessRecord& process) {
  ProcessStat stat;
  return process.pid > 1 && read_process(static_cast<pid_t>(process.pid), stat) &&
         stat.start_ticks == process.start_ticks && !stat.is_zombie();
}

ProcessRecord own_process() {
  ProcessStat stat;
  if (!read_process(::getpid(), stat)) return {};
  return {stat.pid, stat.start_ticks};
}

}  // namespace profline::pipeline
