#include "profline_binary.h"

#include <chrono>

#include <gtest/gtest.h>

#include "base/files.h"
#include "process/interrupt.h"
#include "process/runner.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {

std::filesystem::path profline_program() {
  return testing::binary_dir() / "bin/profline";
}

Outcome run_command(Command command) {
  const testing::TempDir folder;
  command.out = folder / "out";
  command.log = folder / "err";
  if (command.cwd.empty()) command.cwd = folder.path();
  command.timeout = std::chrono::seconds(100);
  Interrupt interrupt;
  PosixRunner runner(interrupt);
  const auto exit = runner.run(command);
  Outcome outcome;
  if (!exit) {
    outcome.err = exit.error().to_string();
    return outcome;
  }
  outcome.code = exit->code.value_or(-1);
  outcome.out = read_file(command.out).value_or("");
  outcome.err = read_file(command.log).value_or("");
  return outcome;
}

Outcome run_profline(std::vector<std::string> arguments, Command base) {
  Command command = std::move(base);
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), profline_program().string());
  return run_command(std::move(command));
}

Outcome run_profline_in(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  Command base;
  base.cwd = folder;
  return run_profline(std::move(arguments), std::move(base));
}

void write_files(const std::filesystem::path& root,
                 const std::vector<std::pair<std::string, std::string>>& files) {
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = root / name;
    std::filesystem::create_directories(path.parent_path());
    const auto written = write_file_atomic(path, text);
    ASSERT_TRUE(written) << written.error().to_string();
  }
}

}  // namespace profline::e2e
