#include "trace_report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "testing/temp_dir.h"
#include "trace_report/testing_traces.h"

namespace profline::trace_report {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReportTest : public ::testing::Test {
 protected:
  Report report(const Options& options = {}) {
    auto made = make_report(timeline_, classes_, options);
    EXPECT_TRUE(made) << made.error().to_string();
    return made ? std::move(*made) : Report();
  }
  std::string failure(const std::string& range) const {
    const auto made = make_report(timeline_, classes_, {.range = range});
    return made ? "made" : made.error().to_string();
  }
  static std::string figures(std::int64_t total_ns, std::uint64_t count) {
    return std::to_string(total_ns) + "/" + std::to_string(count);
  }
  static std::string figures_of(const Kernel& row) { return figures_of(row.use); }
  static std::string figures_of(const KernelUse& row) {
    return figures(row.total_ns, row.launches);
  }
  static std::string figures_of(const KernelClass& row) {
    return figures(row.total_ns, row.instances);
  }
  /// `name total_ns/count` of each.
  template <typename Rows, typename NameOf>
  static std::vector<std::string> rows(const Rows& all, NameOf name_of) {
    std::vector<std::string> texts;
    for (const auto& row : all) {
      texts.push_back(name_of(row) + " " + figures_of(row));
    }
    return texts;
  }
  std::vector<std::string> kernels_of(const Report& of) const {
    return rows(of.kernels, [](const Kernel& kernel) { return kernel.use.short_name; });
  }

  testing::TempDir folder_;
  Timeline timeline_ = trace_in(folder_.path(), kGraphTrace);
  kernels::Classifier classes_ = two_classes();
};

TEST_F(ReportTest, KernelsAreOneByNameMostTimeFirst) {
  const Report all = report();
  EXPECT_THAT(kernels_of(all), ElementsAre("gemm_a 3000/2", "copy_b 2000/2"));
  const Kernel& gemm = all.kernels.front();
  EXPECT_EQ(gemm.use.kernel_class, "gemm");
  EXPECT_EQ(gemm.use.min_ns, 1000);
  EXPECT_EQ(gemm.use.max_ns, 2000);
  EXPECT_EQ(gemm.use.mean_ns(), 1500);
  EXPECT_EQ(all.total_ns, 5000);
  EXPECT_EQ(all.kernel_instances, 4U);
  EXPECT_THAT(rows(all.classes, [](const KernelClass& row) { return row.name; }),
              ElementsAre("gemm 3000/2", "other 2000/2"));
}

TEST_F(ReportTest, ShapesAndLaunchersAddUpToTheKernel) {
  const Kernel gemm = report().kernels.front();
  ASSERT_EQ(gemm.shapes.size(), 2U);
  EXPECT_EQ(gemm.shapes[0].total_ns, 2000);
  EXPECT_THAT(gemm.shapes[0].grid, ElementsAre(4, 1, 1));
  EXPECT_THAT(gemm.shapes[1].grid, ElementsAre());
  EXPECT_THAT(rows(gemm.launchers, [](const KernelUse& row) { return row.op; }),
              ElementsAre("aten::mm 2000/1", " 1000/1"));
}

TEST_F(ReportTest, AGraphIsOneCallAndManyKernels) {
  const Launches launches = report().launches;
  EXPECT_EQ(launches.calls, 2U);
  EXPECT_EQ(launches.graph_calls, 1U);
  EXPECT_EQ(launches.kernels, 4U);
  EXPECT_EQ(launches.graph_kernels, 3U);
}

TEST_F(ReportTest, OperatorsComeInTheOrderAskedFor) {
  const auto names = [&](operators::OperatorOrder order) {
    std::vector<std::string> found;
    for (const auto& row : report({.range = {}, .operator_order = order}).operators.rows) {
      found.push_back(timeline_.names.text(row.name));
    }
    return found;
  };
  EXPECT_THAT(names(operators::OperatorOrder::Self), ElementsAre("aten::mm", "aten::add"));
  EXPECT_THAT(names(operators::OperatorOrder::Calls), ElementsAre("aten::add", "aten::mm"));
}

TEST_F(ReportTest, KeepsToTheRangeThatIsNamed) {
  const Report first = report({.range = "first"});
  EXPECT_THAT(kernels_of(first), ElementsAre("gemm_a 2000/1"));
  ASSERT_NE(first.range_account(), nullptr);
  EXPECT_EQ(first.range_account()->instances, 1U);
  EXPECT_EQ(report().range_account(), nullptr);
  EXPECT_EQ(report({.range = "*"}).kernel_instances, 4U);
}

TEST_F(ReportTest, ARangeThatIsNotThereNamesThoseThatAre) {
  EXPECT_EQ(failure("fisrt"),
            timeline_.source + " has no range that matches 'fisrt'; it has 'first', 'graphs'");
  timeline_.ranges.clear();
  EXPECT_EQ(failure("first"),
            timeline_.source + " has no ranges, so --range 'first' matches nothing");
}

TEST_F(ReportTest, OfManyRangesTenAreNamed) {
  std::string events;
  for (int i = 0; i < 12; ++i) {
    events += (i > 0 ? "," : "") + std::string(R"({"ph":"X","cat":"user_annotation","name":"r)") +
              std::to_string(i) + R"(","pid":1,"tid":1,"ts":)" + std::to_string(100 * i) +
              R"(,"dur":)" + std::to_string(50 - i) + "}";
  }
  timeline_ = trace_in(folder_.path(), "{\"traceEvents\": [" + events + "]}");
  EXPECT_THAT(failure("zzz"), HasSubstr("it has 'r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', "
                                        "'r8', 'r9' and 2 more"));
}

TEST_F(ReportTest, TheDocumentHasTheRowsAskedFor) {
  const std::vector<Report> reports = {report()};
  const Node one = trace_document(reports, 1);
  EXPECT_EQ(one.find("schema")->as_string(), "profline.trace/1");
  const Node& capture = one.find("captures")->as_list().front();
  EXPECT_EQ(capture.find("kernels")->as_list().size(), 1U);
  EXPECT_EQ(capture.find("operators")->as_list().size(), 1U);
  EXPECT_EQ(capture.find("kernel_classes")->as_list().size(), 2U);
  EXPECT_EQ(capture.find_path("launches.graph_kernels")->as_int(), 3);
  EXPECT_EQ(capture.find_path("reading.used")->as_int() > 0, true);
  EXPECT_TRUE(capture.find("range")->is_null());
  const Node all = trace_document(reports, 9);
  const Node& kernel = all.find("captures")->as_list().front().find("kernels")->as_list().front();
  EXPECT_EQ(kernel.find("name")->as_string(), "gemm_a");
  EXPECT_TRUE(kernel.find("operators")->as_list()[1].find("name")->is_null());
}

TEST_F(ReportTest, BusyAndIdleOfADeviceAddUpToTheWallTime) {
  const std::vector<Report> reports = {report()};
  const Node document = trace_document(reports, 20);
  const Node& device = document.find("captures")
                           ->as_list()
                           .front()
                           .find("accounting")
                           ->find("devices")
                           ->as_list()
                           .front();
  EXPECT_EQ(device.find("busy_ns")->as_int(), 5000);
  EXPECT_EQ(device.find("busy_ns")->as_int() + device.find("idle_ns")->as_int(),
            device.find("wall_ns")->as_int());
}

TEST_F(ReportTest, ExportsAreNamedAfterTheCapture) {
  timeline_.source = "a/b/trace.pt.trace.json.gz";
  EXPECT_EQ(default_export_path(timeline_, Export::Perfetto), "trace.perfetto.json");
  EXPECT_EQ(default_export_path(timeline_, Export::Csv), "trace.csv");
  EXPECT_EQ(default_export_path(timeline_, Export::Json), "trace.report.json");
}

TEST_F(ReportTest, ExportsAllRows) {
  const auto csv = export_trace(report(), Export::Csv, folder_ / "tables");
  ASSERT_TRUE(csv) << csv.error().to_string();
  EXPECT_EQ(csv->size(), 4U);
  EXPECT_THAT(read_file(folder_ / "tables/kernels.csv").value(),
              HasSubstr("gemm_a,gemm_a,gemm,4x1x1,128x1x1,"));
  EXPECT_THAT(read_file(folder_ / "tables/kernel_operators.csv").value(),
              HasSubstr("gemm_a,aten::mm,1,2000,2000\ngemm_a,,1,1000,1000\n"));
  ASSERT_TRUE(export_trace(report(), Export::Json, folder_ / "report.json"));
  EXPECT_TRUE(parse_json(read_file(folder_ / "report.json").value(), "report"));
  ASSERT_TRUE(export_trace(report(), Export::Perfetto, folder_ / "perfetto.json"));
  EXPECT_THAT(read_file(folder_ / "perfetto.json").value(), HasSubstr("gemm_a"));
}

TEST_F(ReportTest, ReportsWhatAViewerWouldShowAndAnExportLacks) {
  EXPECT_THAT(left_out_of_perfetto(timeline_), HasSubstr("(2)"));
  timeline_.reading.skipped.clear();
  EXPECT_EQ(left_out_of_perfetto(timeline_), "");
}

}  // namespace
}  // namespace profline::trace_report
