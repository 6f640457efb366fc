#include "tools/nsys/session.h"

#include "base/files.h"
#include "base/strings.h"
#include "process/posix_runner.h"
#include "process/process_table.h"
#include "tools/nsys/profile_command.h"

namespace profline::nsys {

namespace fs = std::filesystem;

namespace {

bool is_agent_of(const fs::path& process, const std::string& session) {
  const std::string line = read_file(process / "cmdline").value_or("");
  for (const std::string_view argument : split(line, '\0')) {
    if (argument == "--session-name=" + session) return true;
  }
  return false;
}

}  // namespace

std::vector<fs::path> open_captures(const std::string& session) {
  std::vector<fs::path> captures;
  ProcessList processes;
  for (pid_t pid = processes.next(); pid != 0; pid = processes.next()) {
    const fs::path process = fs::path("/proc") / std::to_string(pid);
    if (!is_agent_of(process, session)) continue;
    std::error_code failure;
    for (fs::directory_iterator at(process / "fd", failure), end; !failure && at != end;
         at.increment(failure)) {
      std::error_code gone;
      const fs::path file = fs::read_symlink(at->path(), gone);
      if (!gone && file.extension() == ".qdstrm") captures.push_back(file);
    }
  }
  return captures;
}

EndsSession::EndsSession(std::filesystem::path program, std::string session)
    : program_(std::move(program)), session_(std::move(session)) {}

EndsSession::~EndsSession() {
  std::error_code ignored;
  for (const fs::path& capture : captures_) fs::remove(capture, ignored);
}

void EndsSession::abandoned() {
  captures_ = open_captures(session_);
}

void EndsSession::outlived() {
  captures_ = open_captures(session_);
  PosixRunner runner(calm_);
  if (!captures_.empty()) (void)runner.run(stop_command(program_, session_));
  // What this does not end the runner ends with signals, so there is nothing to tell.
  (void)runner.run(shutdown_command(program_, session_));
}

}  // namespace profline::nsys
