#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace profline::kineto {

/// The variables that make PyTorch ask a responder in `sockets` and write its trace below `traces`.
/// `config` is a file with config_text(); libkineto reads it once. Also keeps libkineto's banner
/// out of the program's output, unless the user sets KINETO_LOG_LEVEL.
std::map<std::string, std::string> environment(const std::filesystem::path& sockets,
                                               const std::filesystem::path& traces,
                                               const std::filesystem::path& config);

/// libkineto's base configuration: poll every second instead of every five.
std::string config_text();

/// Variables in our own environment that already configure libkineto. The user set them, so they
/// are not overridden.
std::vector<std::string> given_variables();

/// What a process was started with to be asked for traces.
struct GivenFolders {
  std::filesystem::path sockets;  ///< where it looks for the daemon's socket
  std::filesystem::path traces;   ///< below which it may write
};
/// Those of a process that runs already. An Error says why it cannot be asked.
Result<GivenFolders> given_to(pid_t pid);

/// The folder for the sockets of a run: short, unique to it and to the user.
std::filesystem::path socket_folder(const std::filesystem::path& run_folder);

/// The program in `argv`, such as `docker`, that starts others where they may not see our folder;
/// empty: no such program.
std::string isolating_program(const std::vector<std::string>& argv);

}  // namespace profline::kineto
