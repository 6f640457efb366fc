#include "kernel_report/captured_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "kernel_report/testing_captures.h"

namespace profline::kernel_report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CapturedKernelsTest : public CapturesTest {
 protected:
  std::string failure(const std::string& name) {
    const auto captures = find_captures(folder_ / name, processes_, "no-such-ncu");
    return captures ? "found" : captures.error().to_string();
  }
};

TEST_F(CapturedKernelsTest, AFileIsOneCapture) {
  const auto captures = captures_in("raw.csv");
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_EQ(captures.front().id, "");
  EXPECT_EQ(captures.front().report.kernels.size(), 6U);
}

TEST_F(CapturedKernelsTest, EachFolderOfAKernelIsACaptureOfItsOwn) {
  write("lab/kernel_0002_b/raw.csv", raw_page());
  write("lab/kernel_0001_a/raw.csv", raw_page());
  write("lab/kernel_0003_c/notes.txt", "nothing of ncu's");
  write("lab/other/raw.csv", raw_page());
  const auto captures = captures_in("lab");
  std::vector<std::string> ids;
  for (const Capture& capture : captures) ids.push_back(capture.id);
  EXPECT_THAT(ids, ElementsAre("kernel_0001_a", "kernel_0002_b", "kernel_0003_c"));
  EXPECT_EQ(captures[0].report.kernels.size(), 6U);
  ASSERT_EQ(captures[2].report.reading.notes.size(), 1U);
  EXPECT_THAT(captures[2].report.reading.notes.front(), HasSubstr("no captured kernels in "));
}

TEST_F(CapturedKernelsTest, FilesThatAreNotNcusAreNoted) {
  write("one/raw.csv", raw_page());
  write("one/own.csv", "a,b\n1,2\n");
  const auto captures = captures_in("one");
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_EQ(captures.front().report.kernels.size(), 6U);
  EXPECT_THAT(captures.front().report.reading.notes, ::testing::Contains(HasSubstr("own.csv")));
}

TEST_F(CapturedKernelsTest, AReportIsImportedByNcu) {
  write("run.ncu-rep", "NCU");
  write("ncu", "#!/bin/sh\n");
  std::filesystem::permissions(folder_ / "ncu", std::filesystem::perms::owner_all);
  processes_
      .expect({(folder_ / "ncu").string(), "--import", (folder_ / "run.ncu-rep").string(), "--page",
               "raw", "--csv"})
      .prints(raw_page());
  const auto captures =
      find_captures(folder_ / "run.ncu-rep", processes_, (folder_ / "ncu").string());
  ASSERT_TRUE(captures) << captures.error().to_string();
  EXPECT_EQ(captures->front().report.kernels.size(), 6U);
}

TEST_F(CapturedKernelsTest, SaysWhatIsMissing) {
  EXPECT_EQ(failure("gone"), "cannot read " + (folder_ / "gone").string() + ": no such file");
  std::filesystem::create_directories(folder_ / "empty");
  EXPECT_EQ(failure("empty"), "no captured kernels in " + (folder_ / "empty").string() +
                                  ": no kernel_* folders, CSV files from ncu or .ncu-rep");
  write("run.ncu-rep", "NCU");
  EXPECT_THAT(failure("run.ncu-rep"), HasSubstr("cannot run 'no-such-ncu'"));
}

}  // namespace
}  // namespace profline::kernel_report
