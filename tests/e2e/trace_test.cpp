// `profline trace`: the summary of a capture.

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "profline_binary.h"
#include "testing/temp_dir.h"
#include "trace_captures.h"

namespace profline::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Trace, ReportsWhereTheTimeWent) {
  const Outcome outcome = run_profline({"trace", h200_trace()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("Kineto, 7.22 ms, GPU 0: NVIDIA H200\n"),
                    HasSubstr("GPU 0   busy                      376 us    5.2 %\n"),
                    HasSubstr("decode      1    7.22 ms     5.2 %  376 us       120      120\n"),
                    HasSubstr("44.3 us  11.8 %     20  2.22 us       1  reduction    "
                              "aten::linalg_vector_norm  reduce_kernel<NormTwoOps>\n"),
                    HasSubstr("4.58 ms  63.5 %  4.58 ms    261 us     261 us     40  aten::mm\n"),
                    HasSubstr("1005 events: 505 used, 500 skipped\n"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(run_profline({"trace", h200_trace()}).out, outcome.out);
  EXPECT_THAT(run_profline({"trace", "--color", "always", h200_trace()}).out,
              HasSubstr("\x1b[1mkernels"));
}

TEST(Trace, WritesADocumentForPrograms) {
  const profline::testing::TempDir folder;
  const std::filesystem::path copy = folder / "copy.json.gz";
  std::filesystem::copy_file(h200_trace(), copy);
  const Outcome outcome =
      run_profline({"trace", "--format", "json", "--top", "2", h200_trace(), copy.string()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("{\n  \"schema\": \"profline.trace/1\""));
  const Node document = parsed(outcome.out);
  ASSERT_EQ(document.find("captures")->as_list().size(), 2U);
  const Node& capture = document.find("captures")->as_list().front();
  EXPECT_EQ(capture.find("wall_ns")->as_int(), 7'219'062);
  const Node& device = capture.find_path("accounting")->find("devices")->as_list().front();
  EXPECT_EQ(device.find("busy_ns")->as_int(), 375'541);
  std::int64_t idle_ns = 0;
  for (const auto& [key, value] : device.find("idle")->as_map()) idle_ns += value.as_int();
  EXPECT_EQ(idle_ns, device.find("idle_ns")->as_int());
  EXPECT_EQ(device.find("busy_ns")->as_int() + idle_ns, 7'219'062);
  ASSERT_EQ(capture.find("kernels")->as_list().size(), 2U);
  EXPECT_EQ(capture.find("kernels")->as_list().front().find("class")->as_string(), "gemm");
  EXPECT_EQ(capture.find("operators")->as_list().size(), 2U);
  EXPECT_EQ(capture.find("reading")->find("events")->as_int(), 1005);
}

TEST(Trace, KeepsToARange) {
  const Outcome outcome = run_profline({"trace", "--range", "decode", h200_trace()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("only what happened in 1 instance of range 'decode', 7.22 ms\n"));
  const Outcome wrong = run_profline({"trace", "--range", "decod", h200_trace()});
  EXPECT_EQ(wrong.code, 3);
  EXPECT_EQ(wrong.err,
            "profline: " + h200_trace() + " has no range that matches 'decod'; it has 'decode'\n");
}

TEST(Trace, ExportsWhatOtherProgramsOpen) {
  const profline::testing::TempDir folder;
  const Outcome perfetto = run_profline(
      {"trace", "--export", "perfetto", "--to", (folder / "p.json").string(), h200_trace()});
  EXPECT_EQ(perfetto.code, 0) << perfetto.err;
  EXPECT_EQ(perfetto.out, (folder / "p.json").string() + "\n");
  // Its output is a trace with the same rows.
  const Outcome again = run_profline({"trace", "--format", "json", (folder / "p.json").string()});
  const Node capture = parsed(again.out).find("captures")->as_list().front();
  EXPECT_EQ(capture.find("wall_ns")->as_int(), 7'219'062);
  EXPECT_EQ(capture.find_path("accounting")->find("kernels")->find("sum_ns")->as_int(), 375'541);
  EXPECT_EQ(capture.find("ranges")->as_list().size(), 1U);

  const Outcome csv = run_profline(
      {"trace", "--export", "csv", "--to", (folder / "tables").string(), h200_trace()});
  EXPECT_EQ(csv.code, 0) << csv.err;
  const auto kernels = read_file(folder / "tables/kernels.csv");
  ASSERT_TRUE(kernels) << kernels.error().to_string();
  EXPECT_THAT(
      *kernels,
      StartsWith(
          "name,short_name,class,grid,block,registers_per_thread,shared_bytes,instances,total_ns,"
          "exclusive_ns,alone_ns\n"
          "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT,nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT,gemm,"
          "4x27x1,384x1x1,168,164308,20,"));
  const Outcome here = run_profline_in(folder.path(), {"trace", "--export", "json", h200_trace()});
  EXPECT_EQ(here.out, "kineto-torch-2.11-h200.report.json\n");
  EXPECT_TRUE(read_file(folder / "kineto-torch-2.11-h200.report.json"));
}

TEST(Trace, ReadsWhatNsysExported) {
  const auto sqlite = profline::testing::shared_dir() / "fixtures/h200/nsys-decode.sqlite";
  if (!std::filesystem::exists(sqlite)) GTEST_SKIP() << "no " << sqlite;
  const Outcome outcome = run_profline({"trace", sqlite.string()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("nsys 2025.3"), HasSubstr("reduce_kernel<NormTwoOps>"),
                                 HasSubstr("120 launches")));
}

TEST(Trace, TakesRulesForClassesOfKernels) {
  const profline::testing::TempDir folder;
  write_files(folder.path(), {{"mine.yaml", "rules: [{class: my_products, contains: [nvjet]}]\n"},
                              {"bad.yaml", "rules: [{class: x, contians: [y]}]\n"}});
  const Outcome mine =
      run_profline({"trace", "--kernel-classes", (folder / "mine.yaml").string(), h200_trace()});
  EXPECT_THAT(mine.out, HasSubstr("  my_products   227 us"));
  const Outcome bad =
      run_profline_in(folder.path(), {"trace", "--kernel-classes", "bad.yaml", h200_trace()});
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(
      bad.err,
      HasSubstr("bad.yaml:1:20: rules.0: unknown key 'contians' (did you mean 'contains'?)"));
}

TEST(Trace, SaysWhatIsWrongWithWhatItIsGiven) {
  const profline::testing::TempDir folder;
  write_files(
      folder.path(),
      {{"empty", ""},
       {"text", "hello\n"},
       {"r.nsys-rep", "x"},
       {"torn.json",
        R"({"traceEvents": [{"ph":"X","cat":"cpu_op","name":"aten::a","pid":1,"tid":1,"ts":1,"dur":1}, {"ph")"}});
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string message;
  };
  const Case cases[] = {
      {{},
       2,
       "no capture given; 'profline trace FILE...' takes Kineto and Chrome traces and SQLite "
       "exports of nsys"},
      {{"absent.json"}, 3, "cannot read absent.json: no such file"},
      {{"empty"}, 2, "empty is empty"},
      {{"text"},
       2,
       "text is neither a Kineto or Chrome trace (.json, .json.gz) nor an SQLite export of nsys"},
      {{"r.nsys-rep"},
       2,
       "r.nsys-rep is a report of nsys: export it first with 'nsys export --type sqlite "
       "r.nsys-rep'"},
      {{"--top", "0", "torn.json"},
       2,
       "--top must be an integer from 1 to 1000000000 or 'all', not '0'"},
      {{"--to", "x", "torn.json"}, 2, "--to says where an export goes: --export is missing"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> arguments = {"trace"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    const Outcome outcome = run_profline_in(folder.path(), arguments);
    EXPECT_EQ(outcome.code, c.code) << c.message;
    EXPECT_EQ(outcome.err, "profline: " + c.message + "\n");
    EXPECT_EQ(outcome.out, "");
  }
  const Outcome torn = run_profline_in(folder.path(), {"trace", "torn.json"});
  EXPECT_EQ(torn.code, 0) << torn.err;
  EXPECT_THAT(
      torn.out,
      HasSubstr(
          "lost  the trace ends at byte 97, inside what begins at byte 92: the rest is missing\n"));
}

}  // namespace
}  // namespace profline::e2e
