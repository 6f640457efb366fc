// `profline trace` and `profline kernels top` with traces of many writers: what is read, what is
// rejected, and how kernels, launches and operators are connected.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/yaml.h"
#include "profline_binary.h"
#include "testing/temp_dir.h"
#include "trace_captures.h"

namespace profline::e2e {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Node capture_in(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const Node document = parsed(outcome.out);
  const Node* captures = document.find("captures");
  return captures == nullptr ? Node() : captures->as_list().front();
}

std::vector<std::string> names_in_file(const Node& list) {
  std::vector<std::string> names;
  for (const Node& row : list.as_list()) names.push_back(row.find("name")->as_string());
  return names;
}

// One launch of a CUDA graph with three kernels, one separate kernel, and a Python frame.
constexpr const char* kGraph = R"json({"traceEvents": [
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":9,"args":{"External id":1}},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":10,"dur":3,"args":{"External id":2}},
{"ph":"X","cat":"python_function","name":"model.py(3): forward","pid":1,"tid":1,"ts":0,"dur":40},
{"ph":"X","cat":"python_function","name":"model.py(9): step","pid":1,"tid":1,"ts":0,"dur":50},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":1,"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":20,"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"gemm_a","pid":0,"tid":7,"ts":4,"dur":2,"args":{"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"gemm_a","pid":0,"tid":7,"ts":30,"dur":1,"args":{"stream":7,"correlation":2,"graph node id":11}},
{"ph":"X","cat":"kernel","name":"gemm_b","pid":0,"tid":7,"ts":32,"dur":1,"args":{"stream":7,"correlation":2,"graph node id":12}},
{"ph":"X","cat":"kernel","name":"gemm_b","pid":0,"tid":7,"ts":34,"dur":1,"args":{"stream":7,"correlation":2,"graph node id":13}}]})json";

TEST(TraceFiles, ALaunchOfAGraphIsDistinguishedFromItsKernels) {
  const profline::testing::TempDir folder;
  write_files(folder.path(), {{"t.json", kGraph}});
  const Outcome outcome = run_profline_in(folder.path(), {"trace", "t.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("2 operators, 2 calls, 4 kernels (5.00 us), 0 copies and fills"),
            HasSubstr("  2 launches by the host, 1 of CUDA graphs; 4 kernels ran, 3 in graphs; "
                      "0 copies and fills\n"),
            Not(HasSubstr("kernel launches"))));
  const Node capture =
      capture_in(run_profline_in(folder.path(), {"trace", "t.json", "--format", "json"}));
  EXPECT_EQ(capture.find("launches")->find("calls")->as_int(), 2);
  EXPECT_EQ(capture.find("launches")->find("graph_calls")->as_int(), 1);
  EXPECT_EQ(capture.find("launches")->find("kernels")->as_int(), 4);
  EXPECT_EQ(capture.find("launches")->find("graph_kernels")->as_int(), 3);
}

TEST(TraceFiles, KernelsNameTheOperatorsThatLaunchedThem) {
  const profline::testing::TempDir folder;
  write_files(folder.path(), {{"t.json", kGraph}});
  const Outcome text = run_profline_in(folder.path(), {"trace", "t.json"});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("aten::mm +1  gemm_a\n"), HasSubstr("–            gemm_b\n")));
  const Node capture =
      capture_in(run_profline_in(folder.path(), {"trace", "t.json", "--format", "json"}));
  const Node& launchers = *capture.find("kernels")->as_list().front().find("operators");
  ASSERT_EQ(launchers.as_list().size(), 2U);
  EXPECT_EQ(launchers.as_list()[0].find("name")->as_string(), "aten::mm");
  EXPECT_EQ(launchers.as_list()[0].find("total_ns")->as_int(), 2000);
  EXPECT_TRUE(launchers.as_list()[1].find("name")->is_null());
  const Outcome csv = run_profline_in(folder.path(), {"trace", "t.json", "--export", "csv"});
  EXPECT_EQ(csv.out,
            "t.csv/kernels.csv\nt.csv/kernel_operators.csv\nt.csv/operators.csv\n"
            "t.csv/ranges.csv\n");
  EXPECT_EQ(*read_file(folder / "t.csv/kernel_operators.csv"),
            "name,operator,instances,total_ns,exclusive_ns\ngemm_a,aten::mm,1,2000,2000\n"
            "gemm_a,,1,1000,1000\ngemm_b,,2,2000,2000\n");
  // All kernels of the recorded trace belong to an operator.
  const Outcome h200 = run_profline({"trace", h200_trace()});
  EXPECT_THAT(h200.out,
              HasSubstr("reduction    aten::linalg_vector_norm  reduce_kernel<NormTwoOps>"));
}

TEST(TraceFiles, OperatorsAreSortedByTheColumnAskedFor) {
  const auto operators = [](const std::string& column) {
    const Node capture = capture_in(run_profline(
        {"trace", h200_trace(), "--operators-by", column, "--top", "2", "--format", "json"}));
    return names_in_file(*capture.find("operators"));
  };
  EXPECT_THAT(operators("self"), ElementsAre("aten::mm", "aten::linalg_vector_norm"));
  EXPECT_THAT(operators("gpu_self"), ElementsAre("aten::mm", "aten::linalg_vector_norm"));
  EXPECT_THAT(operators("gpu_total"), ElementsAre("decode", "aten::mm"));
  EXPECT_THAT(operators("calls"), ElementsAre("aten::mm", "aten::norm"));
  const Outcome text = run_profline({"trace", h200_trace(), "--operators-by", "gpu_self"});
  EXPECT_THAT(text.out, HasSubstr("operators  by self time on the GPU\n  GPU self   share"));
  const Outcome wrong = run_profline({"trace", h200_trace(), "--operators-by", "name"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--operators-by"));
}

TEST(TraceFiles, AnExportForPerfettoSaysWhatItLeavesOut) {
  const profline::testing::TempDir folder;
  write_files(folder.path(), {{"t.json", kGraph}});
  const Outcome outcome =
      run_profline_in(folder.path(), {"trace", "t.json", "--export", "perfetto"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "t.perfetto.json\n");
  EXPECT_EQ(outcome.err,
            "profline: t.perfetto.json leaves out what profline does not read: Python frame (2)\n");
  const Outcome quiet =
      run_profline_in(folder.path(), {"trace", "t.json", "--export", "perfetto", "-q"});
  EXPECT_EQ(quiet.err, "");
}

// As in DeepSeek's own traces.
TEST(TraceFiles, DeepEpIsCommunication) {
  const profline::testing::TempDir folder;
  write_files(folder.path(), {{"t.json", R"json([
{"ph":"X","cat":"kernel","name":"void dpsk::ep::internode::combine<false, 8, __nv_bfloat16, 8, 2, 16, 24>(int4*, float*)","pid":0,"tid":7,"ts":1,"dur":40,"args":{"stream":7}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":8,"ts":21,"dur":40,"args":{"stream":8}}])json"}});
  const Node capture =
      capture_in(run_profline_in(folder.path(), {"trace", "t.json", "--format", "json"}));
  const Node& device = capture.find("accounting")->find("devices")->as_list().front();
  EXPECT_EQ(device.find("communication_ns")->as_int(), 40'000);
  EXPECT_EQ(device.find("exposed_communication_ns")->as_int(), 20'000);
}

TEST(TraceFiles, AFileOfWhichNothingIsUsedIsNoSuccess) {
  const profline::testing::TempDir folder;
  write_files(
      folder.path(),
      {{"empty.json", "{\"traceEvents\": []}"},
       {"viztracer.json",
        R"([{"ph":"X","cat":"FEE","name":"f","pid":1,"tid":1,"ts":1,"dur":1},
            {"ph":"X","cat":"FEE","name":"g","pid":1,"tid":1,"ts":2,"dur":1},
            {"ph":"C","name":"memory","pid":1,"ts":3,"args":{"bytes":1}}])"},
       {"numbers.json", "[[1, 2], [3, 4]]"},
       {"mtia.json",
        R"([{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5},
            {"ph":"X","cat":"mtia_ccp_events","name":"fc","pid":2,"tid":1,"ts":1,"dur":5}])"},
       {"et.json", R"({"schema": "1.0.1", "pid": 1, "nodes": [{"name": "aten::mm", "id": 2}]})"},
       {"lines.jsonl", "{\"Type\": 59}\n{\"Type\": 60}\n"}});
  struct Case {
    std::string file, message;
  };
  const Case cases[] = {
      {"empty.json", "empty.json holds nothing that profline can use: it has no events"},
      {"viztracer.json",
       "viztracer.json holds nothing that profline can use: 3 events were skipped (2: category "
       "'FEE', which is not read; 1: counter)"},
      {"numbers.json",
       "numbers.json holds nothing that profline can use: 2 events were skipped (2: no map, so no "
       "event)"},
      {"mtia.json",
       "mtia.json is a trace of MTIA devices, which are not supported: their work is in events (1 "
       "of category 'mtia_ccp_events') that profline does not read"},
      {"et.json",
       "reading et.json: this is an execution trace (PyTorch's ExecutionTraceObserver, schema "
       "1.0.1), which has no times; give the trace that the profiler exported instead"},
      {"lines.jsonl",
       "reading lines.jsonl: these are JSON lines, and the first is not a trace event (it has no "
       "'ph'); if nsys wrote them, use 'nsys export --type sqlite' instead"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = run_profline_in(folder.path(), {"trace", c.file});
    EXPECT_EQ(outcome.code, 2) << c.file;
    EXPECT_EQ(outcome.err, "profline: " + c.message + "\n");
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(TraceFiles, KernelsTopReadsKinetoTraces) {
  const Outcome outcome = run_profline({"kernels", "top", h200_trace(), "--range", "decode"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(
      outcome.out,
      HasSubstr(
          "# Kernels of kineto-torch-2.11-h200.json.gz (Kineto), by time_pct, in range "
          "decode: 6 of 6.\n"
          "# Traces and ncu spell names differently. Each regex finds its kernel in either "
          "spelling,\n"
          "# by the function and what distinguishes its template arguments; close relatives may "
          "match\n"
          "# too.\n"
          "kernels:\n"
          "- name: nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT\n"
          "  regex: ^nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT$\n"
          "  description: 'Kernel #1 - 30.3 % of GPU time, 20 calls'\n"));
  const Outcome json = run_profline({"kernels", "top", h200_trace(), "--format", "json"});
  const Node document = parsed(json.out);
  EXPECT_EQ(document.find("tool")->as_string(), "Kineto");
  std::int64_t total_ns = 0;
  for (const Node& kernel : document.find("kernels")->as_list()) {
    total_ns += kernel.find("total_ns")->as_int();
  }
  EXPECT_EQ(total_ns, 375'541);
}

}  // namespace
}  // namespace profline::e2e
