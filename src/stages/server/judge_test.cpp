#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "run/names/artifact_names.h"
#include "stages/server/internal/session.h"
#include "testing/captures/timeline_builder.h"
#include "testing/pipeline/recorded_stage_run.h"
#include "testing/processes/fake_processes.h"
#include "testing/temp_dir.h"

namespace profline::stages::internal {
namespace {

using pipeline::Severity;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TimelineBuilder;

constexpr const char* kInside = "the window lies inside the load and after the warm-up";
constexpr const char* kFailures = "no request failed because of the profiler";
constexpr const char* kProcesses =
    "every GPU process of the server is in the capture, with kernels";
constexpr const char* kGraphs = "graph launches are resolved to nodes";
constexpr std::int64_t kSecond = 1'000'000'000;

class Judge : public ::testing::Test {
 protected:
  Judge() {
    setup_.folder = folder_.path();
    setup_.cwd = folder_.path();
    record_.stage = run::stages::kNsys;
    record_.load.start_ns = 10 * kSecond;
    record_.load.warm_ns = 12 * kSecond;
    record_.load.end_ns = 30 * kSecond;
    record_.load.finished = 50;
    ServerWindowRecord& window = record_.window.emplace();
    window.asked_s = 2;
    window.open_asked_ns = 15 * kSecond - 1;
    window.open_acknowledged_ns = window.open_ns = 15 * kSecond;
    window.close_asked_ns = window.close_ns = 17 * kSecond;
    window.close_acknowledged_ns = 18 * kSecond;
  }

  void judge() { internal::judge(setup_, record_, run_); }
  void use(TimelineBuilder& builder, const CaptureCounts& counts = {.has_gpu = true}) {
    use_capture(builder.build(), "capture", counts, record_, run_);
  }
  void process(std::int64_t pid, bool gpu, std::optional<bool> traced = true) {
    ServerProcess row;
    row.pid = pid;
    row.name = "worker";
    row.gpu = gpu;
    row.traced = traced;
    record_.processes.push_back(row);
  }
  /// One kernel that a process launched.
  static void kernel(TimelineBuilder& builder, std::int64_t pid, WorkKind kind = WorkKind::Kernel) {
    const RowIndex thread = builder.thread(pid, pid);
    const RowIndex stream = builder.stream(0, 7);
    const std::uint64_t call = builder.call({.start_ns = 10, .end_ns = 20, .thread = thread});
    builder.work({.start_ns = 20, .end_ns = 40, .stream = stream, .launch = call, .kind = kind});
  }
  const ServerProof& proof(const std::string& what) const {
    for (const ServerProof& each : record_.proofs) {
      if (each.what == what) return each;
    }
    static const ServerProof none;
    ADD_FAILURE() << "no proof '" << what << "'";
    return none;
  }
  std::vector<std::string> problems() const {
    std::vector<std::string> codes;
    for (const pipeline::Finding& finding : run_.findings()) {
      if (finding.severity == Severity::Problem) codes.push_back(finding.code);
    }
    return codes;
  }
  void requests(const char* stage) {
    const auto folder = load_folder(setup_, stage);
    ASSERT_TRUE(create_folders(folder));
    ASSERT_TRUE(write_file_atomic(
        folder / "requests.jsonl",
        R"({"id": 0, "source": "client", "start_ns": 11000000000, "ns": 900, "ttft_ns": 500, "phases": []})"
        "\n"));
  }

  testing::TempDir folder_;
  pipeline::RunSetup setup_;
  testing::FakeProcesses processes_;
  testing::RecordedStageRun run_{processes_};
  ServerRecord record_;
};

TEST_F(Judge, AWindowInsideTheLoadPasses) {
  judge();
  EXPECT_EQ(proof(kInside).state, ProofState::Passed);
  EXPECT_EQ(proof(kFailures).state, ProofState::Passed);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(Judge, AWindowOutsideTheLoadIsAProblem) {
  struct Case {
    const char* name;
    std::int64_t open;
    std::int64_t close;
  };
  constexpr std::array kCases{Case{"before it", 9, 14}, Case{"in the warm-up", 11, 14},
                              Case{"after it", 29, 31}};
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.name);
    record_.proofs.clear();
    record_.window->open_ns = each.open * kSecond;
    record_.window->close_ns = each.close * kSecond;
    judge();
    EXPECT_EQ(proof(kInside).state, ProofState::Failed);
  }
  EXPECT_THAT(problems(),
              ElementsAre("window_outside_load", "window_outside_load", "window_outside_load"));
}

TEST_F(Judge, ALoadThatWasNeverWarmHasNoWindowAfterItsWarmUp) {
  record_.load.warm_ns.reset();
  judge();
  EXPECT_EQ(proof(kInside).state, ProofState::Failed);
}

TEST_F(Judge, TheWarmUpOfAnotherGeneratorIsNotKnown) {
  record_.load.command = "hey http://127.0.0.1";
  record_.load.warm_ns.reset();
  judge();
  EXPECT_EQ(proof(kInside).state, ProofState::Unknown);
  EXPECT_EQ(proof(kFailures).state, ProofState::Unknown);
  record_.proofs.clear();
  record_.window->close_ns = 31 * kSecond;
  judge();
  EXPECT_EQ(proof(kInside).state, ProofState::Failed);
}

TEST_F(Judge, FailuresAreTheProfilersOnlyIfThereAreNoneWithoutIt) {
  record_.load.failed = record_.load.failed_from_window_on = 3;
  judge();
  EXPECT_EQ(proof(kFailures).state, ProofState::Unknown) << "nothing to compare with";
  record_.proofs.clear();
  requests("baseline");
  judge();
  EXPECT_EQ(proof(kFailures).state, ProofState::Failed);
  EXPECT_THAT(problems(), ElementsAre("requests_failed"));
  record_.proofs.clear();
  record_.load.failed = 5;  // two of them ahead of the window
  judge();
  EXPECT_EQ(proof(kFailures).state, ProofState::Unknown);
}

TEST_F(Judge, WithoutAWindowEveryFailureIsUnderTheProfiler) {
  record_.window.reset();
  judge();
  EXPECT_THAT(record_.proofs, IsEmpty()) << "another gate did not open";
  setup_.settings.pipeline.workload.server.gate = settings::ServerGate::None;
  judge();
  EXPECT_EQ(proof(kFailures).state, ProofState::Passed);
  EXPECT_EQ(proof(kFailures).text, "50 requests succeeded, 0 failed");
  record_.proofs.clear();
  record_.load.failed = 3;
  judge();
  EXPECT_EQ(proof(kFailures).state, ProofState::Unknown) << "nothing to compare with";
  record_.proofs.clear();
  requests("baseline");
  judge();
  EXPECT_EQ(proof(kFailures).state, ProofState::Failed);
  EXPECT_EQ(proof(kFailures).text, "50 requests succeeded, 3 failed");
  EXPECT_THAT(problems(), ElementsAre("requests_failed"));
}

TEST_F(Judge, ALateEndOfTheWindowIsAWarning) {
  record_.window->close_ns = 20 * kSecond;
  judge();
  ASSERT_EQ(run_.findings().size(), 1U);
  EXPECT_EQ(run_.findings()[0].code, "window_late");
}

TEST_F(Judge, KernelsOfUnknownProcessesProveNothing) {
  TimelineBuilder capture;
  kernel(capture, 7);
  use(capture);
  EXPECT_EQ(proof(kProcesses).state, ProofState::Unknown);
  EXPECT_THAT(proof(kProcesses).text, HasSubstr("1 kernel or copy"));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(Judge, AGpuProcessOutsideTheCaptureIsNamed) {
  process(7, true);
  process(8, true, false);
  TimelineBuilder capture;
  kernel(capture, 7);
  use(capture);
  EXPECT_EQ(proof(kProcesses).state, ProofState::Failed);
  EXPECT_EQ(proof(kProcesses).text, "not in it: worker (pid 8)");
  EXPECT_THAT(problems(), ElementsAre("worker_untraced"));
}

TEST_F(Judge, AGpuProcessWithoutAKernelIsNamed) {
  process(7, true);
  process(8, true);
  TimelineBuilder capture;
  kernel(capture, 7);
  use(capture);
  EXPECT_EQ(proof(kProcesses).text, "without a kernel: worker (pid 8)");
  EXPECT_THAT(problems(), ElementsAre("no_kernels"));
  EXPECT_EQ(record_.processes[0].kernels, 1U);
  EXPECT_EQ(record_.processes[1].kernels, 0U);
}

TEST_F(Judge, EachProcessMayHaveATraceOfItsOwn) {
  process(7, true);
  process(8, true);
  TimelineBuilder capture;  // of the first of them
  kernel(capture, 7);
  use(capture, {.has_gpu = true, .by_process = {{7, 1}, {8, 90}}});
  EXPECT_EQ(proof(kProcesses).state, ProofState::Passed);
  EXPECT_EQ(record_.processes[1].kernels, 90U);
  EXPECT_THAT(problems(), IsEmpty());
  record_.proofs.clear();
  use(capture, {.has_gpu = true, .by_process = {{7, 1}, {8, 0}}});
  EXPECT_EQ(proof(kProcesses).text, "without a kernel: worker (pid 8)");
}

TEST_F(Judge, AProcessWithoutAReadableTraceIsNotKnown) {
  process(7, true);
  process(8, true);
  TimelineBuilder capture;
  kernel(capture, 7);
  use(capture, {.has_gpu = true, .by_process = {{7, 1}}});
  EXPECT_EQ(proof(kProcesses).state, ProofState::Unknown);
  EXPECT_EQ(proof(kProcesses).text, "not known of worker (pid 8): no readable trace of it");
}

TEST_F(Judge, OneOfTheEnginesOwnTracesSaysNothingAboutTheOthers) {
  process(7, true);
  process(8, true);
  TimelineBuilder capture;
  kernel(capture, 7);
  use(capture, {.has_gpu = true, .is_one_of_many = true});
  EXPECT_EQ(proof(kProcesses).state, ProofState::Unknown);
  EXPECT_FALSE(record_.processes[1].kernels);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(Judge, AProcessWithoutAGpuThatIsNotTracedIsAWarning) {
  process(7, false, false);
  TimelineBuilder capture;
  use(capture);
  EXPECT_THAT(problems(), IsEmpty());
  ASSERT_EQ(run_.findings().size(), 1U);
  EXPECT_EQ(run_.findings()[0].code, "worker_untraced");
  EXPECT_EQ(proof(kProcesses).text, "no process of the server had a GPU open");
  EXPECT_EQ(proof(kGraphs).state, ProofState::Unknown);
}

TEST_F(Judge, AGraphThatIsRecordedAsAWholeIsAProblem) {
  process(7, true);
  TimelineBuilder capture;
  kernel(capture, 7, WorkKind::Graph);
  use(capture);
  EXPECT_EQ(proof(kGraphs).state, ProofState::Failed);
  EXPECT_EQ(proof(kGraphs).text, "1 graph was recorded as a whole");
  EXPECT_THAT(problems(), ElementsAre("graphs_not_resolved"));
}

}  // namespace
}  // namespace profline::stages::internal
