#include "testing/processes/fake_processes.h"

#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

namespace profline::testing {
namespace {

/// With PosixRunner's message for a file that cannot be opened.
Result<void> write(const std::filesystem::path& path, const std::string& bytes,
                   std::ios::openmode mode) {
  std::ofstream file(path, mode | std::ios::binary);
  file << bytes;
  file.close();
  if (file) return {};
  return Error(ErrorKind::Io, "cannot write output to '" + path.string() + "'");
}

std::string last_bytes(const std::string& log) {
  return log.substr(log.size() - std::min(log.size(), Exit::kTailBytes));
}

}  // namespace

Play& Play::prints(std::string text) {
  outputs_.push_back({true, std::move(text)});
  return *this;
}

Play& Play::complains(std::string text) {
  outputs_.push_back({false, std::move(text)});
  return *this;
}

Play& Play::writes(std::filesystem::path path, std::string bytes) {
  files_[std::move(path)] = std::move(bytes);
  return *this;
}

Play& Play::does(std::function<void(const Command&)> action) {
  actions_.push_back(std::move(action));
  return *this;
}

Play& Play::exits(int code) {
  exit_.code = code;
  exit_.signal.reset();
  return *this;
}

Play& Play::dies_of(int signal) {
  exit_.code.reset();
  exit_.signal = signal;
  return *this;
}

Play& Play::ends(Exit exit) {
  exit_ = std::move(exit);
  return *this;
}

Play& Play::cannot_start(Error error) {
  error_ = std::move(error);
  return *this;
}

Play& Play::any_number_of_times() {
  repeats_ = true;
  return *this;
}

FakeProcesses::~FakeProcesses() {
  const std::string left = still_expected();
  if (!left.empty()) ADD_FAILURE() << "expected and never run:\n" << left;
}

Play& FakeProcesses::expect(std::vector<std::string> argv_start) {
  plays_.push_back(std::make_unique<Play>());
  plays_.back()->argv_start_ = std::move(argv_start);
  return plays_.back()->exits(0);
}

std::string FakeProcesses::still_expected() const {
  std::string text;
  for (const auto& play : plays_) {
    if (play->played_ || play->repeats_) continue;
    text += "  " + display({.argv = play->argv_start_}) + " ...\n";
  }
  return text;
}

Play* FakeProcesses::play_for(const Command& command) {
  Play* repeating = nullptr;
  for (const auto& play : plays_) {
    const auto& start = play->argv_start_;
    const bool fits = start.size() <= command.argv.size() &&
                      std::equal(start.begin(), start.end(), command.argv.begin());
    if (!fits) continue;
    if (!play->repeats_ && !play->played_) return play.get();
    if (play->repeats_ && repeating == nullptr) repeating = play.get();
  }
  return repeating;
}

Result<Exit> FakeProcesses::run_checked(const Command& command, RunObserver* observer) {
  commands_.push_back(command);
  Play* play = play_for(command);
  if (play == nullptr) {
    const std::string left = still_expected();
    ADD_FAILURE() << "unexpected command:\n  " << display(command) << "\nstill expected:\n"
                  << (left.empty() ? "  nothing\n" : left);
    return Error(ErrorKind::Tool, "unexpected command: " + display(command));
  }
  play->played_ = true;
  if (play->error_) {
    for (const auto& action : play->actions_) action(command);
    return *play->error_;
  }

  std::string log;
  std::string out;
  for (const Play::Output& output : play->outputs_) {
    (output.to_stdout && !command.out.empty() ? out : log) += output.text;
  }
  if (!command.log.empty()) PL_TRY(write(command.log, log, std::ios::app));
  if (!command.out.empty()) PL_TRY(write(command.out, out, std::ios::trunc));
  Exit exit = play->exit_;
  // Above the kernel's largest number: no real process has it, or descends from one that does.
  constexpr pid_t kNoRealPid = 1 << 23;
  if (exit.pid == 0) exit.pid = kNoRealPid + static_cast<pid_t>(commands_.size());
  exit.tail = last_bytes(log);
  if (observer != nullptr) observer->started({exit.pid, commands_.size()});
  for (const auto& [path, bytes] : play->files_) {
    const std::filesystem::path full = command.cwd / path;
    std::filesystem::create_directories(full.parent_path());
    PL_TRY(write(full, bytes, std::ios::trunc));
  }
  for (const auto& action : play->actions_) action(command);
  if (observer != nullptr) {
    observer->output(last_bytes(log));
    if (!exit.leftovers.empty()) observer->outlived();
  }
  return exit;
}

}  // namespace profline::testing
