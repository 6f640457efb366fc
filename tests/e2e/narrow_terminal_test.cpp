// Output on a terminal of 60 columns.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "base/terminal_text.h"
#include "process/runner.h"
#include "profline_binary.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

/// The lines that `profline ARGUMENTS` shows on a terminal that is 60 columns wide.
std::vector<std::string> shown(const std::filesystem::path& folder, const std::string& arguments) {
  Command command;
  command.cwd = folder;
  command.env["TERM"] = "xterm";
  command.argv = {"script", "-qec",
                  "stty cols 60 rows 40; exec " + profline_program().string() + " " + arguments +
                      " 2>/dev/null",
                  "/dev/null"};
  const Outcome outcome = run_command(std::move(command));
  std::vector<std::string> out;
  for (const std::string_view line : lines(outcome.out)) {
    out.emplace_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  }
  return out;
}

TEST(NarrowTerminal, IsNotOverrunByAnyCommand) {
  if (!find_program("script") || !find_program("stty")) {
    GTEST_SKIP() << "no script(1) or stty(1) here to make a terminal with";
  }
  const testing::TempDir folder;
  for (const std::string& arguments :
       {std::string("--help"), std::string("run --help"), std::string("doctor"),
        std::string("plan -cn demo device=cpu"), std::string("explain model.path"),
        std::string("explain pipeline.nsys -cn demo")}) {
    SCOPED_TRACE(arguments);
    const std::vector<std::string> lines = shown(folder.path(), arguments);
    EXPECT_FALSE(lines.empty());
    for (const std::string& line : lines) {
      // A command to copy stays on one line, and a long word unbroken.
      const std::string_view content = trim(line);
      const bool may_be_long =
          content.starts_with("$ ") || content.find(' ') == std::string_view::npos;
      EXPECT_TRUE(may_be_long || display_width(line) <= 60) << line;
    }
  }
}

}  // namespace
}  // namespace profline::e2e
