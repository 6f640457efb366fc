// The built program as a user meets it: help, version, mistakes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profline_binary.h"

namespace profline::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CommandLine, AlonePrintsHelp) {
  const Outcome outcome = run_profline({});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("doctor"));
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(run_profline({"--help"}).out, outcome.out);
}

TEST(CommandLine, VersionNamesTheCommit) {
  const Outcome outcome = run_profline({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(
      outcome.out,
      MatchesRegex("profline [0-9]+\\.[0-9]+\\.[0-9]+ \\(([0-9a-f]+(-modified)?|unknown)\\)\n"));
}

TEST(CommandLine, ACommandHasHelpOfItsOwn) {
  const Outcome outcome = run_profline({"doctor", "--help"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("--require"));
  EXPECT_THAT(run_profline({"demo", "--help"}).out, HasSubstr("[demo]"));
}

TEST(CommandLine, CommandsOfTwoWordsHaveHelpTogetherAndEach) {
  const std::string all = run_profline({"kernels", "--help"}).out;
  EXPECT_THAT(all, HasSubstr("\n  kernels top REPORT           the kernels of an nsys report"));
  EXPECT_THAT(all, HasSubstr("\n  kernels regions CAPTURE "));
  EXPECT_THAT(all, Not(HasSubstr("doctor")));
  const std::string top = run_profline({"kernels", "top", "--help"}).out;
  EXPECT_THAT(top, HasSubstr("usage: profline kernels top REPORT [OPTIONS]\n"));
  EXPECT_THAT(top, HasSubstr("--topk"));
  EXPECT_THAT(top, Not(HasSubstr("--merge")));
  EXPECT_THAT(run_profline({"kernels", "profile", "--help"}).out,
              HasSubstr("usage: profline kernels profile [OPTIONS] -- PROGRAM...\n"));
}

TEST(CommandLine, HelpKeepsItsColumns) {
  const std::string help = run_profline({"--help"}).out;
  EXPECT_THAT(help, HasSubstr("\n  runs [show RUN|prune|rebuild]\n                               "
                              "runs under the output root"));
  // A command without options of its own shows no empty list of them.
  EXPECT_THAT(run_profline({"report", "--help"}).out,
              HasSubstr("usage: profline report RUN [OPTIONS]\n\nof every command\n"));
}

TEST(CommandLine, MistakesAreOneLineOnStderrWithTheirExitCode) {
  struct Case {
    std::string_view name;
    std::vector<std::string> arguments;
    int code;
    std::string_view err;
  };
  const Case cases[] = {
      {"unknown command",
       {"docter"},
       2,
       "profline: unknown command 'docter' (did you mean 'doctor'?); 'profline --help' lists what "
       "there is\n"},
      {"unknown option",
       {"--frmat", "json"},
       2,
       "profline: unknown option '--frmat' (did you mean '--format'?); 'profline --help' lists "
       "what "
       "there is\n"},
      {"unknown option of a command",
       {"doctor", "--thoroughly"},
       2,
       "profline: unknown option '--thoroughly'; 'profline --help' lists what there is\n"},
      {"option of another command",
       {"doctor", "--resolve"},
       2,
       "profline: the command 'doctor' takes no option '--resolve'; 'profline doctor --help' lists "
       "its options\n"},
      {"a word too many",
       {"doctor", "nsys"},
       2,
       "profline: the command 'doctor' takes options only, and no 'nsys'\n"},
      {"overrides alone, which mean run",
       {"pipeline.torch_profiler.enable=false", "pipeline.static_analysis.enable=false"},
       2,
       "profline: no stage is on; switch one on, as in pipeline.static_analysis.enable=true\n"},
      {"a run keeps its config",
       {"--resume", "x", "--config-name", "demo"},
       2,
       "profline: --config-name does not go with --resume: a run keeps its config\n"},
      {"shell completion of what",
       {"--shell-completion", "install=fish"},
       2,
       "profline: --shell-completion goes with one of install=bash, uninstall=bash and "
       "query=bash\n"},
      {"no command",
       {"--format", "json"},
       2,
       "profline: no command given; 'profline --help' lists them\n"},
      {"unknown value",
       {"doctor", "--format", "xml"},
       2,
       "profline: --format: xml not in {text,json}; 'profline --help' tells more\n"},
      {"a file that is not there",
       {"doctor", "--nsys", "/nowhere/nsys"},
       3,
       "profline: cannot run '/nowhere/nsys': no such file\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Outcome outcome = run_profline(c.arguments);
    EXPECT_EQ(outcome.code, c.code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, c.err);
  }
}

TEST(CommandLine, ColoursAreAskedForOrLeftToATerminal) {
  constexpr std::string_view kRed = "\x1b[1;31mprofline:\x1b[0m ";
  EXPECT_THAT(run_profline({"explain", "nothing", "--color", "always"}).err, StartsWith(kRed));
  EXPECT_THAT(run_profline({"explain", "nothing"}).err, StartsWith("profline: "));
}

}  // namespace
}  // namespace profline::e2e
