#include "tools/kineto/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string_view>

#include "base/command_words.h"
#include "base/digests.h"

namespace profline::kineto {
namespace {

constexpr const char* kUseDaemon = "KINETO_USE_DAEMON";
constexpr const char* kSocketDir = "KINETO_IPC_SOCKET_DIR";
constexpr const char* kTraceDir = "KINETO_ONDEMAND_TRACE_DIR";
constexpr const char* kConfig = "KINETO_CONFIG";
constexpr const char* kLogLevel = "KINETO_LOG_LEVEL";
constexpr const char* kErrorsOnly = "4";

}  // namespace

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
