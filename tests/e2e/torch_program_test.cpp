// The torch_profiler stage on programs of a real PyTorch: through the Python adapter, and by Kineto
// on demand.

#include <algorithm>

#include <gmock/gmock.h>

#include "base/files.h"
#include "formats/json.h"
#include "profline_binary.h"
#include "records/request.h"
#include "records/torch_tables.h"
#include "run_folder.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class TorchProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    python_ = testing::binary_dir() / "tools/python-sid/usr/bin/python3";
    if (!fs::exists(testing::binary_dir() / "tools/python-sid/complete")) {
      GTEST_SKIP() << "no PyTorch: scripts/fetch_python sid unpacks Debian's";
    }
  }
  Outcome run(const std::string& script, const Words& overrides) {
    write_files(folder_.path(), {{"script.py", script}});
    Words words = {"run", "hydra.run.dir=run", "device=cpu", "pipeline.nsys.enable=false"};
    words.insert(words.end(), overrides.begin(), overrides.end());
    words.insert(words.end(), {"--", "env", "OMP_NUM_THREADS=1", python_.string(), "script.py"});
    return run_profline_in(folder_.path(), words);
  }
  std::string text(const std::string& file) const {
    return read_file(folder_ / "run/torch_profiler" / file).value_or("");
  }
  TorchOperators operators() const {
    const auto table = from_document<TorchOperators>(text("operators.json"), "operators.json");
    EXPECT_TRUE(table) << table.error().to_string();
    return table ? *table : TorchOperators{};
  }

  testing::TempDir folder_;
  fs::path python_;
};

/// Knows nothing of profline.
constexpr const char* kLoop = R"(
import time, torch
x = torch.randn(64, 64)
end = time.monotonic() + 8
while time.monotonic() < end:
    x = torch.tanh(x @ x)
)";

TEST_F(TorchProgram, IsTracedOnDemandWithoutTheAdapter) {
  const Outcome outcome = run(kLoop, {"pipeline.workload.python=off"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const RunRecord record = record_of(folder_ / "run");
  EXPECT_EQ(state_of(record, "torch_profiler"), StageState::Ok) << outcome.err;
  EXPECT_THAT(operators().operators, Contains(Field(&TorchOperator::name, "aten::tanh")));
  EXPECT_THAT(text("traces.json"), HasSubstr("\"source\": \"kineto\""));
  EXPECT_THAT(read_file(folder_ / "run/operators.md").value_or(""), HasSubstr("aten::tanh"));
}

/// Four requests of one prefill and three steps.
constexpr const char* kRequests = R"(
import profline, torch
x = torch.randn(64, 64)
for i in range(4):
    with profline.request():
        with profline.phase("prefill"):
            x = torch.tanh(x @ x)
        with profline.phase("decode"):
            for _ in range(3):
                profline.step()
                x = torch.sigmoid(x @ x)
)";

TEST_F(TorchProgram, HasOneSteadyRequestTracedByTheAdapter) {
  const Outcome outcome = run(kRequests, {"pipeline.torch_profiler.record_shapes=true"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const RunRecord record = record_of(folder_ / "run");
  EXPECT_EQ(state_of(record, "torch_profiler"), StageState::Ok) << outcome.err;
  const TorchOperators table = operators();
  EXPECT_THAT(table.operators, Contains(Field(&TorchOperator::name, "aten::sigmoid")));
  EXPECT_THAT(table.ranges, Contains(Field(&TorchOperator::name, "decode")));
  EXPECT_THAT(text("traces.json"), HasSubstr("\"source\": \"adapter\""));
  const auto requests = parse_requests(text("workload/requests.jsonl"), "requests.jsonl");
  ASSERT_TRUE(requests) << requests.error().to_string();
  ASSERT_EQ(requests->size(), 1U);
  EXPECT_GE(requests->front().id, 1U) << "the first is cold";
  const auto sigmoid =
      std::find_if(table.operators.begin(), table.operators.end(),
                   [](const TorchOperator& row) { return row.name == "aten::sigmoid"; });
  ASSERT_NE(sigmoid, table.operators.end());
  EXPECT_EQ(sigmoid->calls, 3U) << "of one request";
}

/// Requests in one process, and work in another that knows nothing of profline. Both go on until
/// the worker's trace exists, so that the test does not fail on a slow machine.
constexpr const char* kWithAWorker = R"(
import glob, multiprocessing, os, time, torch

def traced():
    return bool(glob.glob(os.path.join(os.environ.get("PROFLINE_TRACE_DIR", "none"), "kineto_*.json")))

def work():
    x = torch.randn(64, 64)
    end = time.monotonic() + (40 if "PROFLINE_TRACE_DIR" in os.environ else 2)
    while time.monotonic() < end and not traced():
        for _ in range(100):
            x = torch.tanh(x @ x)
    time.sleep(1)

if __name__ == "__main__":
    import profline
    worker = multiprocessing.get_context("spawn").Process(target=work)
    worker.start()
    x = torch.randn(64, 64)
    for i in range(4):
        with profline.request():
            with profline.phase("decode"):
                for _ in range(3):
                    profline.step()
                    x = torch.sigmoid(x @ x)
    worker.join()
)";

TEST_F(TorchProgram, HasItsWorkerTracedOnDemand) {
  const Outcome outcome = run(kWithAWorker, {});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(state_of(record_of(folder_ / "run"), "torch_profiler"), StageState::Ok);
  EXPECT_THAT(operators().operators, Contains(Field(&TorchOperator::name, "aten::sigmoid")));
  EXPECT_THAT(text("traces.json"), HasSubstr("\"source\": \"adapter\""));
  EXPECT_THAT(text("traces.json"), HasSubstr("\"source\": \"kineto\""));
  EXPECT_THAT(outcome.err + read_file(folder_ / "run/report.md").value_or(""),
              Not(HasSubstr("never asked for a trace")));
}

}  // namespace
}  // namespace profline::e2e
