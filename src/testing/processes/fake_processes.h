#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "process/runner.h"

namespace profline::testing {

/// What a command does when FakeProcesses runs it: by default nothing, successfully.
class Play {
 public:
  /// To stdout: to Command::out if that is set, else to the log.
  Play& prints(std::string text);
  /// To stderr: to the log.
  Play& complains(std::string text);
  /// A file it creates, with missing folders; relative to Command::cwd.
  Play& writes(std::filesystem::path path, std::string bytes);
  /// Anything else it does before it ends.
  Play& does(std::function<void(const Command&)> action);

  Play& exits(int code);
  Play& dies_of(int signal);
  /// Any other end; the tail is added.
  Play& ends(Exit exit);
  /// It never runs; `does` still takes effect.
  Play& cannot_start(Error error);

  /// May be run any number of times, including zero, instead of exactly once.
  Play& any_number_of_times();

 private:
  friend class FakeProcesses;
  struct Output {
    bool to_stdout;
    std::string text;
  };

  std::vector<std::string> argv_start_;
  std::vector<Output> outputs_;
  std::map<std::filesystem::path, std::string> files_;
  std::vector<std::function<void(const Command&)>> actions_;
  Exit exit_;
  std::optional<Error> error_;
  bool repeats_ = false;
  bool played_ = false;
};

/// A ProcessRunner for tests: runs nothing, records every command and plays its script. An
/// unexpected command, and an expected one that never came, fail the test.
///
///   FakeProcesses processes;
///   processes.expect({"nsys", "--version"}).prints("NVIDIA Nsight Systems version 2025.3\n");
///   processes.expect({"nsys", "profile"}).writes("run.nsys-rep", bytes).exits(0);
class FakeProcesses final : public ProcessRunner {
 public:
  FakeProcesses() = default;
  FakeProcesses(const FakeProcesses&) = delete;
  FakeProcesses& operator=(const FakeProcesses&) = delete;
  ~FakeProcesses() override;

  /// One run of a command whose argv starts like this. If several match, the first that was not
  /// played yet is used; a repeating one only after all others.
  Play& expect(std::vector<std::string> argv_start);

  /// All commands that were run, in order.
  const std::vector<Command>& commands() const { return commands_; }

 private:
  Result<Exit> run_checked(const Command& command, RunObserver* observer) override;
  Play* play_for(const Command& command);
  std::string still_expected() const;

  std::vector<std::unique_ptr<Play>> plays_;  // pointers keep expect()'s references valid
  std::vector<Command> commands_;
};

}  // namespace profline::testing
