#include "stages/torch_profiler/internal/traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "run/artifacts.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::stages::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A trace with an operator, the call in it that launches a kernel, and the kernel.
constexpr const char* kTrace = R"({"traceEvents": [
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":10,"dur":20,"args":{"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":12,"dur":5,"args":{"correlation":9,"External id":1}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":20,"dur":30,"args":{"device":0,"stream":7,"correlation":9,"External id":1,"grid":[1,1,1],"block":[32,1,1]}}
]})";

class TorchTraces : public ::testing::Test {
 protected:
  TorchTraces() {
    setup_.folder = folder_.path();
    setup_.settings.pipeline.workload.command = {"python3", "infer.py"};
    setup_.settings.device.kind = settings::Device::Kind::Cuda;
  }
  std::filesystem::path file(const std::string& name) {
    return folder_ / ("torch_profiler/" + name);
  }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(create_folders(file(name).parent_path()));
    ASSERT_TRUE(write_file_atomic(file(name), text));
  }
  Result<void> tables() {
    return write_tables({setup_, tools_}, run::Run::with_record(setup_.folder, {}), run_);
  }
  std::vector<std::string> codes() const {
    std::vector<std::string> codes;
    for (const Finding& finding : run_.findings()) codes.push_back(finding.code);
    return codes;
  }

  testing::TempDir folder_;
  pipeline::RunSetup setup_;
  pipeline::Toolbox tools_;
  testing::FakeProcesses processes_;
  testing::RecordedStageRun run_{processes_};
};

TEST_F(TorchTraces, AreNamedAfterTheirProcess) {
  struct Case {
    std::string_view name;
    std::int64_t pid;
    TraceSource source;
  };
  constexpr Case kCases[] = {{"trace-77.json", 77, TraceSource::Adapter},
                             {"trace-77-2.json", 77, TraceSource::Adapter},
                             {"kineto_5.json", 5, TraceSource::Kineto}};
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const auto trace = trace_named(c.name);
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->pid, c.pid);
    EXPECT_EQ(trace->source, c.source);
  }
  for (const char* name : {"trace.json", "kineto.json", "trace-x.json", "kineto_5-2.json",
                           "trace-77.txt", ".trace-77.json", "kineto_-1.json", "traces.json"}) {
    EXPECT_FALSE(trace_named(name)) << name;
  }
}

TEST_F(TorchTraces, GiveTheTablesOfTheMainOne) {
  write("trace-7.json", kTrace);
  const auto done = tables();
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_THAT(codes(), IsEmpty());
  const auto operators =
      from_document<TorchOperators>(read_file(file("operators.json")).value_or(""), "o");
  ASSERT_TRUE(operators) << operators.error().to_string();
  EXPECT_THAT(operators->operators,
              ElementsAre(TorchOperator{"aten::mm", "", 1, 15'000, 20'000, 30'000, 30'000}));
  EXPECT_THAT(operators->runtime_calls,
              ElementsAre(TorchOperator{"cudaLaunchKernel", "", 1, 5'000, 5'000, 0, 0}));
  EXPECT_THAT(read_file(file("kernels.json")).value_or(""), HasSubstr("\"gemm\""));
  EXPECT_THAT(read_file(file("operators.md")).value_or(""), HasSubstr("| aten::mm | 1 |"));
  EXPECT_TRUE(std::filesystem::exists(file("kernels.md")));
  const auto traces =
      from_document<ProcessTraces>(read_file(file("traces.json")).value_or(""), "t");
  ASSERT_TRUE(traces) << traces.error().to_string();
  ASSERT_EQ(traces->traces.size(), 1U);
  EXPECT_EQ(traces->traces[0].file, "trace.json");
  EXPECT_TRUE(traces->traces[0].main);
  EXPECT_EQ(traces->traces[0].kernels, 1U);
  EXPECT_EQ(traces->traces[0].kernel_ns, 30'000);
}

TEST_F(TorchTraces, AreLedByTheOneWithTheRequests) {
  write("kineto_5.json", std::string(kTrace) + std::string(1000, ' '));
  write("trace-7.json", kTrace);
  write(
      "recorded/python-7-1.jsonl",
      R"({"kind":"gate","gate":"torch","requests":[1],"opened_ns":1,"closed_ns":2,"trace":"trace-7.json"})"
      "\n");
  const auto traces = find_traces(setup_, folder_ / "torch_profiler");
  ASSERT_EQ(traces.size(), 2U);
  EXPECT_EQ(traces[0].pid, 7);
  EXPECT_EQ(traces[0].requests, 1U);
  EXPECT_TRUE(traces[0].main);
  EXPECT_EQ(traces[1].pid, 5);
  EXPECT_FALSE(traces[1].main);
}

TEST_F(TorchTraces, OfTheAdapterReplaceThoseOnDemand) {
  write("kineto_7.json", kTrace);
  write("trace-7.json", kTrace);
  const auto traces = find_traces(setup_, folder_ / "torch_profiler");
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_EQ(traces[0].source, TraceSource::Adapter);
}

TEST_F(TorchTraces, AreNotUsedIfTheyAreTruncated) {
  write("trace-7.json", R"({"traceEvents": [{"ph":"X")");
  write("kineto_5.json", kTrace);
  const auto traces = find_traces(setup_, folder_ / "torch_profiler");
  ASSERT_EQ(traces.size(), 2U);
  EXPECT_EQ(traces[0].pid, 5);
  EXPECT_TRUE(traces[0].main);
  EXPECT_FALSE(traces[1].complete);
}

TEST_F(TorchTraces, AreReportedIfTheyLackOperatorsOrKernels) {
  write("trace-7.json", R"({"traceEvents": []})");
  const auto done = tables();
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_THAT(codes(), ElementsAre("capture_empty", "capture_empty"));
}

TEST_F(TorchTraces, WriteNothingIfThereAreNone) {
  ASSERT_TRUE(create_folders(folder_ / "torch_profiler"));
  ASSERT_TRUE(tables());
  EXPECT_FALSE(std::filesystem::exists(file("traces.json")));
}

}  // namespace
}  // namespace profline::stages::internal
