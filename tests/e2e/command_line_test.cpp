// The built program from a user's point of view: help, version, mistakes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/strings.h"
#include "base/terminal_text.h"
#include "formats/json.h"
#include "process/runner.h"
#include "profline_binary.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
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
  EXPECT_THAT(all, HasSubstr("\n  kernels top REPORT           list the kernels of"));
  EXPECT_THAT(all, HasSubstr("\n  kernels regions CAPTURE "));
  EXPECT_THAT(all, Not(HasSubstr("doctor")));
  const std::string top = run_profline({"kernels", "top", "--help"}).out;
  EXPECT_THAT(top, HasSubstr("usage: profline kernels top REPORT [OPTIONS]\n"));
  EXPECT_THAT(top, HasSubstr("--topk"));
  EXPECT_THAT(top, Not(HasSubstr("--merge")));
  EXPECT_THAT(run_profline({"kernels", "profile", "--help"}).out,
              HasSubstr("usage: profline kernels profile [OPTIONS] -- PROGRAM...\n"));
}

TEST(CommandLine, CommandsThatOnlyShowTextHaveHelpToo) {
  EXPECT_THAT(run_profline({"help", "version"}).out,
              StartsWith("show version and commit\n\nusage: profline version [OPTIONS]\n"));
  EXPECT_THAT(run_profline({"help", "help"}).out,
              HasSubstr("usage: profline help [COMMAND] [OPTIONS]\n"));
  EXPECT_EQ(run_profline({"version", "--help"}).out, run_profline({"help", "version"}).out);
  const Outcome json = run_profline({"help", "version", "--format", "json"});
  EXPECT_EQ(json.code, 0);
  EXPECT_THAT(json.out, HasSubstr("\"show version and commit\""));
  EXPECT_EQ(run_profline({"help", "nothing"}).code, 2);
}

TEST(CommandLine, HelpKeepsItsColumns) {
  const std::string help = run_profline({"--help"}).out;
  EXPECT_THAT(help,
              HasSubstr("\n  runs [show RUN|export|prune|rebuild]\n                               "
                        "list the runs under the output root"));
  // A command without its own options shows no empty list.
  EXPECT_THAT(run_profline({"report", "--help"}).out,
              HasSubstr("usage: profline report RUN [OPTIONS]\n\nexamples\n"));
}

TEST(CommandLine, HelpAndVersionAreWordsToo) {
  EXPECT_EQ(run_profline({"help"}).out, run_profline({"--help"}).out);
  EXPECT_EQ(run_profline({"help", "trace"}).out, run_profline({"trace", "--help"}).out);
  EXPECT_EQ(run_profline({"help", "kernels"}).out, run_profline({"kernels", "--help"}).out);
  EXPECT_EQ(run_profline({"help", "kernels", "top"}).out,
            run_profline({"kernels", "top", "--help"}).out);
  EXPECT_EQ(run_profline({"version"}).out, run_profline({"--version"}).out);
  const std::string text = run_profline({"version"}).out;
  for (const char* word : {"version", "--version"}) {
    const auto document = parse_json(run_profline({word, "--format", "json"}).out, "version");
    ASSERT_TRUE(document) << document.error().to_string();
    EXPECT_EQ(document->find("schema")->as_string(), "profline.version/1");
    EXPECT_EQ("profline " + document->find("version")->as_string() + " (" +
                  document->find("commit")->as_string() + ")\n",
              text);
  }
  const auto help = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--format", "json"});
    const auto document = parse_json(run_profline(std::move(words)).out, "help");
    EXPECT_TRUE(document) << document.error().to_string();
    EXPECT_EQ(document->find("schema")->as_string(), "profline.help/1");
    std::vector<std::string> synopses;
    for (const Node& command : document->find("commands")->as_list()) {
      EXPECT_NE(command.find("name")->as_string(), "");
      EXPECT_NE(command.find("summary")->as_string(), "");
      synopses.push_back(command.find("synopsis")->as_string());
    }
    return synopses;
  };
  EXPECT_THAT(help({"help"}),
              AllOf(Contains("profline runs [show RUN|export|prune|rebuild] [OPTIONS]"),
                    Contains("profline help [COMMAND]"), Contains("profline version")));
  EXPECT_EQ(help({"--help"}), help({"help"}));
  EXPECT_EQ(help({"help", "kernels"}).size(), 4U);
  EXPECT_THAT(help({"help", "kernels", "top"}),
              ElementsAre("profline kernels top REPORT [OPTIONS]"));
  EXPECT_EQ(run_profline({"help", "trce", "--format", "json"}).code, 2);
  EXPECT_EQ(run_profline({"help", "man", "--format", "json"}).out,
            run_profline({"help", "man"}).out);
  const Outcome unknown = run_profline({"help", "trce"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err,
            "profline: unknown command 'trce' (did you mean 'trace'?); 'profline --help' lists "
            "the commands\n");
}

const std::vector<std::vector<std::string>>& every_command() {
  static const std::vector<std::vector<std::string>> kCommands = {{"run"},
                                                                  {"demo"},
                                                                  {"infer"},
                                                                  {"plan"},
                                                                  {"config"},
                                                                  {"explain"},
                                                                  {"analyze"},
                                                                  {"trace"},
                                                                  {"kernels", "top"},
                                                                  {"kernels", "profile"},
                                                                  {"kernels", "analyze"},
                                                                  {"kernels", "regions"},
                                                                  {"report"},
                                                                  {"compare"},
                                                                  {"runs"},
                                                                  {"doctor"}};
  return kCommands;
}

TEST(CommandLine, HelpFitsIntoEightyColumns) {
  std::vector<std::vector<std::string>> pages = every_command();
  pages.push_back({});
  pages.push_back({"kernels"});
  for (std::vector<std::string> words : pages) {
    words.emplace_back("--help");
    SCOPED_TRACE(join(words, " "));
    const Outcome outcome = run_profline(words);
    EXPECT_EQ(outcome.code, 0);
    for (const std::string_view line : lines(outcome.out)) {
      EXPECT_LE(display_width(line), 80U) << line;
    }
  }
}

TEST(CommandLine, EveryCommandShowsExamplesThatBeginWithIt) {
  for (std::vector<std::string> words : every_command()) {
    const std::string name = "profline " + join(words, " ");
    SCOPED_TRACE(name);
    words.emplace_back("--help");
    EXPECT_THAT(run_profline(words).out, HasSubstr("\nexamples\n  " + name));
  }
}

TEST(CommandLine, TheManualPageIsWholeAndFormats) {
  const Outcome page = run_profline({"help", "man"});
  EXPECT_EQ(page.code, 0);
  EXPECT_THAT(page.out, StartsWith(".TH PROFLINE 1 "));
  for (const std::vector<std::string>& words : every_command()) {
    EXPECT_THAT(page.out, HasSubstr("\n.SS " + join(words, " ") + "\n"));
  }
  if (!find_program("groff")) GTEST_SKIP() << "no groff here to format the page";
  const testing::TempDir folder;
  ASSERT_TRUE(write_file_atomic(folder.path() / "profline.1", page.out));
  Command command;
  command.argv = {"groff",   "-man", "-Tutf8",
                  "-P-cbou", "-ww",  (folder.path() / "profline.1").string()};
  const Outcome formatted = run_command(std::move(command));
  EXPECT_EQ(formatted.code, 0);
  EXPECT_EQ(formatted.err, "");
  EXPECT_THAT(formatted.out, HasSubstr("EXIT STATUS"));
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
       "profline: unknown command 'docter' (did you mean 'doctor'?); 'profline --help' lists the "
       "commands\n"},
      {"unknown option",
       {"--frmat", "json"},
       2,
       "profline: unknown option '--frmat' (did you mean '--format'?); 'profline --help' lists "
       "the options\n"},
      {"unknown option of a command",
       {"doctor", "--thoroughly"},
       2,
       "profline: unknown option '--thoroughly'; 'profline --help' lists the options\n"},
      {"option of another command",
       {"doctor", "--resolve"},
       2,
       "profline: the command 'doctor' takes no option '--resolve'; 'profline doctor --help' lists "
       "its options\n"},
      {"a word too many",
       {"doctor", "nsys"},
       2,
       "profline: the command 'doctor' takes only options, not 'nsys'\n"},
      {"overrides alone, which mean run",
       {"pipeline.torch_profiler.enable=false", "pipeline.static_analysis.enable=false"},
       2,
       "profline: no stage is enabled; enable one, as in pipeline.static_analysis.enable=true\n"},
      {"a run keeps its config",
       {"--resume", "x", "--config-name", "demo"},
       2,
       "profline: --config-name does not go with --resume: a run keeps its config\n"},
      {"shell completion of what",
       {"--shell-completion", "install=tcsh"},
       2,
       "profline: --shell-completion takes install=SHELL, uninstall=SHELL or query=SHELL, where "
       "SHELL is bash, zsh or fish\n"},
      {"no command",
       {"--format", "json"},
       2,
       "profline: no command given; 'profline --help' lists them\n"},
      {"unknown value",
       {"doctor", "--format", "xml"},
       2,
       "profline: --format: xml not in {text,json}; see 'profline --help'\n"},
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
