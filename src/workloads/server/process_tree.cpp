#include "workloads/server/process_tree.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/files.h"
#include "base/strings.h"
#include "process/process_table.h"

namespace profline::server {
namespace {

namespace fs = std::filesystem;

/// utime and stime of /proc/PID/stat follow the name in parentheses by 11 fields.
std::int64_t cpu_time(pid_t pid) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  constexpr std::size_t kUser = 12;
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto words = split(std::string_view(text).substr(name_end + 1), ' ');
  if (words.size() <= kUser + 1) return 0;
  std::int64_t ticks = 0;
  for (const std::string_view word : {words[kUser], words[kUser + 1]}) {
    std::int64_t value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    ticks += value;
  }
  return ticks * (kSecond / std::max<std::int64_t>(::sysconf(_SC_CLK_TCK), 1));
}

}  // namespace

std::vector<TreeProcess> processes_below(pid_t root) {
  std::vector<ProcessStat> all;
  ProcessList list;
  for (pid_t pid = list.next(); pid != 0; pid = list.next()) {
    ProcessStat stat;
    if (read_process(pid, stat) && !stat.is_zombie()) all.push_back(stat);
  }
  std::set<pid_t> members{root};
  for (bool grows = true; grows;) {
    grows = false;
    for (const ProcessStat& stat : all) {
      if (members.contains(stat.parent)) grows = members.insert(stat.pid).second || grows;
    }
  }
  std::vector<TreeProcess> tree;
  for (const ProcessStat& stat : all) {
    if (!members.contains(stat.pid)) continue;
    std::error_code failure;
    const fs::path program =
        fs::read_symlink("/proc/" + std::to_string(stat.pid) + "/exe", failure);
    tree.push_back({{stat.pid, stat.start_ticks},
                    stat.parent,
                    stat.name.data(),
                    cpu_time(stat.pid),
                    failure ? fs::path() : program});
  }
  std::sort(tree.begin(), tree.end(), [](const TreeProcess& a, const TreeProcess& b) {
    return std::pair(a.id.start_ticks, a.id.pid) < std::pair(b.id.start_ticks, b.id.pid);
  });
  return tree;
}

bool is_in(const TreeProcess& process, const fs::path& folder) {
  return !folder.empty() && process.program.string().starts_with(folder.string() + "/");
}

bool opens_gpu(pid_t pid) {
  constexpr std::string_view kDevice = "/dev/nvidia";
  std::error_code failure;
  for (fs::directory_iterator at("/proc/" + std::to_string(pid) + "/fd", failure), end;
       !failure && at != end; at.increment(failure)) {
    std::error_code gone;
    const std::string file = fs::read_symlink(at->path(), gone).string();
    const bool is_device = file.starts_with(kDevice) && file.size() > kDevice.size() &&
                           file[kDevice.size()] >= '0' && file[kDevice.size()] <= '9';
    if (is_device) return true;
  }
  return false;
}

bool has_loaded(pid_t pid, std::string_view library) {
  const std::string maps = read_file("/proc/" + std::to_string(pid) + "/maps").value_or("");
  return maps.find(library) != std::string::npos;
}

}  // namespace profline::server
