#include "stages/baseline/process_watch.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/files.h"
#include "base/strings.h"
#include "process/process_table.h"
#include "schema/read.h"
#include "tools/kineto/traced_processes.h"

namespace profline::stages {
namespace {

constexpr std::chrono::milliseconds kLongestPause{2000};

constexpr const char* kProcessSchema = "profline.process/1";

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::int64_t ticks_to_ns(std::int64_t ticks) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t a_second = std::max<std::int64_t>(::sysconf(_SC_CLK_TCK), 1);
  return ticks * (kSecond / a_second);
}

/// utime and stime of /proc/PID/stat, which follow the name in parentheses by 11 fields.
void add_cpu_time(const std::string& folder, ProcessUse& use) {
  const auto text = read_file(folder + "/stat");
  if (!text) return;
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos) return;
  constexpr std::size_t kUser = 12;
  const auto words = split(std::string_view(*text).substr(name_end + 1), ' ');
  if (words.size() <= kUser + 1) return;
  use.cpu_user_ns = ticks_to_ns(number(words[kUser]));
  use.cpu_system_ns = ticks_to_ns(number(words[kUser + 1]));
}

void add_memory(const std::string& folder, ProcessUse& use) {
  const auto text = read_file(folder + "/status");
  if (!text) return;
  constexpr std::string_view kPeak = "VmHWM:";
  for (const std::string_view line : lines(*text)) {
    if (!line.starts_with(kPeak)) continue;
    constexpr std::uint64_t kKibi = 1024;
    const std::int64_t kib = number(trim(line.substr(kPeak.size())));
    use.max_rss_bytes = std::max(use.max_rss_bytes, static_cast<std::uint64_t>(kib) * kKibi);
  }
}

}  // namespace

void ProcessWatch::started(const ProcessId& child) {
  child_ = child;
  look();
}

void ProcessWatch::output(std::string_view /*bytes*/) {
  look();
}

void ProcessWatch::look() {
  ProcessList list;
  for (pid_t pid = list.next(); pid != 0; pid = list.next()) {
    ProcessStat stat;
    if (!read_process(pid, stat) || stat.is_zombie()) continue;
    if (pid != child_.pid && !descends_from(stat, child_.pid)) continue;
    Seen& seen = seen_[{pid, stat.start_ticks}];
    seen.start_ticks = stat.start_ticks;
    seen.use.pid = pid;
    seen.use.parent = stat.parent;
    seen.use.name = stat.name.data();
    const std::string folder = "/proc/" + std::to_string(pid);
    add_cpu_time(folder, seen.use);
    add_memory(folder, seen.use);
    const auto now = std::chrono::steady_clock::now();
    if (seen.use.torch || now < seen.next_listing) continue;
    seen.use.torch = kineto::loads_torch(pid);
    seen.next_listing = now + seen.pause;
    seen.pause = std::min(2 * seen.pause, kLongestPause);
  }
}

std::vector<ProcessUse> ProcessWatch::processes() const {
  std::vector<Seen> rows;
  rows.reserve(seen_.size());
  for (const auto& [key, seen] : seen_) rows.push_back(seen);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Seen& a, const Seen& b) { return a.start_ticks < b.start_ticks; });
  std::vector<ProcessUse> uses;
  uses.reserve(rows.size());
  for (Seen& row : rows) uses.push_back(std::move(row.use));
  return uses;
}

Node process_document(const Exit& exit, const std::vector<ProcessUse>& processes,
                      const std::string& no_adapter) {
  const auto integer = [](auto value) { return Node::integer(static_cast<std::int64_t>(value)); };
  NodeMap document;
  document.set("schema", Node::string(kProcessSchema));
  document.set("runs", integer(1));
  document.set("end", Node::string(exit.describe()));
  document.set("wall_ns", integer(exit.wall.count()));
  document.set("cpu_user_ns", integer(std::chrono::nanoseconds(exit.cpu_user).count()));
  document.set("cpu_system_ns", integer(std::chrono::nanoseconds(exit.cpu_system).count()));
  document.set("max_rss_bytes", integer(exit.max_rss_bytes));
  Node list = Node::list();
  for (const ProcessUse& process : processes) list.as_list().push_back(schema::write(process));
  document.set("processes", std::move(list));
  if (!no_adapter.empty()) document.set("no_adapter", Node::string(no_adapter));
  return Node::map(std::move(document));
}

}  // namespace profline::stages
