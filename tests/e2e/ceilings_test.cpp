// `profline ceilings`, and runs that use what it measured.

#include "records/ceilings.h"

#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "profline_binary.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

using ::testing::HasSubstr;

class Ceilings : public ::testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments) const {
    Command base;
    base.cwd = folder_.path();
    base.env["XDG_DATA_HOME"] = (folder_ / "data").string();
    return run_profline(std::move(arguments), std::move(base));
  }
  static bool has_workload() {
    return std::filesystem::exists(testing::binary_dir() / "bin/profline-workload");
  }
  /// A measurement of a CPU that nobody has.
  void write_measured(const std::string& name) const {
    MachineCeilings ceilings;
    ceilings.device = "a processor";
    ceilings.measured_at = "2026-11-18T20:00:00.000Z";
    for (const auto& [kind, figure, rate] :
         {std::tuple("memory", "dram read", 123e9), {"matrix", "fp32", 456e9}}) {
      CeilingFigure& one = ceilings.figures.emplace_back();
      one.kind = kind;
      one.name = figure;
      one.unit = "B/s";
      one.sustained.emplace().value = rate;
      one.sustained->seconds = 1;
    }
    write_files(folder_.path(), {{name, to_document(ceilings).value()}});
  }
  testing::TempDir folder_;
};

TEST_F(Ceilings, AreMeasuredKeptAndShown) {
  if (!has_workload()) GTEST_SKIP() << "profline-workload was not built: no libtorch here";
  const Outcome none = run({"ceilings", "--show", "--device", "cpu"});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("this CPU has not been measured"));
  const Outcome measured =
      run({"ceilings", "--device", "cpu", "--seconds", "10", "--threads", "1"});
  ASSERT_EQ(measured.code, 0) << measured.err;
  EXPECT_THAT(measured.out, HasSubstr("dram read"));
  EXPECT_THAT(measured.out,
              HasSubstr("kept in " + (folder_ / "data/profline/ceilings/cpu-").string()));
  const Outcome shown =
      run({"ceilings", "--show", "--device", "cpu", "--threads", "1", "--format", "json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const auto ceilings = from_document<MachineCeilings>(shown.out, "shown");
  ASSERT_TRUE(ceilings) << ceilings.error().to_string();
  EXPECT_EQ(ceilings->threads, 1);
  EXPECT_FALSE(ceilings->device.empty());
  EXPECT_FALSE(ceilings->host.empty());
  EXPECT_NE(ceilings->find("memory", "dram read"), nullptr);
}

TEST_F(Ceilings, OfAFileAreUsedAndNamed) {
  write_measured("mine.json");
  const Outcome outcome =
      run({"analyze", "-cn", "demo", "device=cpu", "ceilings=mine.json", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto document = parse_json(outcome.out, "analyze");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->find_path("device.bytes_per_second")->as_float(), 123e9);
  EXPECT_EQ(document->find_path("device.operations_per_second")->as_float(), 456e9);
  EXPECT_EQ(document->find_path("device.peak")->as_string(), "measured peak");
  EXPECT_EQ(document->find_path("device.source")->as_string(),
            "measured on 2026-11-18; memory: dram read sustained");
}

TEST_F(Ceilings, ThatWereNotMeasuredAreAbsent) {
  const Outcome outcome = run({"plan", "-cn", "demo", "device=cpu", "ceilings=measured"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("ceilings=measured: this CPU has not been measured; "
                                     "`profline ceilings` measures it"));
}

TEST_F(Ceilings, ARunKeepsBothRoofsAndItsReportNamesTheOneUsed) {
  if (!has_workload()) GTEST_SKIP() << "profline-workload was not built: no libtorch here";
  write_measured("mine.json");
  const Outcome outcome =
      run({"run", "-cn", "demo", "device=cpu", "ceilings=mine.json", "hydra.run.dir=out",
           "infer.max_new_tokens=4", "pipeline.nsys.enable=false",
           "pipeline.torch_profiler.enable=false", "dataset.sampling.num_samples_per_epoch=1"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto kept =
      from_document<RunCeilings>(read_file(folder_ / "out/ceilings.json").value(), "kept");
  ASSERT_TRUE(kept) << kept.error().to_string();
  EXPECT_EQ(kept->choice, "mine.json");
  ASSERT_EQ(kept->roofs.size(), 1U);
  EXPECT_TRUE(kept->roofs[0].is_used);
  EXPECT_EQ(kept->roofs[0].bytes_per_second, 123e9);
  const std::string report = read_file(folder_ / "out/report.md").value();
  EXPECT_THAT(report, HasSubstr("## Ceilings"));
  EXPECT_THAT(report, HasSubstr("| measured, used here | 123 GB/s |"));
  const auto summary = parse_json(read_file(folder_ / "out/summary.json").value(), "summary");
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->find_path("memory_roof.bytes_per_second")->as_float(), 123e9);
}

TEST_F(Ceilings, WrongOptionsAreRefused) {
  EXPECT_EQ(run({"ceilings", "--device", "tpu"}).code, 2);
  EXPECT_EQ(run({"ceilings", "--seconds", "0"}).code, 2);
  EXPECT_EQ(run({"ceilings", "fast"}).code, 2);
  EXPECT_EQ(run({"ceilings", "--device", "cuda:97"}).code, 3);
}

}  // namespace
}  // namespace profline::e2e
