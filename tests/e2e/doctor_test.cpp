// `profline doctor` on the machine that runs the tests.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/json.h"
#include "nsight_tools.h"
#include "process/runner.h"
#include "profline_binary.h"
#include "testing/paths.h"

namespace profline::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Command without_tools() {
  Command command;
  command.env["PATH"] = "/nowhere";
  return command;
}

TEST(Doctor, JsonHasAStateForEachCheckAndAFixForWhatIsNotFound) {
  const Outcome outcome = run_profline({"doctor", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto document = parse_json(outcome.out, "doctor");
  ASSERT_TRUE(document) << document.error().to_string();
  EXPECT_EQ(document->find_path("schema")->as_string(), "profline.doctor/1");
  EXPECT_EQ(document->find_path("path")->as_string(), own_path());
  std::vector<std::string> names;
  for (const Node& finding : document->find("findings")->as_list()) {
    names.push_back(finding.find("name")->as_string());
    const bool found = finding.find("state")->as_string() == "found";
    EXPECT_EQ(finding.find("fix")->is_null(), found) << names.back();
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"gpu", "driver", "counters", "nsys", "ncu", "sampling",
                                      "libtorch", "nvtx", "srun", "mpirun", "torchrun", "disk"}));
}

TEST(Doctor, MissingToolsAreNoFailureUnlessRequired) {
  const Outcome relaxed = run_profline({"doctor"}, without_tools());
  EXPECT_EQ(relaxed.code, 0) << relaxed.err;
  EXPECT_THAT(relaxed.out, HasSubstr("nsys      missing"));
  EXPECT_EQ(run_profline({"doctor", "--require", "disk,nsys"}, without_tools()).code, 3);
  EXPECT_EQ(run_profline({"doctor", "--require", "disc"}, without_tools()).code, 2);
}

TEST(Doctor, LaunchersThatDoNotWorkAreOneLineUnlessRequired) {
  const Outcome relaxed = run_profline({"doctor"}, without_tools());
  EXPECT_THAT(relaxed.out, HasSubstr("ranks     optional only programs of several ranks need a "
                                     "launcher; not usable here: srun, mpirun, torchrun "
                                     "(--require srun shows the fix)\n"));
  EXPECT_THAT(relaxed.out, Not(HasSubstr("\nmpirun ")));
  const Outcome strict = run_profline({"doctor", "--require", "mpirun"}, without_tools());
  EXPECT_EQ(strict.code, 3);
  EXPECT_THAT(strict.out, HasSubstr("\nmpirun    missing  not on PATH\n"));
  EXPECT_THAT(strict.out, HasSubstr("not usable here: srun, torchrun ("));
}

TEST(Doctor, TriesTheNsightToolsThatAreThere) {
  std::string why;
  const auto tools = working_nsys(why);
  if (!tools) GTEST_SKIP() << why;
  const Outcome outcome =
      run_profline({"doctor", "--require", "nsys,ncu"}, tools->environment(true));
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr((tools->folder / "bin/nsys").string()));
}

TEST(Doctor, AsksTheWorkloadBesideIt) {
  if (!std::filesystem::exists(testing::binary_dir() / "bin/profline-workload")) {
    GTEST_SKIP() << "profline-workload was not built: no libtorch here";
  }
  EXPECT_EQ(run_profline({"doctor", "--require", "libtorch"}, without_tools()).code, 0);
}

}  // namespace
}  // namespace profline::e2e
