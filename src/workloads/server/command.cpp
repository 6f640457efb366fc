#include "workloads/server/command.h"

#include <algorithm>

#include "base/strings.h"

namespace profline::server {
namespace {

/// `--port` for `--port 8000` and `--port=8000`.
std::string_view name_of(std::string_view flag) {
  return flag.substr(0, flag.find_first_of(" ="));
}

/// Whether the flag is there, or the whole that it is a part of: `--a` for `--a.b`.
bool has_flag(const std::vector<std::string>& argv, std::string_view name) {
  return std::any_of(argv.begin(), argv.end(), [&](const std::string& word) {
    const std::string_view given = name_of(word);
    const bool is_whole = given.starts_with("--") && name.starts_with(given) &&
                          name.substr(given.size()).starts_with('.');
    return given == name || is_whole;
  });
}

}  // namespace

std::vector<std::string> server_argv(const settings::Workload& workload) {
  std::vector<std::string> argv = workload.user_command().value_or(std::vector<std::string>());
  for (const std::string& flag : workload.server.flags) {
    if (has_flag(argv, name_of(flag))) continue;
    const std::size_t blank = flag.find(' ');
    argv.push_back(flag.substr(0, blank));
    if (blank != std::string::npos) argv.emplace_back(trim(flag.substr(blank)));
  }
  return argv;
}

std::string with_traces(std::string text, const std::filesystem::path& stage_folder) {
  constexpr std::string_view kPlace = "{traces}";
  for (std::size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at)) {
    text.replace(at, kPlace.size(), stage_folder.string());
    at += stage_folder.string().size();
  }
  return text;
}

Command server_command(const settings::Workload& workload, const std::filesystem::path& cwd,
                       const std::filesystem::path& run_folder,
                       const std::filesystem::path& stage_folder) {
  Command command;
  for (const std::string& word : server_argv(workload)) {
    command.argv.push_back(with_traces(word, stage_folder));
  }
  command.cwd = (cwd / workload.cwd).lexically_normal();
  command.env[kTraceFolder] = stage_folder.string();
  command.env[kRunFolder] = run_folder.string();
  for (const auto& [name, value] : workload.server.env) {
    command.env[name] = with_traces(value, stage_folder);
  }
  return command;
}

}  // namespace profline::server
