#include <gtest/gtest.h>

#include "process/runner.h"
#include "testing/processes/children.h"

namespace profline {
namespace {

TEST(Display, QuotesOnlyWhatAShellWouldRead) {
  struct Case {
    std::vector<std::string> argv;
    std::string_view text;
  };
  const Case cases[] = {
      {{"nsys", "profile", "--sample=none", "-o", "/tmp/a.b"},
       "nsys profile --sample=none -o /tmp/a.b"},
      {{"my app", ""}, "'my app' ''"},
      {{"a", "it's", "$HOME", "*", "~", "=ls", "#x"}, "a 'it'\\''s' '$HOME' '*' '~' '=ls' '#x'"},
      {{"A=b", "A=b"}, "'A=b' A=b"},
      {{"a", "two\nlines"}, "a 'two\nlines'"},
  };
  for (const Case& c : cases) EXPECT_EQ(display({.argv = c.argv}), c.text);
}

TEST(Display, TellsFolderAndEnvironment) {
  Command command{.argv = {"ncu", "-k", "gemm"}};
  command.env = {{"A", "b c"}, {"EMPTY", ""}};
  command.unset_env = {"LANG"};
  command.cwd = "/tmp/my runs";
  EXPECT_EQ(display(command), "cd '/tmp/my runs' && env -u LANG A='b c' EMPTY='' ncu -k gemm");
  EXPECT_EQ(display({.argv = {"ls"}, .cwd = "-P"}), "cd ./-P && ls");
}

TEST(Display, ComesBackVerbatimFromAShell) {
  std::string every_byte;
  for (int byte = 1; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::vector<std::string> words{every_byte, "", "'", "\\", "a b\n", "$(date)", "-n", "!x"};
  Command inner = process_test::child({"env", "VALUE", "args"});
  inner.argv.insert(inner.argv.end(), words.begin(), words.end());
  inner.env["VALUE"] = every_byte;
  std::string expected = "VALUE=" + every_byte + '\n';
  for (const std::string& word : words) expected += std::to_string(word.size()) + ':' + word + '\n';

  const Interrupt interrupt;
  const auto exit = PosixRunner(interrupt).run({.argv = {"/bin/sh", "-c", display(inner)}});
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_EQ(exit->tail, expected);
}

TEST(CheckCommand, RefusesWhatNoChildCouldSee) {
  using namespace std::string_literals;
  struct Case {
    Command command;
    std::string_view message;
  };
  const Case cases[] = {
      {{.argv = {}}, "the command has no program to run"},
      {{.argv = {""}}, "the command has no program to run"},
      {{.argv = {"ls", "a\0b"s}},
       "argument 1 of ls contains a NUL byte at offset 1, which would cut it off"},
      {{.argv = {"ls"}, .env = {{"A", "\0"s}}},
       "environment variable A contains a NUL byte at offset 0, which would cut it off"},
      {{.argv = {"ls"}, .env = {{"A=B", "c"}}},
       "environment variable A=B: a name must not be empty or contain '=' or NUL"},
      {{.argv = {"ls"}, .unset_env = {""}},
       "environment variable '': a name must not be empty or contain '=' or NUL"},
      {{.argv = {"ls"}, .cwd = "/a\0b"s},
       "path /a contains a NUL byte at offset 2, which would cut it off"},
  };
  for (const Case& c : cases) {
    const auto checked = check(c.command);
    ASSERT_FALSE(checked) << c.message;
    EXPECT_EQ(checked.error().to_string(), c.message);
    EXPECT_EQ(checked.error().kind(), ErrorKind::Config);
  }
  EXPECT_TRUE(check({.argv = {"ls"}}));
}

}  // namespace
}  // namespace profline
