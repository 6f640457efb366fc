// Completion as bash, zsh and fish do it: for bash and zsh the installed function is called the way
// the shell calls it when Tab is pressed; fish has a command for all of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "process/runner.h"
#include "small_tree.h"

namespace profline::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The completions offered to bash for a line with the cursor at its end. `replaced` is the part of
/// the line that bash would replace: everything after the last of COMP_WORDBREAKS.
std::vector<std::string> offered(const SmallTree& tree, const std::string& line,
                                 const std::string& replaced) {
  Command command;
  command.cwd = tree.path();
  command.argv = {"bash", "--norc", "-c", R"bash(
    eval "$("$1" --shell-completion install=bash)"
    COMP_LINE=$2 COMP_POINT=${#2}
    _profline_complete "$1" "$3" ''
    [ ${#COMPREPLY[@]} = 0 ] || printf '%s|\n' "${COMPREPLY[@]}")bash", "bash", profline_program().string(),
                  line,   replaced};
  const Outcome outcome = run_command(std::move(command));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  std::vector<std::string> words;
  for (const std::string_view each : lines(outcome.out)) {
    words.emplace_back(each.substr(0, each.size() - 1));
  }
  return words;
}

TEST(Completion, OffersCommandsAndOptions) {
  const SmallTree tree;
  EXPECT_THAT(
      offered(tree, "profline ", ""),
      ElementsAre("analyze ", "ceilings ", "compare ", "config ", "demo ", "doctor ", "explain ",
                  "help ", "infer ", "kernels ", "load ", "mcp ", "plan ", "rank-exec ", "ranks ",
                  "report ", "run ", "runs ", "serve ", "sweep ", "trace ", "version "));
  EXPECT_THAT(offered(tree, "profline ex", "ex"), ElementsAre("explain "));
  EXPECT_THAT(offered(tree, "profline config --config-", "--config-"),
              ElementsAre("--config-dir ", "--config-name ", "--config-path "));
  EXPECT_THAT(offered(tree, "profline doctor --re", "--re"), ElementsAre("--require "));
  EXPECT_THAT(offered(tree, "profline doctor x", "x"), IsEmpty());
  EXPECT_THAT(offered(tree, "profline kernels ", ""),
              ElementsAre("analyze ", "profile ", "regions ", "top "));
  EXPECT_THAT(offered(tree, "profline kernels top --n", "--n"), ElementsAre("--nsys "));
  EXPECT_THAT(offered(tree, "profline kernels --m", "--m"), ElementsAre("--merge "));
  EXPECT_THAT(offered(tree, "profline runs ", ""),
              ElementsAre("export ", "prune ", "rebuild ", "show "));
  EXPECT_THAT(offered(tree, "profline runs --root out ex", "ex"), ElementsAre("export "));
  EXPECT_THAT(offered(tree, "profline runs show ", ""), IsEmpty());
  EXPECT_THAT(offered(tree, "profline nonsense ", ""), IsEmpty());
}

TEST(Completion, OffersTheValuesOfOptions) {
  const SmallTree tree;
  EXPECT_THAT(offered(tree, "profline config --cfg ", ""), ElementsAre("all ", "hydra ", "job "));
  EXPECT_THAT(offered(tree, "profline --info def", "def"),
              ElementsAre("defaults ", "defaults-tree "));
  EXPECT_THAT(offered(tree, "profline --format=j", "j"), ElementsAre("json "));
  EXPECT_THAT(offered(tree, "profline doctor --require gpu,n", "gpu,n"),
              ElementsAre("gpu,ncu ", "gpu,nsys ", "gpu,nvtx "));
  EXPECT_THAT(offered(tree, "profline config -cn d", "d"), ElementsAre("demo ", "dummy "));
  EXPECT_THAT(offered(tree, "profline config -p vars.d", "vars.d"), ElementsAre("vars.db."));
}

TEST(Completion, OffersKeysAndGroupsOfTheConfig) {
  const SmallTree tree;
  EXPECT_THAT(offered(tree, "profline config ", ""), ElementsAre("db=", "vars."));
  EXPECT_THAT(offered(tree, "profline config vars.", "vars."),
              ElementsAre("vars.db.", "vars.name=", "vars.url="));
  EXPECT_THAT(offered(tree, "profline explain vars.n", "vars.n"), ElementsAre("vars.name "));
  EXPECT_THAT(offered(tree, "profline plan ~vars.db.p", "~vars.db.p"),
              ElementsAre("~vars.db.port "));
  EXPECT_THAT(offered(tree, "profline config +dat", "+dat"), ElementsAre("+dataset/", "+dataset="));
  EXPECT_THAT(offered(tree, "profline config hydra.ru", "hydra.ru"),
              ElementsAre("hydra.run.", "hydra.runtime."));
  EXPECT_THAT(offered(tree, "profline config hydra/l", "hydra/l"), ElementsAre("hydra/launcher="));
}

TEST(Completion, OffersOptionsOfGroupsAndValuesOfKeys) {
  const SmallTree tree;
  // bash breaks words at '=' and needs only what comes after.
  EXPECT_THAT(offered(tree, "profline config db=", ""), ElementsAre("mysql ", "postgresql "));
  EXPECT_THAT(offered(tree, "profline config db=p", "p"), ElementsAre("postgresql "));
  // With COMP_WORDBREAKS changed, it needs the whole word.
  EXPECT_THAT(offered(tree, "profline config db=p", "db=p"), ElementsAre("db=postgresql "));
  // The config is the one that the line describes so far.
  EXPECT_THAT(offered(tree, "profline config db=postgresql vars.db.s", "vars.db.s"),
              ElementsAre("vars.db.ssl="));
  EXPECT_THAT(offered(tree, "profline config db=postgresql vars.db.ssl=", ""),
              ElementsAre("false ", "true "));
  EXPECT_THAT(offered(tree, "profline config vars.db.port=", ""), ElementsAre("3306 "));
  // Overrides that do not compose are left out.
  EXPECT_THAT(offered(tree, "profline config nothing=1 vars.na", "vars.na"),
              ElementsAre("vars.name="));
  // bash completes files itself.
  EXPECT_THAT(offered(tree, "profline config vars.name=./", "./"), IsEmpty());
}

TEST(Completion, KnowsTheShippedTree) {
  const SmallTree tree;
  EXPECT_THAT(offered(tree, "profline config -cn demo profiling/", "profiling/"),
              ElementsAre("profiling/ncu@pipeline.ncu=", "profiling/nsys@pipeline.nsys=",
                          "profiling/torch@pipeline.torch_profiler="));
  EXPECT_THAT(offered(tree, "profline -cn demo config profiling/ncu@pipeline.ncu=ncu.r", "ncu.r"),
              ElementsAre("ncu.rtx3090 ", "ncu.rtx3090.compute ", "ncu.rtx3090.memory "));
  EXPECT_THAT(offered(tree, "profline config -cn demo pipeline.nsys.enable=", ""),
              ElementsAre("auto ", "false ", "true "));
}

TEST(Completion, UninstallsWhatItInstalled) {
  Command command;
  command.argv = {"bash", "--norc", "-c", R"bash(
    eval "$("$1" -sc install=bash)"
    complete -p profline
    eval "$("$1" -sc uninstall=bash)"
    complete -p profline 2>/dev/null || echo gone
    declare -F _profline_complete || echo gone)bash", "bash", profline_program().string()};
  const Outcome outcome = run_command(std::move(command));
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "complete -o default -o nospace -F _profline_complete profline\n"
            "gone\n"
            "gone\n");
}

/// The output of a program in the tree's folder, line by line, with the folder of the tested
/// profline first on PATH.
std::vector<std::string> printed(const SmallTree& tree, std::vector<std::string> argv) {
  Command command;
  command.cwd = tree.path();
  command.argv = std::move(argv);
  command.env["PATH"] = profline_program().parent_path().string() + ":" + own_path();
  command.env["HOME"] = tree.path().string();
  const Outcome outcome = run_command(std::move(command));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  std::vector<std::string> out;
  for (const std::string_view line : lines(outcome.out)) out.emplace_back(line);
  return out;
}

/// The arguments of zsh's compadd; `before` are the words ahead of the one being typed.
std::vector<std::string> offered_by_zsh(const SmallTree& tree, std::vector<std::string> before,
                                        const std::string& prefix) {
  std::vector<std::string> argv = {"zsh", "-f", "-c", R"zsh(
    autoload -Uz compinit && compinit -u -d ./zcompdump
    eval "$(profline --shell-completion install=zsh)"
    compadd() { print -r -- "$@" }
    _files() { print files }
    PREFIX=$1; shift
    words=("$@" "$PREFIX"); CURRENT=$#words
    _profline)zsh", "zsh", prefix};
  argv.insert(argv.end(), before.begin(), before.end());
  return printed(tree, std::move(argv));
}

TEST(Completion, WorksInZsh) {
  if (!find_program("zsh")) GTEST_SKIP() << "no zsh here (scripts/setup shells installs it)";
  const SmallTree tree;
  EXPECT_THAT(offered_by_zsh(tree, {"profline"}, "ex"), ElementsAre("-Q -- explain"));
  EXPECT_THAT(offered_by_zsh(tree, {"profline", "config"}, ""), ElementsAre("-Q -S  -- db= vars."));
  EXPECT_THAT(offered_by_zsh(tree, {"profline", "config"}, "db=p"),
              ElementsAre("-Q -- db=postgresql"));
  EXPECT_THAT(offered_by_zsh(tree, {"profline", "runs"}, ""),
              ElementsAre("-Q -- export prune rebuild show"));
  EXPECT_THAT(offered_by_zsh(tree, {"profline", "trace"}, "x"), ElementsAre("files"));
}

std::vector<std::string> offered_by_fish(const SmallTree& tree, const std::string& line) {
  return printed(tree,
                 {"fish", "--no-config", "-c",
                  "profline --shell-completion install=fish | source; complete -C $argv[1]", line});
}

TEST(Completion, WorksInFish) {
  if (!find_program("fish")) GTEST_SKIP() << "no fish here (scripts/setup shells installs it)";
  const SmallTree tree;
  EXPECT_THAT(offered_by_fish(tree, "profline ex"), ElementsAre("explain"));
  EXPECT_THAT(offered_by_fish(tree, "profline config "), ElementsAre("db=", "vars."));
  EXPECT_THAT(offered_by_fish(tree, "profline config db=p"), ElementsAre("db=postgresql"));
  EXPECT_THAT(offered_by_fish(tree, "profline runs "),
              ElementsAre("export", "prune", "rebuild", "show"));
}

}  // namespace
}  // namespace profline::e2e
