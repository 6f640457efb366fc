// A child process for tests: does what its arguments say, one after the other, then exits with 0.
//
//   out TEXT | err TEXT    writes TEXT and a line break
//   pid NAME               writes NAME=<pid> to stdout
//   args ...               writes every further argument as <bytes>:<argument>, and exits
//   env NAME               writes NAME=<value>, or NAME is not set
//   stdin | cwd | group    writes the bytes there are to read, the folder, whether it leads a group
//   fds                    writes the numbers of all open descriptors
//   flood BYTES            writes that many
//   ignore SIGNAL          from now on, a number
//   exit_on SIGNAL CODE    from now on
//   spawn N ...            a child of its own does the next N arguments
//   detach N ...           so does a process that has left its group, session and parent
//   wait                   for a signal, for ever
//   exit CODE | raise SIGNAL
//   supervise LOG ...      runs another such child for the rest, by PosixRunner
//
// A process that spawns or detaches continues when the other one waits or has ended.

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "process/runner.h"

namespace {

std::array<volatile sig_atomic_t, NSIG> code_for_signal;
int ready_fd = -1;  // the process that spawned us waits for this to close

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written <= 0) ::_exit(100);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void say(const std::string& text) {
  write_all(STDOUT_FILENO, text + '\n');
}

class Script {
 public:
  explicit Script(std::span<char*> words) : words_(words) {}

  [[noreturn]] void play() {
    const std::map<std::string_view, std::function<void()>> verbs{
        {"out", [&] { say(text()); }},
        {"err", [&] { write_all(STDERR_FILENO, std::string(text()) + '\n'); }},
        {"pid", [&] { say(std::string(text()) + '=' + std::to_string(::getpid())); }},
        {"args", [&] { print_rest(); }},
        {"env", [&] { print_variable(text()); }},
        {"stdin", [&] { print_input(); }},
        {"cwd", [&] { say(std::filesystem::current_path().string()); }},
        {"group", [&] { say(::getpgrp() == ::getpid() ? "leads its group" : "is led"); }},
        {"fds", [&] { print_descriptors(); }},
        {"flood", [&] { flood(number()); }},
        {"ignore", [&] { ::signal(static_cast<int>(number()), SIG_IGN); }},
        {"exit_on", [&] { exit_on(static_cast<int>(number())); }},
        {"spawn", [&] { fork_for(words(), false); }},
        {"detach", [&] { fork_for(words(), true); }},
        {"wait", [] { wait_for_ever(); }},
        {"exit", [&] { ::_exit(static_cast<int>(number())); }},
        {"raise", [&] { ::raise(static_cast<int>(number())); }},
        {"supervise", [&] { supervise(text()); }},
    };
    while (!words_.empty()) verbs.at(text())();
    ::_exit(0);
  }

 private:
  const char* text() {
    if (words_.empty()) ::_exit(101);
    const char* word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }
  long number() { return std::atol(text()); }
  std::span<char*> words() {
    const auto count = static_cast<std::size_t>(number());
    const std::span<char*> taken = words_.first(count);
    words_ = words_.subspan(count);
    return taken;
  }

  void print_rest() {
    while (!words_.empty()) {
      const std::string_view word = text();
      say(std::to_string(word.size()) + ':' + std::string(word));
    }
  }

  static void print_variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    say(value != nullptr ? name + '=' + value : name + " is not set");
  }

  static void print_input() {
    std::array<char, 100> bytes{};
    say(std::to_string(::read(STDIN_FILENO, bytes.data(), bytes.size())) + " bytes");
  }

  static void print_descriptors() {
    std::string numbers;
    DIR* folder = ::opendir("/proc/self/fd");
    while (const dirent* entry = ::readdir(folder)) {
      const bool own = std::atoi(entry->d_name) == ::dirfd(folder);
      if (entry->d_name[0] != '.' && !own) numbers += std::string(entry->d_name) + ' ';
    }
    ::closedir(folder);
    say(numbers);
  }

  static void flood(long bytes) {
    const std::string block(1 << 20, 'x');
    for (; bytes > 0; bytes -= static_cast<long>(block.size())) {
      write_all(STDOUT_FILENO, std::string_view(block).substr(0, static_cast<std::size_t>(bytes)));
    }
  }

  void exit_on(int signal) {
    code_for_signal[static_cast<std::size_t>(signal)] = static_cast<int>(number());
    ::signal(signal,
             [](int number) { ::_exit(code_for_signal[static_cast<std::size_t>(number)]); });
  }

  [[noreturn]] static void wait_for_ever() {
    if (ready_fd >= 0) ::close(ready_fd);
    while (true) ::pause();
  }

  static void fork_for(std::span<char*> script, bool detached) {
    std::array<int, 2> ready{};
    if (::pipe2(ready.data(), O_CLOEXEC) != 0) ::_exit(102);
    if (::fork() == 0) {
      ::close(ready[0]);
      if (ready_fd >= 0) ::close(ready_fd);  // is our parent's to close
      ready_fd = ready[1];
      if (detached) {
        ::setsid();
        if (::fork() != 0) ::_exit(0);
      }
      Script(script).play();
    }
    ::close(ready[1]);
    char none = 0;
    while (::read(ready[0], &none, 1) > 0) {
    }
    ::close(ready[0]);
    if (detached) ::wait(nullptr);  // for the one in the middle
  }

  [[noreturn]] void supervise(const char* log) {
    const profline::Interrupt interrupt;
    profline::PosixRunner runner(interrupt, {.terminate_grace = std::chrono::milliseconds(50)});
    profline::Command command{.argv = {"/proc/self/exe"}, .log = log};
    command.argv.insert(command.argv.end(), words_.begin(), words_.end());
    ::_exit(runner.run(command) ? 0 : 103);
  }

  std::span<char*> words_;
};

}  // namespace

int main(int argc, char** argv) {
  Script(std::span(argv, static_cast<std::size_t>(argc)).subspan(1)).play();
}
