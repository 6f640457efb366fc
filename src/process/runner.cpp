#include "process/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/figures.h"
#include "base/files.h"
#include "base/strings.h"
#include "process/internal/guardian.h"
#include "process/internal/supervision.h"

namespace profline {
namespace {

enum class Candidate { Runs, Absent, Folder, NotExecutable, Unreachable };

Candidate look_at(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return errno == EACCES ? Candidate::Unreachable : Candidate::Absent;
  }
  if (S_ISDIR(status.st_mode)) return Candidate::Folder;
  return ::access(path.c_str(), X_OK) == 0 ? Candidate::Runs : Candidate::NotExecutable;
}

Error refusal(const std::string& what, Candidate found) {
  const std::string start = "cannot run " + what + ": ";
  switch (found) {
    case Candidate::Folder:
      return Error(ErrorKind::Config, start + "it is a folder");
    case Candidate::NotExecutable:
      return Error(ErrorKind::Io, start + "it is not executable (chmod +x makes it executable)");
    case Candidate::Unreachable:
      return Error(ErrorKind::Io, start + "permission denied for a folder in its path");
    case Candidate::Absent:
    case Candidate::Runs:
      break;
  }
  return Error(ErrorKind::NotFound, start + "no such file");
}

namespace fs = std::filesystem;

/// The first variable that is set, in the order of std::filesystem; null if none is.
const char* variable() {
  for (const char* name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (std::getenv(name) != nullptr) return name;
  }
  return nullptr;
}

}  // namespace

Result<std::filesystem::path> find_program(std::string_view name, std::string_view path_text,
                                           const std::filesystem::path& cwd) {
  const std::string quoted = "'" + std::string(name) + "'";
  if (name.find('/') != std::string_view::npos) {
    std::filesystem::path path = cwd / name;
    const Candidate found = look_at(path);
    if (found == Candidate::Runs) return path;
    return refusal(quoted, found);
  }
  std::filesystem::path not_executable;
  const auto folders = split(path_text, ':');
  for (const std::string_view folder : folders) {
    std::filesystem::path path = cwd / (folder.empty() ? "." : folder) / name;
    const Candidate found = look_at(path);
    if (found == Candidate::Runs) return path;
    if (found == Candidate::NotExecutable && not_executable.empty()) not_executable = path;
  }
  if (!not_executable.empty()) {
    return refusal(quoted + " (" + not_executable.string() + ")", Candidate::NotExecutable);
  }
  // The message does not quote PATH, which is long and always the same: run.log and doctor show it.
  return Error(ErrorKind::NotFound, "cannot run " + quoted + ": not found in PATH (" +
                                        counted(folders.size(), "folder") + " searched)");
}

Result<std::filesystem::path> find_program(std::string_view name) {
  return find_program(name, own_path(), {});
}

std::optional<std::string> environment_variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string own_path() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : default_path();
}

std::string default_path() {
  std::string text(::confstr(_CS_PATH, nullptr, 0), '\0');
  ::confstr(_CS_PATH, text.data(), text.size());
  if (!text.empty()) text.pop_back();  // the terminating NUL, which confstr counts
  return text;
}

Result<fs::path> temporary_folder() {
  const char* const name = variable();
  const fs::path folder = name != nullptr ? std::getenv(name) : "/tmp";
  std::error_code failure;
  const bool is_folder = fs::is_directory(folder, failure);
  if (is_folder && ::access(folder.c_str(), W_OK | X_OK) == 0) return folder;
  const std::string subject = name != nullptr ? std::string(name) + " is" : "programs need";
  const std::string why =
      is_folder ? "a folder that cannot be written to" : "which is not a folder";
  return Error(ErrorKind::NotFound, subject + " '" + folder.string() + "', " + why +
                                        "; set TMPDIR to a folder for temporary files, such as "
                                        "TMPDIR=/tmp")
      .with_reason("no_temporary_folder");
}

Result<std::filesystem::path> find_companion(const std::string& name) {
  std::error_code failure;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
  const std::filesystem::path beside = self.parent_path() / name;
  if (!failure && std::filesystem::exists(beside, failure)) return beside;
  return find_program(name);
}

ScratchFolder::ScratchFolder() {
  std::error_code failure;
  const fs::path parent = fs::temp_directory_path(failure);
  if (failure) return;
  std::string name = (parent / "profline-XXXXXX").string();
  const UnfinishedWork::Lock made_and_noted = UnfinishedWork::lock();
  if (mkdtemp(name.data()) == nullptr) return;
  path_ = name;
  unfinished_ = UnfinishedWork([name] {
    std::error_code ignored;
    fs::remove_all(name, ignored);
  });
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

namespace {

/// Characters that mean nothing to any shell inside a word; see needs_quotes for its start.
bool is_plain(char c) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

bool needs_quotes(std::string_view word) {
  // zsh replaces =ls with the path of ls.
  return word.empty() || word.front() == '=' || !std::all_of(word.begin(), word.end(), is_plain);
}

std::string in_quotes(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + '\'';
}

std::string shell_word(std::string_view word) {
  return needs_quotes(word) ? in_quotes(word) : std::string(word);
}

/// As shell_word, for the first word of a command, where a=b would be an assignment.
std::string shell_program(std::string_view word) {
  return word.find('=') != std::string_view::npos ? in_quotes(word) : shell_word(word);
}

Result<void> check_variable(const std::string& name) {
  if (!name.empty() && name.find('=') == std::string::npos && name.find('\0') == std::string::npos)
    return {};
  return Error(ErrorKind::Config, "environment variable " + shell_word(name) +
                                      ": a name must not be empty or contain '=' or NUL");
}

Result<void> check_text(const std::string& text, const std::string& what) {
  const std::size_t nul = text.find('\0');
  if (nul == std::string::npos) return {};
  return Error(ErrorKind::Config, what + " contains a NUL byte at offset " + std::to_string(nul) +
                                      ", which would cut it off");
}

std::string duration_text(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

std::string killed_by(const Exit& exit) {
  return "killed by " + signal_name(*exit.signal) + (exit.core_dumped ? " (core dumped)" : "");
}

std::string exited_with(const Exit& exit) {
  std::string text = "exited with code " + std::to_string(*exit.code);
  if (exit.stopped_by) text += " on " + signal_name(*exit.stopped_by);
  return text;
}

std::string end_of(const Exit& exit, const char* verb_of_kill) {
  if (exit.code) return exited_with(exit);
  if (exit.signal) return verb_of_kill + killed_by(exit);
  return "is still running as pid " + std::to_string(exit.pid) + ": not even SIGKILL ended it";
}

}  // namespace

Result<void> check(const Command& command) {
  if (command.argv.empty() || command.argv.front().empty()) {
    return Error(ErrorKind::Config, "the command has no program to run");
  }
  for (std::size_t i = 0; i < command.argv.size(); ++i) {
    PL_TRY(check_text(command.argv[i], "argument " + std::to_string(i) + " of " +
                                           shell_word(command.argv.front().c_str())));
  }
  for (const auto& [name, value] : command.env) {
    PL_TRY(check_variable(name));
    PL_TRY(check_text(value, "environment variable " + name));
  }
  for (const std::string& name : command.unset_env) PL_TRY(check_variable(name));
  for (const std::filesystem::path* path : {&command.cwd, &command.log, &command.out}) {
    PL_TRY(check_text(path->native(), "path " + shell_word(path->c_str())));
  }
  return {};
}

std::string display(const Command& command) {
  std::string text;
  if (!command.cwd.empty()) {
    // `cd -` and `cd -P` mean something else, so the path gets a `./` in front.
    const bool like_an_option = command.cwd.native().front() == '-';
    text += "cd " + shell_word((like_an_option ? "./" : "") + command.cwd.native()) + " && ";
  }
  if (!command.env.empty() || !command.unset_env.empty()) {
    text += "env ";
    for (const std::string& name : command.unset_env) text += "-u " + shell_word(name) + ' ';
    for (const auto& [name, value] : command.env) {
      // Quotes only the value: PATH='a b' reads better than 'PATH=a b', and is the same word.
      text += shell_word(name) + '=' + shell_word(value) + ' ';
    }
  }
  for (std::size_t i = 0; i < command.argv.size(); ++i) {
    text += i == 0 ? shell_program(command.argv[i]) : ' ' + shell_word(command.argv[i]);
  }
  return text;
}

Command redacted(Command command, const Redactor& redactor) {
  command.argv = redactor.words(command.argv);
  command.env = redactor.variables(command.env);
  return command;
}

std::string Exit::describe() const {
  switch (why) {
    case Why::Own:
      return end_of(*this, "");
    case Why::TimedOut:
      return "timed out after " + duration_text(time_limit) + " and " + end_of(*this, "was ");
    case Why::Cancelled:
      return "cancelled and " + end_of(*this, "");
    case Why::GuardianLost:
      return "lost its guardian process and " + end_of(*this, "was ");
  }
  return {};
}

std::string Exit::describe_leftovers() const {
  if (leftovers.empty()) return {};
  std::string ended;
  std::string surviving;
  for (const Leftover& leftover : leftovers) {
    std::string& list = leftover.survived ? surviving : ended;
    if (!list.empty()) list += ", ";
    list += leftover.name + " (pid " + std::to_string(leftover.pid) + ')';
  }
  std::string text = "left " + counted(leftovers.size(), "orphaned process");
  if (!ended.empty()) text += ", ended: " + ended;
  if (!surviving.empty()) text += ", still running: " + surviving;
  return text;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

Result<Exit> ProcessRunner::run(const Command& command) {
  PL_TRY(check(command));
  return run_checked(command, nullptr);
}

Result<Exit> ProcessRunner::run(const Command& command, RunObserver& observer) {
  PL_TRY(check(command));
  return run_checked(command, &observer);
}

Result<std::string> output_of(ProcessRunner& runner, std::vector<std::string> argv,
                              std::chrono::milliseconds limit) {
  // In memory, under a name that the runner can open: answers are short and private.
  const FileDescriptor memory(::memfd_create("answer", MFD_CLOEXEC));
  if (!memory.is_open()) return os_error("keep the output of", argv.front(), errno);
  Command command{.argv = std::move(argv)};
  command.out = "/proc/self/fd/" + std::to_string(memory.get());
  command.timeout = limit;
  command.stop_briefly = true;
  const Exit exit = PL_TRY(runner.run(command));
  std::string answer = PL_TRY(read_file(command.out));
  if (exit.succeeded()) return answer;
  const std::string said = std::string(trim(answer + exit.tail));
  return Error(ErrorKind::Tool, "'" + display({.argv = command.argv}) + "' " + exit.describe() +
                                    (said.empty() ? "" : ": " + said));
}

namespace {

using internal::Guardian;
using internal::GuardianNews;

Result<FileDescriptor> empty_input() {
  FileDescriptor file = above_stdio(FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  if (!file.is_open())
    return Error(ErrorKind::Io, std::string("cannot open '/dev/null': ") + strerror(errno));
  return file;
}

StopRules rules_for(const Command& command, const StopRules& usual) {
  constexpr std::chrono::milliseconds kBrief{100};
  if (!command.stop_briefly) return usual;
  StopRules brief = usual;
  brief.interrupt_grace = std::min(brief.interrupt_grace, kBrief);
  brief.terminate_grace = std::min(brief.terminate_grace, kBrief);
  return brief;
}

/// The first news from every guardian: whether there is a child at all.
Result<GuardianNews> child_of(const Guardian& guardian, const std::string& program) {
  const std::optional<GuardianNews> news = guardian.next_news();
  const std::string start = "cannot run '" + program + "': ";
  if (!news) return Error(ErrorKind::Io, start + "its guardian process was killed immediately");
  if (news->kind == GuardianNews::Kind::ForkFailed) {
    return Error(ErrorKind::Io, start + "cannot create a process: " + strerror(news->error));
  }
  return *news;
}

}  // namespace

PosixRunner::PosixRunner(const Interrupt& interrupt, StopRules rules)
    : interrupt_(interrupt), rules_(rules) {
  PL_ASSERT(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "Linux has had subreapers since 3.4");
}

Result<Exit> PosixRunner::run_checked(const Command& command, RunObserver* observer) {
  const std::string& program = command.argv.front();
  if (interrupt_.requested()) {
    return Error(ErrorKind::Cancelled, "cancelled before '" + program + "' was started");
  }
  const Interrupt::OrderlyStop stops_the_child(interrupt_);
  const StopRules rules = rules_for(command, rules_);
  const auto image = PL_TRY(internal::ExecImage::of(command));
  auto log = PL_TRY(internal::OutputLog::open(command.log));
  const FileDescriptor input = PL_TRY(empty_input());
  FileDescriptor out;
  if (!command.out.empty()) out = PL_TRY(internal::create_output(command.out));

  internal::LaunchPlan plan;
  image.describe_to(plan);
  plan.stdio = {input.get(), out.is_open() ? out.get() : log.fd(), log.fd()};
  plan.terminate_grace = rules.terminate_grace;
  plan.kill_wait = rules.kill_wait;
  Guardian guardian = PL_TRY(Guardian::start(plan));
  const auto failure = guardian.wait_for_exec();
  if (failure) return image.error_of(*failure);
  const GuardianNews started = PL_TRY(child_of(guardian, program));
  out.reset();

  if (observer != nullptr) observer->started({started.pid, started.start_ticks});
  return internal::Supervision({guardian, log, interrupt_, rules, command.timeout, observer},
                               started)
      .run();
}

}  // namespace profline
