#include "opened_files.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/strings.h"
#include "profline_binary.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

/// The file in `openat(AT_FDCWD, "/a/run.json", O_RDONLY|O_CLOEXEC) = 3`; empty if the call failed
/// or did not open a file for reading.
std::string file_read(std::string_view line) {
  const std::size_t from = line.find('"');
  const std::size_t to = line.find('"', from + 1);
  const bool is_read = to != std::string_view::npos && line.find("O_RDONLY", to) != line.npos &&
                       line.find("O_DIRECTORY", to) == line.npos &&
                       line.find(" = -1", to) == line.npos;
  return is_read ? std::string(line.substr(from + 1, to - from - 1)) : "";
}

}  // namespace

bool can_trace() {
  const testing::TempDir traced;
  Command command;
  command.argv = {"strace", "-o", (traced / "calls").string(), "true"};
  return run_command(std::move(command)).code == 0;
}

std::map<std::string, int> files_read(const std::filesystem::path& folder,
                                      const std::vector<std::string>& arguments, Command base) {
  const testing::TempDir traced;
  Command command = std::move(base);
  command.cwd = folder;
  command.argv = {"strace", "-qq", "-e", "trace=openat", "-o", (traced / "calls").string()};
  command.argv.push_back(profline_program().string());
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  const Outcome outcome = run_command(command);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::map<std::string, int> files;
  const auto calls = read_file(traced / "calls");
  EXPECT_TRUE(calls) << calls.error().to_string();
  if (!calls) return files;
  for (const std::string_view line : lines(*calls)) {
    const std::filesystem::path file = file_read(line);
    const std::string below = (folder / file).lexically_relative(folder).string();
    if (!file.empty() && !below.starts_with("..")) ++files[below];
  }
  return files;
}

}  // namespace profline::e2e
