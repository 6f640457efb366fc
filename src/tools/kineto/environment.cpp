#include "tools/kineto/environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string_view>

#include "base/command_words.h"
#include "base/digests.h"
#include "base/files.h"
#include "base/strings.h"
#include "tools/kineto/protocol.h"

namespace profline::kineto {
namespace {

constexpr const char* kUseDaemon = "KINETO_USE_DAEMON";
constexpr const char* kSocketDir = "KINETO_IPC_SOCKET_DIR";
constexpr const char* kTraceDir = "KINETO_ONDEMAND_TRACE_DIR";
constexpr const char* kConfig = "KINETO_CONFIG";
constexpr const char* kLogLevel = "KINETO_LOG_LEVEL";
constexpr const char* kErrorsOnly = "4";

namespace fs = std::filesystem;

/// A variable of an environment as /proc shows it; empty: not set.
std::string value_in(std::string_view environment, std::string_view name) {
  for (const std::string_view entry : split(environment, '\0')) {
    const std::size_t sign = entry.find('=');
    if (sign != std::string_view::npos && entry.substr(0, sign) == name) {
      return std::string(entry.substr(sign + 1));
    }
  }
  return {};
}

/// Whether we and a process see the same folder under this path, and can write to it.
Result<void> check_shared(pid_t pid, const fs::path& folder) {
  struct stat ours {};
  struct stat theirs {};
  if (!folder.is_absolute() || stat(folder.c_str(), &ours) != 0 || !S_ISDIR(ours.st_mode) ||
      access(folder.c_str(), W_OK | X_OK) != 0) {
    return Error(ErrorKind::Io, folder.string() + " is not a folder that profline can write to");
  }
  const fs::path root = "/proc/" + std::to_string(pid) + "/root";
  const bool is_known = stat((root / folder.relative_path()).c_str(), &theirs) == 0;
  if (is_known && (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino)) {
    return Error(ErrorKind::Io,
                 "it runs in a container, where " + folder.string() + " is another folder");
  }
  return {};
}

}  // namespace

Result<GivenFolders> given_to(pid_t pid) {
  const auto environment = read_file("/proc/" + std::to_string(pid) + "/environ");
  if (!environment) {
    return Error(ErrorKind::Io,
                 "the environment of its process " + std::to_string(pid) + " cannot be read");
  }
  for (const char* name : {kUseDaemon, kSocketDir}) {
    if (value_in(*environment, name).empty()) {
      return Error(ErrorKind::Config, std::string("it was started without ") + name);
    }
  }
  const std::string traces = value_in(*environment, kTraceDir);
  GivenFolders given{value_in(*environment, kSocketDir), traces.empty() ? "/tmp" : traces};
  for (const fs::path& folder : {given.sockets, given.traces}) PL_TRY(check_shared(pid, folder));
  if (const auto why = unusable_trace_folder(given.traces)) return Error(ErrorKind::Config, *why);
  return given;
}

std::map<std::string, std::string> environment(const std::filesystem::path& sockets,
                                               const std::filesystem::path& traces,
                                               const std::filesystem::path& config) {
  std::map<std::string, std::string> variables = {
      {kUseDaemon, "1"},
      {kSocketDir, sockets.string()},
      // Releases from mid-2026 on write to /tmp only, unless this names another folder.
      {kTraceDir, traces.string()},
      {kConfig, config.string()}};
  if (std::getenv(kLogLevel) == nullptr) variables[kLogLevel] = kErrorsOnly;
  return variables;
}

std::string config_text() {
  return "ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1\n";
}

std::vector<std::string> given_variables() {
  std::vector<std::string> given;
  for (const char* name : {kUseDaemon, kSocketDir, kTraceDir, kConfig}) {
    if (std::getenv(name) != nullptr) given.emplace_back(name);
  }
  return given;
}

std::filesystem::path socket_folder(const std::filesystem::path& run_folder) {
  constexpr std::size_t kDigits = 12;
  const std::string identity = std::to_string(geteuid()) + ":" + run_folder.string();
  return std::filesystem::path("/tmp") /
         ("profline-kineto-" + sha256_hex(identity).substr(0, kDigits));
}

std::string isolating_program(const std::vector<std::string>& argv) {
  static constexpr std::array<std::string_view, 12> kIsolating = {
      "docker", "podman",  "nerdctl", "apptainer", "singularity", "enroot",
      "bwrap",  "unshare", "chroot",  "ssh",       "srun",        "kubectl"};
  const std::span<const std::string> words = program_words(argv);
  if (words.empty()) return {};
  const std::string name = std::filesystem::path(words.front()).filename().string();
  const bool isolates = std::find(kIsolating.begin(), kIsolating.end(), name) != kIsolating.end();
  return isolates ? name : std::string();
}

}  // namespace profline::kineto
