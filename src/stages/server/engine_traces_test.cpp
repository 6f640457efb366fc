#include "stages/server/internal/engine_traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "run/names/artifact_names.h"
#include "run/process_traces.h"
#include "testing/captures/timeline_builder.h"
#include "testing/temp_dir.h"

namespace profline::stages::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

/// A worker's trace as libtorch writes it, with so many kernels.
std::string trace_of(int pid, int kernels) {
  const std::string worker = std::to_string(pid);
  const std::string own = R"("ph": "X", "dur": 1, "pid": )" + worker + R"(, "tid": )" + worker;
  std::string events =
      "{" + own + R"(, "cat": "cpu_op", "name": "aten::mm", "ts": 1, "args": {"External id": 1}})";
  for (int i = 0; i < kernels; ++i) {
    const std::string id = std::to_string(i + 1);
    events += ",{" + own + R"(, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": )" + id +
              R"(, "args": {"correlation": )" + id + "}}";
    events +=
        R"(,{"ph": "X", "dur": 1, "pid": 0, "tid": 7, "cat": "kernel", "name": "gemm", "ts": )" +
        id + R"(, "args": {"device": 0, "stream": 7, "correlation": )" + id + "}}";
  }
  return R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}";
}

ServerProcess gpu_process(std::int64_t pid) {
  ServerProcess process;
  process.pid = pid;
  process.gpu = true;
  return process;
}

TEST(EngineTraces, ThoseOfAllWorkersAreCounted) {
  const testing::TempDir folder;
  pipeline::RunSetup setup;
  setup.folder = folder.path();
  const auto kept = setup.stage_folder(run::stages::kTorchProfiler) / run::folders::kEngineTraces;
  ASSERT_TRUE(create_folders(kept));
  ASSERT_TRUE(write_file_atomic(kept / "rank0.pt.trace.json", trace_of(70, 3)));
  ASSERT_TRUE(write_file_atomic(kept / "rank1.pt.trace.json", trace_of(71, 2)));
  ASSERT_TRUE(write_file_atomic(kept / "rank2.pt.trace.json", trace_of(72, 0)));
  ASSERT_TRUE(write_file_atomic(kept / "rank3.pt.trace.json", "torn"));
  testing::TimelineBuilder shown;
  const RowIndex thread = shown.thread(70, 70);
  const std::uint64_t call = shown.call({.start_ns = 10, .end_ns = 20, .thread = thread});
  shown.work({.start_ns = 20, .end_ns = 40, .stream = shown.stream(0, 7), .launch = call});
  const Timeline timeline = shown.build();
  ServerRecord record;
  record.processes = {gpu_process(70)};
  EXPECT_THAT(work_of_engine(setup, record, timeline), ElementsAre(Pair(70, 1)))
      << "no other is needed";
  record.processes.push_back(gpu_process(71));
  EXPECT_THAT(work_of_engine(setup, record, timeline),
              ElementsAre(Pair(70, 3), Pair(71, 2), Pair(72, 0)));
}

}  // namespace
}  // namespace profline::stages::internal
