// `profline kernels`: from nsys reports to what to profile next.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "profline_binary.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string h200_export() {
  return (testing::source_dir() / "tests/golden/nsys/2025.3-decode/input.sqlite").string();
}

constexpr const char* kSummary =
    "Time (%),Total Time (ns),Instances,Avg (ns),Name\n"
    "10.0,100,5,20.0,copy\n"
    "90.0,900,3,300.0,\"void gemm<float, 128>(float const*)\"\n";

std::vector<std::string> names_in(const Node& document) {
  std::vector<std::string> names;
  for (const Node& kernel : document.find("kernels")->as_list()) {
    names.push_back(kernel.find("name")->as_string());
  }
  return names;
}

TEST(KernelsTop, WritesYamlFromAnSqliteExport) {
  const Outcome outcome = run_profline({"kernels", "top", h200_export(), "--topk", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "# Kernels of input.sqlite (nsys 2025.3.2.0), by time_pct: 2 of 6.\n"
            "# Each regex matches one name exactly. To catch relatives of a kernel, replace what\n"
            "# differs between them, such as template arguments, by '.*'.\n"
            "kernels:\n"
            "- name: nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT\n"
            "  regex: ^nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT$\n"
            "  description: 'Kernel #1 - 30.7 % of GPU time, 20 calls'\n"
            "- name: nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT\n"
            "  regex: ^nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT$\n"
            "  description: 'Kernel #2 - 30.2 % of GPU time, 20 calls'\n");
  EXPECT_EQ(outcome.err,
            "profline: incomplete: Not all NVTX events might have been collected.\n"
            "profline: incomplete: Not all CUDA events might have been collected.\n");
}

TEST(KernelsTop, ReadsACsvSummaryAndEscapesNames) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"k.csv", kSummary}});
  const Outcome outcome =
      run_profline_in(folder.path(), {"kernels", "top", "k.csv", "-o", "k.yaml"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const auto document = parse_yaml(*read_file(folder / "k.yaml"), "k.yaml");
  ASSERT_TRUE(document) << document.error().to_string();
  EXPECT_THAT(names_in(*document), ElementsAre("void gemm<float, 128>(float const*)", "copy"));
  const Node& first = document->find("kernels")->as_list()[0];
  EXPECT_EQ(first.find("regex")->as_string(), "^void gemm<float, 128>\\(float const\\*\\)$");
  EXPECT_EQ(first.find("description")->as_string(), "Kernel #1 - 90.0 % of GPU time, 3 calls");
}

TEST(KernelsTop, SpeaksJsonAndFiltersByRange) {
  const Outcome outcome = run_profline(
      {"kernels", "top", h200_export(), "--range", "decode", "--format", "json", "-q"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto document = parse_json(outcome.out, "kernels");
  ASSERT_TRUE(document) << document.error().to_string();
  EXPECT_EQ(document->find("schema")->as_string(), "profline.kernels_top/1");
  EXPECT_EQ(document->find("kernels_in_report")->as_int(), 6);
  std::int64_t total_ns = 0;
  for (const Node& kernel : document->find("kernels")->as_list()) {
    total_ns += kernel.find("total_ns")->as_int();
  }
  EXPECT_EQ(total_ns, 376832);
}

TEST(KernelsTop, SaysWhatIsWrongWithWhatItWasGiven) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"k.csv", kSummary}, {"no.csv", "a,b\n1,2\n"}, {"r.nsys-rep", "x"}});
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string error;
  };
  const Case cases[] = {
      {{"kernels"},
       2,
       "profline: 'kernels' needs a subcommand; 'profline kernels --help' lists the commands\n"},
      {{"kernles", "top", "k.csv"},
       2,
       "profline: unknown command 'kernles' (did you mean 'kernels'?); 'profline --help' lists "
       "the commands\n"},
      {{"kernels", "topp", "k.csv"},
       2,
       "profline: unknown command 'kernels topp' (did you mean 'kernels top'?); 'profline --help' "
       "lists the commands\n"},
      {{"kernels", "top", "k.csv", "--merge"},
       2,
       "profline: the command 'kernels top' takes no option '--merge'; 'profline kernels top "
       "--help' lists its options\n"},
      {{"kernels", "top"},
       2,
       "profline: 'kernels top' takes one report, as in 'profline kernels top run.sqlite'"},
      {{"kernels", "top", "k.csv", "--topk", "-1"},
       2,
       "profline: --topk must be an integer from 1 to 1000000000, not '-1'\n"},
      {{"kernels", "top", "k.csv", "--range", "decode"},
       2,
       "profline: --range needs an SQLite export, a .nsys-rep or a Kineto trace: a CSV summary "
       "does not say in which range a kernel was launched\n"},
      {{"kernels", "top", "none.sqlite"}, 3, "profline: cannot read none.sqlite: no such file\n"},
      {{"kernels", "top", "no.csv"}, 2, "profline: no.csv: no header of a kernel summary"},
      {{"kernels", "top", "r.nsys-rep", "--nsys", "/no/nsys"},
       3,
       "profline: r.nsys-rep can only be read with nsys, and cannot run '/no/nsys'"},
      {{"kernels", "top", h200_export(), "--range", "nothing", "-q"},
       2,
       "no kernels in ranges named 'nothing'\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.error);
    const Outcome outcome = run_profline_in(folder.path(), c.arguments);
    EXPECT_EQ(outcome.code, c.code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(c.error));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(KernelsProfile, ListsEveryClockControlThatNcuHas) {
  const Outcome help = run_profline({"kernels", "profile", "--help"});
  EXPECT_THAT(help.out,
              ::testing::ContainsRegex(
                  "left to[ \n]+ncu][ \n]+[(]base,[ \n]+boost,[ \n]+none,[ \n]+reset[)]"));
  const Outcome refused = run_profline(
      {"kernels", "profile", "--kernel-regex", "k", "--clock-control", "fast", "--", "/bin/true"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, ::testing::StartsWith(
                               "profline: --clock-control: fast not in {base,boost,none,reset}"));
}

TEST(KernelsTop, WarnsWhenThereAreFewerThanAskedFor) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"k.csv", kSummary}});
  const Outcome outcome = run_profline_in(
      folder.path(), {"kernels", "top", "k.csv", "--topk", "9", "--sort-by", "time_ns"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "profline: --topk asks for 9 kernels, the report has 2\n");
}

TEST(KernelsProfile, RefusesWhatContradictsItself) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"mine.yaml", "ncu_cli:\n  kernel_name_base: function\n"}});
  struct Case {
    std::vector<std::string> options;
    std::string_view err;
  };
  const Case cases[] = {
      {{"--roofline", "--no-roofline"},
       "profline: --roofline and --no-roofline exclude each other\n"},
      {{"--ncu-config", "mine.yaml"},
       "profline: mine.yaml:2:21: kernel_name_base: must be demangled or null, because "
       "--kernel-config and --kernel-regex are compared with demangled names\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.err);
    std::vector<std::string> words = {"kernels", "profile", "--kernel-regex", "gemm"};
    words.insert(words.end(), c.options.begin(), c.options.end());
    words.insert(words.end(), {"--", "/bin/true"});
    const Outcome outcome = run_profline_in(folder.path(), words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err, c.err);
  }
}

}  // namespace
}  // namespace profline::e2e
