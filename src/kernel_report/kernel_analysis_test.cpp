#include "kernel_report/kernel_analysis.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "testing/paths.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::kernel_report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A folder with `raw.csv`: six kernels as ncu 2025.3 recorded them on an H200.
class CapturesTest : public ::testing::Test {
 protected:
  CapturesTest() { write("raw.csv", raw_page()); }

  static std::string raw_page() {
    const auto file = testing::source_dir() / "tests/golden/ncu/2025.3-raw-kernels/input.csv";
    auto text = read_file(file);
    EXPECT_TRUE(text) << text.error().to_string();
    return text ? std::move(*text) : "";
  }
  void write(const std::filesystem::path& name, const std::string& text) const {
    ASSERT_TRUE(create_folders((folder_ / name).parent_path()));
    ASSERT_TRUE(write_file_atomic(folder_ / name, text));
  }
  std::vector<Capture> captures_in(const std::string& name) {
    auto captures = find_captures(folder_ / name, processes_, "ncu");
    EXPECT_TRUE(captures) << captures.error().to_string();
    return captures ? std::move(*captures) : std::vector<Capture>();
  }

  testing::TempDir folder_;
  testing::FakeProcesses processes_;
};

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

class KernelAnalysisTest : public CapturesTest {
 protected:
  KernelAnalysis analysed(const std::string& input) {
    auto analysis = analyse_kernels(captures_in(input), classes_, options_);
    EXPECT_TRUE(analysis) << analysis.error().to_string();
    return analysis ? std::move(*analysis) : KernelAnalysis();
  }
  static std::vector<std::string> ids(const KernelAnalysis& of) {
    std::vector<std::string> ids;
    for (const auto& row : of.rows) ids.push_back(row.id);
    return ids;
  }
  static kernels::Classifier gemms() {
    settings::KernelClasses rules;
    rules.rules.push_back({.name = "gemm", .contains = {"nvjet"}, .matches = {}});
    return kernels::Classifier::create(rules).value();
  }

  std::vector<std::string> asked_;
  kernels::Classifier classes_ = gemms();
  AnalysisOptions options_{
      .ceilings_of = [this](const std::string& device) -> Result<settings::Ceilings> {
        asked_.push_back(device);
        settings::Ceilings ceilings;
        ceilings.device = device;
        return ceilings;
      }};
};

TEST_F(KernelAnalysisTest, RowsOfAFileAreNumberedAndClassified) {
  const KernelAnalysis analysis = analysed("raw.csv");
  ASSERT_EQ(analysis.rows.size(), asked_.size());
  EXPECT_EQ(analysis.rows.front().id, "k0001");
  EXPECT_THAT(asked_, ::testing::Each("NVIDIA H200"));
  EXPECT_EQ(analysis.ceilings.device, "NVIDIA H200");
  for (const auto& row : analysis.rows) {
    EXPECT_EQ(row.kernel_class, row.name.find("nvjet") == std::string::npos ? "other" : "gemm");
  }
  EXPECT_THAT(analysis.all_metrics, HasSubstr("k0001"));
}

TEST_F(KernelAnalysisTest, ADeviceByNameDecidesTheCeilings) {
  options_.device = "h100";
  analysed("raw.csv");
  EXPECT_THAT(asked_, ::testing::Each("h100"));
}

TEST_F(KernelAnalysisTest, RowsOfAFolderHaveItsName) {
  write("lab/kernel_0001_a/raw.csv", raw_page());
  write("lab/kernel_0002_b/notes.txt", "nothing");
  const KernelAnalysis analysis = analysed("lab");
  EXPECT_EQ(ids(analysis).front(), "kernel_0001_a");
  EXPECT_EQ(ids(analysis)[1], "kernel_0001_a_2");
  EXPECT_EQ(ids(analysis).back(), "kernel_0002_b");  // unknown, but not forgotten
  EXPECT_EQ(analysis.rows.back().name, "");
  EXPECT_THAT(analysis.notes,
              ::testing::Contains(HasSubstr("kernel_0002_b: no captured kernels in ")));
  // The metrics of several captures are one table with one head.
  const std::string head = analysis.all_metrics.substr(0, analysis.all_metrics.find('\n') + 1);
  EXPECT_EQ(analysis.all_metrics.find(head, 1), std::string::npos);
}

TEST_F(KernelAnalysisTest, KernelsAreShownByTheNamesPeopleGiveThem) {
  const std::string raw = analysed("raw.csv").rows.front().name;
  write("names.yaml", "- {raw_name: '" + raw + "', friendly_name: my product}\n");
  options_.friendly_names = load_friendly_names((folder_ / "names.yaml").string()).value();
  const KernelAnalysis analysis = analysed("raw.csv");
  EXPECT_EQ(analysis.rows.front().display_name, "my product");
  EXPECT_NE(analysis.rows.back().display_name, "my product");
}

TEST_F(KernelAnalysisTest, NamesThatCannotBeReadAreReportedWithTheirPlace) {
  const std::string file = (folder_ / "names.yaml").string();
  write("names.yaml", "raw_name: x\n");
  EXPECT_EQ(load_friendly_names(file).error().to_string(),
            file + ":1:1: --kernel-desc must hold a list of raw_name and friendly_name");
  write("names.yaml", "- {raw_name: x, friendly_name: y}\n- {raw_name: x}\n");
  EXPECT_EQ(load_friendly_names(file).error().to_string(),
            file + ":2:3: an entry must have raw_name and friendly_name, both strings");
}

TEST_F(KernelAnalysisTest, LeavesTablesAndPictures) {
  const KernelAnalysis analysis = analysed("raw.csv");
  const auto written = write_analysis(analysis, 5, folder_ / "analysis");
  ASSERT_TRUE(written) << written.error().to_string();
  for (const char* name :
       {"metrics_summary.csv", "classification_summary.csv", "all_metrics_long.csv",
        "histograms.csv", "roofline_scatter_normalized.svg", "roofline_scatter_physical.svg",
        "roofline_per_kernel/k0001_normalized.svg", "roofline_per_kernel/k0001_physical.svg"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / "analysis" / name)) << name;
  }
  EXPECT_EQ(read_file(folder_ / "analysis/all_metrics_long.csv").value(), analysis.all_metrics);
}

}  // namespace
}  // namespace profline::kernel_report
