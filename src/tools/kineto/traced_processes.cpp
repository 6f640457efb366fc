#include "tools/kineto/traced_processes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/files.h"
#include "base/strings.h"
#include "process/process_table.h"

namespace profline::kineto {
namespace {

using std::chrono::seconds;

constexpr seconds kBetweenLooks{1};
/// Listing the libraries of a process delays it a little, so a process that has not loaded libtorch
/// after this many looks is looked at less often.
constexpr std::uint32_t kEagerLooks = 10;
constexpr seconds kPatientLooks{10};
constexpr std::size_t kMostProcesses = 1024;

namespace fs = std::filesystem;

/// How long a process may take to start its trace and to write it. Each usually takes less than a
/// second; writing a trace of 40,000 kernels took four.
constexpr std::chrono::seconds kAround{10};

const WatchedProcess* process_of(const std::vector<WatchedProcess>& processes,
                                 const Client& client) {
  const auto found =
      std::find_if(processes.rbegin(), processes.rend(), [&](const WatchedProcess& process) {
        return process.pid == client.kernel_pid ||
               (client.kernel_pid == 0 && process.pid == client.pid);
      });
  return found == processes.rend() ? nullptr : &*found;
}

Outcome outcome_of(const Client& client, const WatchedProcess* process, const TraceRequest& trace,
                   const fs::path& file) {
  if (!client.asked) return Outcome::NotAsked;
  std::error_code failure;
  if (fs::exists(file, failure)) {
    return is_complete_trace(file) ? Outcome::Traced : Outcome::Truncated;
  }
  const bool stayed =
      process != nullptr && process->last_seen > *client.asked + trace.duration + kAround;
  return stayed ? Outcome::NotWritten : Outcome::EndedEarly;
}

/// Whether two processes have the same command line, as a process and its forked copy do.
bool have_one_command_line(pid_t one, pid_t other) {
  const auto command_line = [](pid_t pid) {
    return read_file("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
  };
  const std::string line = command_line(one);
  return !line.empty() && line == command_line(other);
}

}  // namespace

bool loads_torch(pid_t pid) {
  const std::string maps = read_file("/proc/" + std::to_string(pid) + "/maps").value_or("");
  return maps.find("/libtorch") != std::string::npos;
}

void ProcessWatch::started(const ProcessId& child) {
  child_ = child.pid;
}

void ProcessWatch::output(std::string_view /*bytes*/) {
  const Clock::Steady now = clock_.now();
  if (child_ == 0 || now < next_look_) return;
  next_look_ = now + kBetweenLooks;
  ProcessList list;
  for (pid_t pid = list.next(); pid != 0; pid = list.next()) look(pid);
}

void ProcessWatch::look(pid_t pid) {
  ProcessStat stat;
  if (!read_process(pid, stat) || stat.is_zombie()) return;
  if (pid != child_ && !descends_from(stat, child_)) return;
  const Clock::Steady now = clock_.now();
  auto known =
      std::find_if(processes_.begin(), processes_.end(), [&](const WatchedProcess& process) {
        return process.pid == pid && process.start_ticks == stat.start_ticks;
      });
  if (known == processes_.end()) {
    if (processes_.size() >= kMostProcesses) return;
    processes_.push_back({.pid = pid, .start_ticks = stat.start_ticks});
    looks_.emplace_back();
    known = processes_.end() - 1;
  }
  known->name = stat.name.data();  // an exec changes it
  known->last_seen = now;
  // Until it becomes another program, if it is about to.
  if (pid != child_) known->is_copy = have_one_command_line(pid, stat.parent);
  Look& next = looks_[static_cast<std::size_t>(known - processes_.begin())];
  if (known->has_torch || now < next.next) return;
  known->has_torch = loads_torch(pid);
  ++next.looks;
  next.next = now + (next.looks < kEagerLooks ? kBetweenLooks : kPatientLooks);
}

std::vector<ProcessTrace> outcomes(const Traffic& traffic,
                                   const std::vector<WatchedProcess>& processes,
                                   const TraceRequest& trace) {
  std::vector<ProcessTrace> list;
  std::vector<const WatchedProcess*> talked;
  for (const Client& client : traffic.clients) {
    const WatchedProcess* process = process_of(processes, client);
    const fs::path file = trace_file(trace.file, client.pid);
    ProcessTrace row{.pid = client.pid, .name = process == nullptr ? "" : process->name};
    row.outcome = outcome_of(client, process, trace, file);
    const bool has_file = row.outcome == Outcome::Traced || row.outcome == Outcome::Truncated;
    if (has_file) row.file = file;
    list.push_back(std::move(row));
    talked.push_back(process);
  }
  for (const WatchedProcess& process : processes) {
    const bool is_silent =
        process.has_torch && std::find(talked.begin(), talked.end(), &process) == talked.end();
    if (is_silent) {
      const Outcome outcome = process.is_copy ? Outcome::Forked : Outcome::NeverPolled;
      list.push_back({.pid = process.pid, .name = process.name, .outcome = outcome});
    }
  }
  return list;
}

bool is_complete_trace(const fs::path& file) {
  const FileDescriptor opened = open_descriptor(file.c_str(), O_RDONLY);
  std::error_code failure;
  const std::uintmax_t size = fs::file_size(file, failure);
  if (!opened.is_open() || failure || size == 0) return false;
  std::array<char, 64> bytes{};
  const auto part = [&](std::uintmax_t at) {
    const ssize_t count = pread(opened.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    return trim(std::string_view(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0));
  };
  const std::string_view head = part(0);
  if (head.empty() || (head.front() != '{' && head.front() != '[')) return false;
  const char closing = head.front() == '{' ? '}' : ']';
  const std::string_view tail = part(size > bytes.size() ? size - bytes.size() : 0);
  return !tail.empty() && tail.back() == closing;
}

}  // namespace profline::kineto
