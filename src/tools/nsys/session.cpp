#include "tools/nsys/session.h"

#include "process/posix_runner.h"
#include "tools/nsys/profile_command.h"

namespace profline::nsys {

EndsSession::EndsSession(std::filesystem::path program, std::string session)
    : program_(std::move(program)), session_(std::move(session)) {}

void EndsSession::outlived() {
  // What it does not end the runner ends with signals, so there is nothing to tell.
  PosixRunner runner(calm_);
  (void)runner.run(shutdown_command(program_, session_));
}

}  // namespace profline::nsys
