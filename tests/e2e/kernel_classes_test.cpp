// User-defined rules for classes of kernels: every command takes them from the same places.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "profline_binary.h"
#include "records/kernel_use.h"
#include "run_folder.h"
#include "testing/captures/nsys_export.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;

/// A folder with a conf/kernels/classes.yaml that has a class for every kernel, and a capture.
class KernelClasses : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(create_folders(folder_ / "conf/kernels"));
    ASSERT_TRUE(write_file_atomic(folder_ / "conf/kernels/classes.yaml",
                                  "rules:\n  - class: mine\n    matches: ['.']\n"));
    ASSERT_TRUE(testing::write_decode_loop(folder_ / "capture.sqlite", {.kernels = 120}));
  }

  /// An nsys that captures nothing and exports that capture.
  fs::path write_nsys() {
    const fs::path program = folder_ / "nsys";
    const std::string script =
        "#!/bin/sh\n"
        "case \"$1 $2\" in\n"
        "  --version*) echo 'NVIDIA Nsight Systems version 2023.4.4.54-0';;\n"
        "  export*) for word; do\n"
        "      case $word in --output=*) cp '" +
        (folder_ / "capture.sqlite").string() +
        "' \"${word#--output=}\";; esac\n"
        "    done;;\n"
        "  'stats --quiet') printf 'Time (%%),Total Time (ns),Instances,Name\\n';;\n"
        "  'profile --session'*) while [ $# -gt 1 ]; do\n"
        "      if [ \"$1\" = -o ]; then echo report > \"$2.nsys-rep\"; fi; shift\n"
        "    done;;\n"
        "esac\n";
    EXPECT_TRUE(write_file_atomic(program, script));
    fs::permissions(program, fs::perms::owner_all);
    return program;
  }

  /// Runs only the nsys stage, with that nsys, into the folder `run`.
  void run_with_nsys() {
    const Outcome outcome = run_profline_in(
        folder_.path(), own_command_run("[/bin/true]", {"pipeline.baseline.enable=false",
                                                        "pipeline.nsys.enable=true", "--nsys",
                                                        write_nsys().string()}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  std::vector<std::string> classes_of_run() const {
    const auto text = read_file(folder_ / "run/nsys/kernels.json");
    EXPECT_TRUE(text) << text.error().to_string();
    if (!text) return {};
    const auto table = from_document<NsysKernels>(*text, "kernels.json");
    EXPECT_TRUE(table && !table->kernels.empty());
    std::vector<std::string> classes;
    if (!table) return classes;
    for (const KernelUse& kernel : table->kernels) classes.push_back(kernel.kernel_class);
    return classes;
  }

  testing::TempDir folder_;
};

TEST_F(KernelClasses, OfTheUserAreInTheKernelsOfARun) {
  run_with_nsys();
  EXPECT_THAT(classes_of_run(), Each(Eq("mine")));
}

TEST_F(KernelClasses, ThatChangedApplyToAResumedRun) {
  run_with_nsys();
  ASSERT_TRUE(write_file_atomic(folder_ / "conf/kernels/classes.yaml",
                                "rules:\n  - class: yours\n    matches: ['.']\n"));
  const Outcome changed = run_profline_in(folder_.path(), {"run", "--resume", "run"});
  ASSERT_EQ(changed.code, 0) << changed.err;
  EXPECT_THAT(changed.err, HasSubstr("nsys runs: its config, command or tool changed"));
  EXPECT_THAT(classes_of_run(), Each(Eq("yours")));

  const Outcome same = run_profline_in(folder_.path(), {"run", "--resume", "run"});
  ASSERT_EQ(same.code, 0) << same.err;
  EXPECT_THAT(same.err, Not(HasSubstr("nsys runs")));
}

TEST_F(KernelClasses, ThatWereRemovedDoNotApplyToAResumedRun) {
  run_with_nsys();
  EXPECT_TRUE(fs::exists(folder_ / "run/kernel_classes.json"));
  fs::remove(folder_ / "conf/kernels/classes.yaml");
  const Outcome resumed = run_profline_in(folder_.path(), {"run", "--resume", "run"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_FALSE(fs::exists(folder_ / "run/kernel_classes.json"));
  EXPECT_THAT(classes_of_run(), Not(Contains("mine")));
}

std::vector<std::string> classes_in(const Node& rows) {
  std::vector<std::string> classes;
  for (const Node& row : rows.as_list()) classes.push_back(row.find("class")->as_string());
  return classes;
}

TEST_F(KernelClasses, OfTheUserAreInATraceAndInAnAnalysis) {
  const Outcome trace =
      run_profline_in(folder_.path(), {"trace", "capture.sqlite", "--format", "json"});
  ASSERT_EQ(trace.code, 0) << trace.err;
  const auto report = parse_json(trace.out, "trace");
  ASSERT_TRUE(report) << report.error().to_string();
  const Node& kernels = *report->find("captures")->as_list().front().find("kernels");
  EXPECT_THAT(classes_in(kernels), Contains("mine"));
  EXPECT_THAT(classes_in(kernels), Not(Contains(::testing::Ne("mine"))));

  fs::copy_file(testing::source_dir() / "tests/golden/ncu/2025.3-raw-kernels/input.csv",
                folder_ / "kernels.csv");
  const Outcome analysis =
      run_profline_in(folder_.path(), {"kernels", "analyze", "kernels.csv", "--format", "json"});
  ASSERT_EQ(analysis.code, 0) << analysis.err;
  const auto analysed = parse_json(analysis.out, "analysis");
  ASSERT_TRUE(analysed) << analysed.error().to_string();
  EXPECT_THAT(classes_in(*analysed->find("kernels")), Not(Contains(::testing::Ne("mine"))));
}

}  // namespace
}  // namespace profline::e2e
