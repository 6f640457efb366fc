#include "workloads/ranks/launch.h"

#include <map>

#include <gtest/gtest.h>

#include "base/strings.h"

namespace profline::ranks {
namespace {

using settings::RankLauncher;

std::map<std::string, std::string> variables;

std::optional<std::string> variable(const char* name) {
  const auto found = variables.find(name);
  if (found == variables.end()) return std::nullopt;
  return found->second;
}

TEST(Launch, StartsAProcessPerRankWithTheLaunchersOwnOptions) {
  struct Case {
    settings::Ranks ranks;
    const char* words;
  };
  const Case cases[] = {
      {{.launcher = RankLauncher::Srun, .n = 8, .per_node = 4, .args = {"-p", "gpu"}},
       "srun --ntasks=8 --nodes=2 --ntasks-per-node=4 --distribution=block --kill-on-bad-exit=1 "
       "--quit-on-interrupt "
       "--input=none -p gpu W"},
      {{.launcher = RankLauncher::Srun, .n = 5, .per_node = 2},
       "srun --ntasks=5 --nodes=3 --ntasks-per-node=2 --distribution=block --kill-on-bad-exit=1 "
       "--quit-on-interrupt "
       "--input=none W"},
      {{.launcher = RankLauncher::Srun, .n = 2},
       "srun --ntasks=2 --kill-on-bad-exit=1 --quit-on-interrupt --input=none W"},
      {{.launcher = RankLauncher::Mpirun, .n = 8, .per_node = 4, .args = {"--oversubscribe"}},
       "mpirun -n 8 --map-by ppr:4:node --oversubscribe W"},
      {{.launcher = RankLauncher::Torchrun, .n = 2},
       "torchrun --standalone --nnodes=1 --nproc-per-node=2 --max-restarts=0 --no-python W"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.words);
    EXPECT_EQ(join(launcher_words(each.ranks, {"W"}), " "), each.words);
  }
  EXPECT_EQ(
      join(wrapper_words("/bin/profline", "/r/baseline/launch.json", {"./a", "--", "b c"}), "|"),
      "/bin/profline|rank-exec|/r/baseline/launch.json|--|./a|--|b c");
  EXPECT_EQ(words_ahead({"nsys", "profile", "./a", "x"}, {"./a", "x"}),
            (std::vector<std::string>{"nsys", "profile"}));
  EXPECT_TRUE(words_ahead({"./a"}, {"./a"}).empty());
}

TEST(Launch, FindsTheRankInTheVariablesOfItsLauncher) {
  variables = {{"SLURM_PROCID", "5"},
               {"SLURM_LOCALID", "1"},
               {"SLURMD_NODENAME", "n3"},
               {"RANK", "9"},
               {"LOCAL_RANK", "2"}};
  EXPECT_EQ(place_of(RankLauncher::Srun, variable).value(), (RankPlace{5, 1, "n3"}));
  EXPECT_EQ(place_of(RankLauncher::Torchrun, variable).value(), (RankPlace{9, 2, "n3"}));
  const auto none = place_of(RankLauncher::Mpirun, variable);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().to_string(),
            "the rank is not known: mpirun did not set OMPI_COMM_WORLD_RANK; 'profline run' starts "
            "this command");
  variables = {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};
  EXPECT_EQ(place_of(RankLauncher::Mpirun, variable).value(), (RankPlace{3, 1, ""}));
  variables = {{"PMI_RANK", "7"}, {"MPI_LOCALRANKID", "3"}};
  EXPECT_EQ(place_of(RankLauncher::Mpirun, variable).value(), (RankPlace{7, 3, ""}));
  variables = {{"RANK", "-1"}};
  EXPECT_FALSE(place_of(RankLauncher::Torchrun, variable));
}

TEST(Launch, TasksAreReadAsTheyWereWritten) {
  LaunchTask task{.stage = "nsys", .launcher = RankLauncher::Mpirun};
  task.ranks.push_back({.rank = 1,
                        .profiled = true,
                        .folder = "/r/nsys/ranks/1",
                        .log = "/r/nsys/ranks/1/workload/log",
                        .prefix = {"nsys", "profile"},
                        .env = {{"A", "b"}},
                        .session = "s-1"});
  task.on_demand = OnDemandTask{.after_ms = 20, .duration_ms = 500};
  const auto read = from_document<LaunchTask>(to_document(task).value(), "launch.json");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, task);
}

}  // namespace
}  // namespace profline::ranks
