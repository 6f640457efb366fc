#include "program.h"

#include <unistd.h>

#include <cstdio>

#include <fmt/core.h>

#include "command_line.h"
#include "process/interrupt.h"
#include "process/posix_runner.h"
#include "shell_completion.h"

namespace profline {
namespace {

ExitCode fail(const Error& error, bool in_color) {
  constexpr std::string_view kRed = "\x1b[1;31m";
  constexpr std::string_view kPlain = "\x1b[0m";
  for (const Error& problem : error.each()) {
    fmt::print(stderr, "{}profline:{} {}\n", in_color ? kRed : "", in_color ? kPlain : "",
               problem.to_string());
  }
  return exit_code(error.kind());
}

Result<ExitCode> carry_out(const Request& request, const CommandLine& command_line) {
  if (request.kind == Request::Kind::Show) {
    fmt::print("{}", request.shown);
    return ExitCode::Done;
  }
  if (request.kind == Request::Kind::ShellCompletion) {
    return run_shell_completion(request.invocation.arguments, command_line);
  }
  Interrupt interrupt;
  const InterruptOnSignals on_signals(interrupt);
  PosixRunner processes(interrupt);
  return request.verb->run({processes, interrupt}, request.invocation);
}

}  // namespace

ExitCode run_program(const std::vector<std::string>& arguments) {
  const auto verbs = all_verbs();
  const CommandLine command_line(verbs);
  const auto request = command_line.parse(arguments);
  if (!request) return fail(request.error(), wants_color(std::nullopt, STDERR_FILENO));
  const auto done = carry_out(*request, command_line);
  if (done) return *done;
  const auto color = request->invocation.arguments.value("--color");
  return fail(done.error(), wants_color(color, STDERR_FILENO));
}

}  // namespace profline
