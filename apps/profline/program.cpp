#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/files.h"
#include "base/terminal_text.h"
#include "command_line.h"
#include "completion.h"
#include "process/interrupt.h"
#include "process/runner.h"
#include "standard_streams.h"

namespace profline {
namespace {

/// Every command, in the order of the help. The only list of all commands.
std::vector<std::unique_ptr<Verb>> all_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  verbs.push_back(run_verb());
  verbs.push_back(demo_verb());
  verbs.push_back(infer_verb());
  verbs.push_back(load_verb());
  verbs.push_back(plan_verb());
  verbs.push_back(config_verb());
  verbs.push_back(explain_verb());
  verbs.push_back(analyze_verb());
  verbs.push_back(trace_verb());
  verbs.push_back(ranks_verb());
  verbs.push_back(kernels_top_verb());
  verbs.push_back(kernels_profile_verb());
  verbs.push_back(kernels_analyze_verb());
  verbs.push_back(kernels_regions_verb());
  verbs.push_back(report_verb());
  verbs.push_back(compare_verb());
  verbs.push_back(runs_verb());
  verbs.push_back(serve_verb());
  verbs.push_back(mcp_verb());
  for (auto& verb : sweep_verbs()) verbs.push_back(std::move(verb));
  verbs.push_back(rank_exec_verb());
  verbs.push_back(ceilings_verb());
  verbs.push_back(doctor_verb());
  return verbs;
}

std::string prefix(bool in_color) {
  return in_color ? "\x1b[1;31mprofline:\x1b[0m " : "profline: ";
}

ExitCode fail(const Error& error, bool in_color) {
  for (const Error& problem : error.each()) {
    print_remark(prefix(in_color) + printable_lines(problem.to_string()));
  }
  return exit_code(error.kind());
}

/// Signals, children and their logs, databases and folders need a few each. Checked once, so that a
/// limit that is too low is one clear error instead of whatever happens to fail first.
Result<void> check_descriptors() {
  constexpr std::size_t kNeeded = 32;
  std::array<FileDescriptor, kNeeded> spare;
  for (FileDescriptor& each : spare) {
    each = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
    if (each.is_open()) continue;
    if (errno != EMFILE) return os_error("open", "an event descriptor", errno);
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return Error(ErrorKind::Io,
                 fmt::format("too few files may be open at once: the limit is {}, and profline "
                             "needs {} more than are open now; raise it with 'ulimit -n 1024'",
                             limit.rlim_cur, kNeeded));
  }
  return {};
}

/// Handles an interrupt for a command that has not acted on it itself; the command still runs
/// meanwhile.
void end_interrupted(const std::string& last_words) {
  undo_unfinished_work();
  constexpr int kPatienceMs = 50;
  pollfd readers{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&readers, 1, kPatienceMs) == 1) print_remark(last_words);
  ::_exit(static_cast<int>(ExitCode::Interrupted));
}

std::string last_words(const Understood& request) {
  constexpr const char* kClearLine = "\r\x1b[K";  // clears the progress line
  const auto color = request.invocation.arguments.value("--color");
  return (::isatty(STDERR_FILENO) == 1 ? kClearLine : "") +
         prefix(wants_color(color, STDERR_FILENO)) + "interrupted";
}

ProgressOptions progress_of(const Invocation& invocation) {
  constexpr std::size_t kLongestStage = 16;
  const int verbosity = invocation.output.verbosity;
  const auto color = invocation.arguments.value("--color");
  ProgressOptions options;
  if (verbosity < 0) options.verbosity = Verbosity::Quiet;
  if (verbosity > 0) options.verbosity = Verbosity::Verbose;
  if (color == "always") options.color = ColorMode::Always;
  if (color == "never") options.color = ColorMode::Never;
  options.name_width = kLongestStage + 2;
  return options;
}

Result<ExitCode> carry_out(const Understood& request, const CommandLine& command_line) {
  if (request.kind == Understood::Kind::Show) {
    PL_TRY(print_result(request.shown));
    return ExitCode::Done;
  }
  if (request.kind == Understood::Kind::ShellCompletion) {
    return run_shell_completion(request.invocation.arguments, command_line);
  }
  PL_TRY(check_descriptors());
  Interrupt interrupt;
  const InterruptOnSignals on_signals(interrupt);
  const EndOnInterrupt ending(interrupt, [words = last_words(request)] { end_interrupted(words); });
  PosixRunner processes(interrupt);
  const Invocation& invocation = request.invocation;
  const session::Remarks remarks(invocation.output.verbosity,
                                 [](const std::string& line) { print_remark(line); });
  return request.verb->run({processes, interrupt, remarks, progress_of(invocation)}, invocation);
}

Result<ExitCode> carry_out_and_check(const Understood& request, const CommandLine& command_line) {
  const ExitCode code = PL_TRY(carry_out(request, command_line));
  PL_TRY(check_result_arrived());
  return code;
}

}  // namespace

ExitCode run_program(const std::vector<std::string>& arguments) {
  const ClosedPipe closed_pipe = prepare_standard_streams();
  const auto verbs = all_verbs();
  const CommandLine command_line(verbs);
  const auto request = command_line.parse(arguments);
  if (!request) return fail(request.error(), wants_color(std::nullopt, STDERR_FILENO));
  const auto done = carry_out_and_check(*request, command_line);
  if (done) return *done;
  if (done.error().reason() == kPipeClosed && closed_pipe == ClosedPipe::EndsBySignal) {
    end_by_closed_pipe();
  }
  const auto color = request->invocation.arguments.value("--color");
  return fail(done.error(), wants_color(color, STDERR_FILENO));
}

}  // namespace profline
