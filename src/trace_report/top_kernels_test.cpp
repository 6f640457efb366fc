#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/captures/nsys_export.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"
#include "trace_report/report.h"
#include "trace_report/testing_traces.h"

namespace profline::trace_report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TopKernelsTest : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(write_file_atomic(folder_ / name, text));
    return folder_ / name;
  }
  TopKernels top(const TopKernelsQuery& query) {
    auto found = read_top_kernels(query, processes_);
    EXPECT_TRUE(found) << found.error().to_string();
    return found ? std::move(*found) : TopKernels();
  }
  static std::vector<std::string> names(const TopKernels& of) {
    std::vector<std::string> names;
    for (const TopKernel& kernel : of.kernels) names.push_back(kernel.name);
    return names;
  }

  testing::TempDir folder_;
  testing::FakeProcesses processes_;
};

TEST_F(TopKernelsTest, ATraceIsOrderedByTime) {
  const TopKernels found = top({.report = file("trace.json", kGraphTrace)});
  EXPECT_THAT(names(found), ElementsAre("gemm_a", "copy_b"));
  EXPECT_TRUE(found.is_trace);
  EXPECT_EQ(found.kernels.front().total_ns, 3000);
  EXPECT_NEAR(*found.kernels.front().time_percent, 60, 1e-9);
  EXPECT_EQ(found.kernels.front().instances, 2U);
}

TEST_F(TopKernelsTest, KeepsToARange) {
  const auto report = file("trace.json", kGraphTrace);
  EXPECT_THAT(names(top({.report = report, .range = "first"})), ElementsAre("gemm_a"));
  EXPECT_THAT(names(top({.report = report, .range = "nowhere"})), ElementsAre());
}

TEST_F(TopKernelsTest, SharesThatASummaryLacksComeFromItsTimes) {
  const auto report = file("sum.csv",
                           "Total Time (ns),Instances,Name\n"
                           "100,1,small\n"
                           "300,2,large\n");
  const TopKernels found = top({.report = report});
  EXPECT_THAT(names(found), ElementsAre("large", "small"));
  EXPECT_NEAR(*found.kernels.front().time_percent, 75, 1e-9);
  EXPECT_FALSE(found.is_trace);
  EXPECT_EQ(found.tool, "nsys stats");
}

TEST_F(TopKernelsTest, TheColumnToSortByIsTheUsers) {
  const auto report = file("sum.csv",
                           "Time (%),Total Time (ns),Instances,Name\n"
                           "10.0,300,1,long\n"
                           "90.0,100,2,shares\n");
  EXPECT_THAT(names(top({.report = report})), ElementsAre("shares", "long"));
  EXPECT_THAT(names(top({.report = report, .range = {}, .order = TopKernelsQuery::Order::Time})),
              ElementsAre("long", "shares"));
}

TEST_F(TopKernelsTest, ASummaryKnowsNoRanges) {
  const auto report = file("sum.csv", "Total Time (ns),Instances,Name\n1,1,a\n");
  const auto refused = read_top_kernels({.report = report, .range = "decode"}, processes_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "--range needs an SQLite export, a .nsys-rep or a Kineto trace: a CSV summary does not "
            "say in which range a kernel was launched");
}

TEST_F(TopKernelsTest, AReportOfNsysIsExportedFirst) {
  const auto nsys = file("nsys", "#!/bin/sh\n");
  std::filesystem::permissions(nsys, std::filesystem::perms::owner_all);
  processes_.expect({nsys.string(), "export"}).does([](const Command& command) {
    for (std::size_t i = 0; i + 1 < command.argv.size(); ++i) {
      if (command.argv[i] == "--output" || command.argv[i] == "-o") {
        EXPECT_TRUE(testing::write_decode_loop(command.argv[i + 1], {.kernels = 120}));
      } else if (command.argv[i].starts_with("--output=")) {
        EXPECT_TRUE(testing::write_decode_loop(command.argv[i].substr(9), {.kernels = 120}));
      }
    }
  });
  const TopKernels found = top({.report = file("run.nsys-rep", "NSYS"),
                                .range = {},
                                .order = TopKernelsQuery::Order::Share,
                                .nsys = nsys.string()});
  EXPECT_FALSE(found.kernels.empty());
}

TEST_F(TopKernelsTest, WithoutNsysItsReportCannotBeRead) {
  const auto refused = read_top_kernels({.report = file("run.nsys-rep", "NSYS"),
                                         .range = {},
                                         .order = TopKernelsQuery::Order::Share,
                                         .nsys = "no-such-nsys"},
                                        processes_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::NotFound);
  EXPECT_THAT(refused.error().message(), HasSubstr("can only be read with nsys, and cannot run "
                                                   "'no-such-nsys'"));
}

TEST_F(TopKernelsTest, ARegexFindsTheKernelInNcusSpelling) {
  TopKernels of_nsys;
  EXPECT_EQ(regex_of({.name = "f(int)"}, of_nsys), "^f\\(int\\)$");
  TopKernels of_trace;
  of_trace.is_trace = true;
  EXPECT_NE(regex_of({.name = "void f<int>(int)"}, of_trace), "^void f<int>\\(int\\)$");
}

}  // namespace
}  // namespace profline::trace_report
