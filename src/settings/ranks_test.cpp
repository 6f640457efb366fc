#include "settings/ranks.h"

#include <gtest/gtest.h>

#include "formats/yaml.h"
#include "settings/pipeline.h"

namespace profline::settings {
namespace {

Result<Workload> workload_of(const std::string& ranks, const std::string& kind = "program",
                             const std::string& more = "command: [./train]") {
  const std::string text = "kind: " + kind + "\n" + more + "\nranks: " + ranks + "\n";
  const auto tree = parse_yaml(text, "w.yaml");
  EXPECT_TRUE(tree) << tree.error().to_string();
  return schema::read<Workload>(*tree, "workload");
}

std::string problem_of(const std::string& ranks, const std::string& kind = "program",
                       const std::string& more = "command: [./train]") {
  const auto workload = workload_of(ranks, kind, more);
  return workload ? "" : workload.error().to_string();
}

using Numbers = std::vector<std::uint32_t>;

TEST(RankSettings, ChooseTheRanksThatProfilersObserve) {
  struct Case {
    const char* profile;
    Numbers chosen;
  };
  const Case cases[] = {
      {"all", {0, 1, 2, 3, 4, 5, 6, 7}}, {"one_per_node", {0, 4}}, {"[3, 0, 3]", {0, 3}}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.profile);
    const auto workload = workload_of(std::string("{launcher: srun, n: 8, per_node: 4, profile: ") +
                                      each.profile + "}");
    ASSERT_TRUE(workload) << workload.error().to_string();
    EXPECT_TRUE(workload->ranks.is_on());
    EXPECT_EQ(workload->ranks.profiled(), each.chosen);
    const auto again = schema::read<Ranks>(schema::write(workload->ranks));
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(*again, workload->ranks);
  }
  EXPECT_FALSE(workload_of("{}")->ranks.is_on());
}

TEST(RankSettings, AreCheckedTogether) {
  struct Case {
    const char* ranks;
    const char* problem;
  };
  constexpr Case kCases[] = {
      {"{n: 4}", "w.yaml:3:12: workload.ranks.n: needs launcher: srun, torchrun or mpirun"},
      {"{launcher: srun}",
       "w.yaml:3:8: workload.ranks.n: must say how many ranks the launcher starts"},
      {"{launcher: srun, n: 2, per_node: 3}",
       "w.yaml:3:41: workload.ranks.per_node: must not be greater than n, 2"},
      {"{launcher: torchrun, n: 4, per_node: 2}",
       "w.yaml:3:45: workload.ranks.per_node: must be null or n with torchrun, which starts the "
       "ranks of one node; use srun or mpirun for several"},
      {"{launcher: mpirun, n: 4, profile: one_per_node}",
       "w.yaml:3:42: workload.ranks.profile: one_per_node needs per_node"},
      {"{launcher: mpirun, n: 4, profile: [1, 4]}",
       "w.yaml:3:42: workload.ranks.profile: names rank 4, but the ranks are 0 to 3"},
      {"{launcher: mpirun, n: 4, profile: []}",
       "w.yaml:3:42: workload.ranks.profile: must name at least one rank"},
      {"{launcher: mpirun, n: 4, profile: some}",
       "w.yaml:3:42: workload.ranks.profile: must be one of all, one_per_node, or a list of ranks "
       "such as [0, 3], not 'some'"},
  };
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.ranks);
    EXPECT_EQ(problem_of(each.ranks), each.problem);
  }
}

TEST(RankSettings, AreForProgramsOnly) {
  EXPECT_EQ(
      problem_of("{launcher: srun, n: 2}", "dummy_shallow_resnet", "command: null"),
      "w.yaml:3:19: workload.ranks.launcher: needs a program of your own: set command, or put "
      "it after '--'");
  EXPECT_EQ(
      problem_of("{launcher: srun, n: 2}", "server", "command: [vllm]\nserver: {url: 'http://h'}"),
      "w.yaml:4:19: workload.ranks.launcher: must be null for a server, which starts its own "
      "workers");
}

}  // namespace
}  // namespace profline::settings
