// `profline run -- PROGRAM` with the real nsys: which requests of the program it captures, and that
// the program does the same as without it. On a CPU, so captures have ranges and no kernels.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "nsight_tools.h"
#include "profline_binary.h"
#include "records/range_use.h"
#include "records/request.h"
#include "run_folder.h"
#include "testing/paths.h"

namespace profline::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

class ProgramUnderNsys : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    const auto tools = working_nsys(why);
    if (!tools) GTEST_SKIP() << why;
    runner_.emplace(*tools, "nsys");
  }
  /// One of the programs that the recorder's tests run.
  static fs::path program(const std::string& name) {
    return testing::binary_dir() / "tests" / name;
  }

  NsightRun run(const Words& words, Words overrides = {}) {
    runner_->set_program(words);
    overrides.emplace_back("pipeline.torch_profiler.enable=false");
    return runner_->run(overrides, [](const NsightRun& it) { return it.outcome.code == 0; });
  }

  NsightRun run_loop(const Words& overrides);

  std::optional<NsightRunner> runner_;
};

/// `run.2 request/decode x1`.
Words captured(const NsightRun& run) {
  Words found;
  for (const RangeUse& range : ranges_of(run).ranges) {
    std::string path;
    for (const std::string& name : range.around) path += name + "/";
    found.push_back(range.capture + " " + path + range.name + " x" +
                    std::to_string(range.instances));
  }
  return found;
}

void expect_same_output(const NsightRun& run, const std::string& prefix) {
  const auto text = [&](const char* log) { return read_file(run.folder / log).value_or(""); };
  const Words alone = printed(text("baseline/log"), prefix);
  EXPECT_FALSE(alone.empty());
  EXPECT_EQ(printed(text("nsys/workload/log"), prefix), alone);
}

TEST_F(ProgramUnderNsys, IsCapturedInASteadyRequestThatPhasesHMarks) {
  const fs::path own = program("recorder_phases_calls");
  if (!fs::exists(own)) GTEST_SKIP() << "no NVTX headers";
  const NsightRun made = run({own.string(), "two_requests"});
  ASSERT_EQ(made.outcome.code, 0) << made.outcome.err;
  EXPECT_THAT(read_file(made.folder / "nsys/gate.json").value_or(""),
              HasSubstr("request 2 of 2, ranges named request"));
  const NsysRanges ranges = ranges_of(made);
  ASSERT_EQ(ranges.captures.size(), 1U);
  EXPECT_EQ(ranges.captures[0].range, "request@*") << "what opened and closed the capture";
  EXPECT_THAT(captured(made),
              UnorderedElementsAre("run.2 request x1", "run.2 request/prefill x1",
                                   "run.2 request/prefill/attention x1", "run.2 request/decode x1"))
      << "one request, without the first";
  expect_same_output(made, "done");
  EXPECT_EQ(requests_in(made.folder / "baseline").size(), 2U);
  const auto profiled = requests_in(made.folder / "nsys/workload");
  ASSERT_EQ(profiled.size(), 1U) << "the one that was captured";
  EXPECT_EQ(profiled[0].id, 1U);
}

TEST_F(ProgramUnderNsys, IsCapturedInSteadyRequestsThatItsOwnNvtxRangesMark) {
  const fs::path own = program("recorder_nvtx_calls");
  if (!fs::exists(own)) GTEST_SKIP() << "no NVTX headers";
  const NsightRun made =
      run({own.string(), "pairs", "4"}, {"pipeline.workload.request_range=pair"});
  ASSERT_EQ(made.outcome.code, 0) << made.outcome.err;
  EXPECT_THAT(captured(made), ElementsAre("run.2 pair x1", "run.3 pair x1"));
  expect_same_output(made, "done");
  EXPECT_EQ(requests_in(made.folder / "baseline").size(), 4U);
}

/// A torch that was built without CUDA has a stand-in in place of NVTX.
constexpr const char* kTorchWithoutCuda = R"(
class cuda:
    class nvtx:
        class _NVTXStub: pass
        _nvtx = _NVTXStub()
)";
constexpr const char* kMarkedLoop = R"(
import profline, torch
for number in range(4):
    with profline.request(number=number):
        with profline.phase("prefill"):
            total = sum(range(10000))
        with profline.phase("decode"):
            for token in range(3):
                profline.step()
                total += number * sum(range(token))
    print("result", number, total)
)";

NsightRun ProgramUnderNsys::run_loop(const Words& overrides) {
  write_files(runner_->root(), {{"loop.py", kMarkedLoop}, {"torch.py", kTorchWithoutCuda}});
  return run({"python3", "loop.py"}, overrides);
}

TEST_F(ProgramUnderNsys, IsPythonWithTheSameRequestsAndTheirRanges) {
  const NsightRun made = run_loop({});
  ASSERT_EQ(made.outcome.code, 0) << made.outcome.err;
  EXPECT_THAT(captured(made),
              UnorderedElementsAre("run request x4", "run request/prefill x4",
                                   "run request/decode x4", "run request/decode/decode_step x12"));
  expect_same_output(made, "result");
  EXPECT_EQ(requests_in(made.folder / "baseline").size(), 4U);
  EXPECT_EQ(requests_in(made.folder / "nsys/workload").size(), 4U);
}

TEST_F(ProgramUnderNsys, IsPythonWhoseRangesOpenTheGateAndChangeNothing) {
  write_files(runner_->root(), {{"loop.py", kMarkedLoop}, {"torch.py", kTorchWithoutCuda}});
  const NsightRun made = run({"python3", "loop.py"}, {"pipeline.nsys.capture_range=nvtx",
                                                      "pipeline.nsys.nvtx_capture=request@*"});
  ASSERT_EQ(made.outcome.code, 0) << made.outcome.err;
  EXPECT_THAT(captured(made),
              UnorderedElementsAre("run request x1", "run request/prefill x1",
                                   "run request/decode x1", "run request/decode/decode_step x3"));
  expect_same_output(made, "result");
  EXPECT_EQ(requests_in(made.folder / "nsys/workload").size(), 4U);
}

}  // namespace
}  // namespace profline::e2e
