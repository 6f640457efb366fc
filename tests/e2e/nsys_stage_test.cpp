// The nsys stage with the real Nsight Systems and the real workload, on a CPU.

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "nsight_tools.h"
#include "records/range_use.h"
#include "records/request.h"
#include "run_folder.h"
#include "started_profline.h"
#include "testing/temp_dir.h"
#include "workload_binary.h"

namespace profline::e2e {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kGate = "pipeline.nsys.capture_range=nvtx";

bool is_ok(const NsightRun& run) {
  return run.outcome.code == 0;
}

class NsysStageRun : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    tools_ = working_nsys(why);
    if (!tools_) GTEST_SKIP() << why;
    runner_.emplace(*tools_, "nsys");
  }
  void need_workload() {
    if (!has_workload() || !workload_has_nvtx()) {
      GTEST_SKIP() << "profline-workload is not built here with nvtx3 headers";
    }
  }
  NsightRun run(std::vector<std::string> overrides,
                const std::function<bool(const NsightRun&)>& is_good = is_ok) {
    overrides.insert(overrides.begin(), "pipeline.nsys.enable=true");
    return runner_->run(overrides, is_good);
  }

  std::optional<NsightTools> tools_;
  std::optional<NsightRunner> runner_;
};

std::vector<const RangeUse*> named(const NsysRanges& ranges, std::string_view capture,
                                   std::string_view name) {
  std::vector<const RangeUse*> found;
  for (const RangeUse& range : ranges.ranges) {
    if (range.capture == capture && range.name == name) found.push_back(&range);
  }
  return found;
}

/// The range covers one image, and is as long as the workload's own clock says.
void expect_measured(const std::vector<const RangeUse*>& ranges, std::int64_t clock_ns) {
  constexpr std::int64_t kLongEnough = 25'000'000;
  constexpr double kTolerance = 0.05;
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0]->instances, 1U);
  EXPECT_GE(clock_ns, kLongEnough);
  const auto off = static_cast<double>(ranges[0]->wall_ns - clock_ns);
  EXPECT_LT(std::abs(off), kTolerance * static_cast<double>(clock_ns))
      << ranges[0]->wall_ns << " ns by nsys, " << clock_ns << " ns by our clock";
}

TEST_F(NsysStageRun, CapturesPrefillAndDecodeOfTheFirstMeasuredImage) {
  ASSERT_NO_FATAL_FAILURE(need_workload());
  if (IsSkipped()) return;
  // A page that is tiled, then a stamp that is not: one runs sam twice, the other once.
  const NsightRun made =
      run({kGate, "pipeline.nsys.nvtx_capture=[prefill,decode]", "pipeline.nsys.samples=2",
           "dataset.pages=2", "dataset.page_sizes=[612x792,96x64]", "infer.max_new_tokens=200",
           "model.preprocess.base_size=512", "model.preprocess.image_size=320"});
  ASSERT_EQ(made.outcome.code, 0) << made.outcome.err;
  const NsysRanges ranges = ranges_of(made);
  ASSERT_EQ(ranges.captures.size(), 2U);
  const std::vector<Request> in_prefill = requests_in(made.folder / "nsys/prefill/workload");
  const std::vector<Request> in_decode = requests_in(made.folder / "nsys/decode/workload");
  ASSERT_EQ(in_prefill.size(), 2U);
  ASSERT_EQ(in_decode.size(), 2U);
  expect_measured(named(ranges, "prefill", "prefill"), in_prefill[0].find_phase("prefill")->ns);
  const auto decode = named(ranges, "decode", "decode");
  expect_measured(decode, in_decode[0].find_phase("decode")->ns);
  EXPECT_EQ(decode.at(0)->tokens, in_decode[0].find_phase("decode")->steps_ns->size());
  EXPECT_THAT(named(ranges, "prefill", "warmup"), IsEmpty());
  const auto sam = named(ranges, "prefill", "sam");
  ASSERT_THAT(sam, ::testing::SizeIs(1));
  EXPECT_EQ(sam[0]->instances, 2U) << "tiles and page: the first image's";
  EXPECT_THAT(named(ranges, "decode", "prefill"), IsEmpty());
  for (const char* file : {"kernels.json", "kernels.md", "prefill/run.nsys-rep",
                           "prefill/run.sqlite", "prefill/cmd.txt", "decode/workload/log"}) {
    EXPECT_TRUE(std::filesystem::exists(made.folder / "nsys" / file)) << file;
  }
}

TEST_F(NsysStageRun, RunsTheRequestsOfTheBaselineWhereTheSamplingBoundsThem) {
  ASSERT_NO_FATAL_FAILURE(need_workload());
  if (IsSkipped()) return;
  const NsightRun made =
      run({kGate, "pipeline.nsys.nvtx_capture=decode", "pipeline.baseline.enable=true",
           "dataset.pages=4", "dataset.sampling.num_samples_per_epoch=3"});
  ASSERT_EQ(made.outcome.code, 0) << made.outcome.err;
  EXPECT_EQ(requests_in(made.folder / "baseline").size(), 3U);
  EXPECT_EQ(requests_in(made.folder / "nsys/workload").size(), 3U);
  EXPECT_THAT(made.stage->limits, IsEmpty());
}

TEST_F(NsysStageRun, ARangeThatRepeatsLeavesACaptureEachTime) {
  ASSERT_NO_FATAL_FAILURE(need_workload());
  if (IsSkipped()) return;
  const NsightRun made =
      run({kGate, "pipeline.nsys.nvtx_capture=decode", "pipeline.nsys.capture_range_end=repeat:2",
           "pipeline.nsys.samples=3", "dataset.pages=3"});
  ASSERT_EQ(made.outcome.code, 0) << made.outcome.err;
  const NsysRanges ranges = ranges_of(made);
  ASSERT_EQ(ranges.captures.size(), 2U);
  EXPECT_EQ(ranges.captures[0].name, "run.1");
  EXPECT_EQ(ranges.captures[1].name, "run.2");
  EXPECT_EQ(named(ranges, "run.1", "decode").size(), 1U);
  EXPECT_EQ(named(ranges, "run.2", "decode").size(), 1U);
  for (const char* file : {"run.1.nsys-rep", "run.1.sqlite", "run.2.nsys-rep", "run.2.sqlite"}) {
    EXPECT_TRUE(std::filesystem::exists(made.folder / "nsys" / file)) << file;
  }
}

TEST_F(NsysStageRun, ARangeThatNeverOpensIsNamedAsTheCause) {
  ASSERT_NO_FATAL_FAILURE(need_workload());
  if (IsSkipped()) return;
  const NsightRun made = run({kGate, "pipeline.nsys.nvtx_capture=decod"}, [](const NsightRun& it) {
    return it.has_finding("range_never_opened");
  });
  EXPECT_EQ(made.outcome.code, 1);
  const Finding* finding = made.finding("range_never_opened");
  ASSERT_NE(finding, nullptr) << made.outcome.err;
  EXPECT_EQ(finding->text,
            "the range 'decod' of pipeline.nsys.nvtx_capture never opened while the workload ran, "
            "so nothing was captured");
  EXPECT_THAT(made.outcome.err, HasSubstr(finding->text));
}

TEST_F(NsysStageRun, ACrashUnderItIsReportedAndTheReportKept) {
  // On a busy machine nsys sometimes leaves no report of a program that ends at once.
  const NsightRun made =
      run({"pipeline.workload.command=[sh,-c,'kill -SEGV $$']"}, [](const NsightRun& it) {
        return it.has_finding("application_killed") &&
               std::filesystem::exists(it.folder / "nsys/run.nsys-rep");
      });
  EXPECT_EQ(made.outcome.code, 1);
  const Finding* finding = made.finding("application_killed");
  ASSERT_NE(finding, nullptr) << made.outcome.err;
  EXPECT_THAT(finding->text, StartsWith("the workload was killed by SIGSEGV under nsys"));
  EXPECT_TRUE(std::filesystem::exists(made.folder / "nsys/run.nsys-rep"));
  EXPECT_TRUE(std::filesystem::exists(made.folder / "nsys/run.sqlite"));
}

/// A program that kills the profiler it runs under, and would itself run for long.
constexpr const char* kKillsNsys =
    "for p in /proc/[0-9]*; do\n"
    "  if tr '\\0' ' ' <$p/cmdline 2>/dev/null | grep -q \"nsys profile .*$PROFLINE_RUN_DIR/\"; "
    "then\n"
    "    kill -KILL ${p#/proc/}\n"
    "  fi\n"
    "done\n"
    "exec sleep 9$$.5\n";

std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

TEST_F(NsysStageRun, WhenNsysIsKilledNothingStaysBehindAndTheCaptureIsKept) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"killer.sh", kKillsNsys}, {"tmp/here", ""}});
  runner_->set("TMPDIR", (folder / "tmp").string());
  const NsightRun made =
      run({"pipeline.workload.command=[sh," + (folder / "killer.sh").string() + "]"},
          [](const NsightRun& it) { return it.has_finding("tool_killed"); });
  EXPECT_EQ(made.outcome.code, 1);
  const Finding* finding = made.finding("tool_killed");
  ASSERT_NE(finding, nullptr) << made.outcome.err;
  EXPECT_THAT(finding->text, StartsWith("capture (nsys) killed by SIGKILL"));
  EXPECT_FALSE(made.has_finding("no_report"));
  for (const char* file : {"run.nsys-rep", "run.sqlite"}) {
    EXPECT_TRUE(std::filesystem::exists(made.folder / "nsys" / file)) << file;
  }
  ASSERT_TRUE(made.stage);
  ASSERT_EQ(made.stage->sessions.size(), 1U);
  EXPECT_THAT(processes_naming(made.stage->sessions[0]), IsEmpty()) << "nsys' agent";
  EXPECT_THAT(processes_of(made.folder), IsEmpty());
  EXPECT_THAT(processes_naming((folder / "killer.sh").string()), IsEmpty());
  // The run's TMPDIR: nsys leaves nothing in hidden places.
  EXPECT_THAT(files_in(folder / "tmp"), Not(Contains(HasSubstr(".qdstrm"))));
}

/// What `plan` prints for a gated capture of a program.
std::string planned(const NsightTools& tools, const std::vector<std::string>& overrides) {
  std::vector<std::string> arguments = {"plan",
                                        "--config-name",
                                        "demo",
                                        "device=cpu",
                                        "pipeline.nsys.enable=true",
                                        "pipeline.workload.command=[/bin/true]",
                                        "pipeline.torch_profiler.enable=false",
                                        "pipeline.static_analysis.enable=false",
                                        kGate,
                                        "pipeline.nsys.nvtx_capture=decode"};
  arguments.insert(arguments.end(), overrides.begin(), overrides.end());
  const Outcome outcome = run_profline(std::move(arguments), tools.environment());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

TEST_F(NsysStageRun, TakesAnotherNameWhereASessionHasItsOwn) {
  const testing::TempDir folder;
  Command base = tools_->environment(false);
  base.cwd = folder.path();
  const auto words = own_command_run(
      "[/bin/true]", {"pipeline.baseline.enable=false", "pipeline.nsys.enable=true"});
  std::vector<std::string> planning = words;
  planning.front() = "plan";
  const Outcome plan = run_profline(planning, base);
  const std::size_t at = plan.out.find("--session-new=");
  ASSERT_NE(at, std::string::npos) << plan.out << plan.err;
  const std::string name = plan.out.substr(at + 14, plan.out.find(' ', at) - at - 14);
  // All in one shell: what a command starts ends with it.
  const std::string script =
      "nsys start --sample=none --cpuctxsw=none --session-new=$0 --output=held || exit 90\n"
      "\"$@\"; code=$?\n"
      "nsys shutdown --session=$0 --kill=sigterm; exit $code";
  base.argv = {"sh", "-c", script, name, profline_program().string()};
  base.argv.insert(base.argv.end(), words.begin(), words.end());
  const Outcome made = run_command(base);
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("nsys has another session of that name"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/nsys/run.nsys-rep"));
}

TEST_F(NsysStageRun, PassesTheRangesEndOnlyWhenItIsSet) {
  const std::string set = planned(*tools_, {});
  EXPECT_THAT(set, HasSubstr(" --capture-range-end=stop --nvtx-capture=decode "));
  for (const char* end : {"pipeline.nsys.capture_range_end=null",
                          "pipeline.nsys.capture_range_end=", "pipeline.nsys.capture_range_end=''",
                          "~pipeline.nsys.capture_range_end"}) {
    SCOPED_TRACE(end);
    const std::string left = planned(*tools_, {end});
    EXPECT_THAT(left, HasSubstr(" --capture-range=nvtx --nvtx-capture=decode "));
    EXPECT_THAT(left, Not(HasSubstr("--capture-range-end")));
  }
}

TEST_F(NsysStageRun, AGateWithoutARangeIsRefusedBeforeAnythingRuns) {
  for (const char* range : {"pipeline.nsys.nvtx_capture=null", "pipeline.nsys.nvtx_capture=' '",
                            "~pipeline.nsys.nvtx_capture"}) {
    SCOPED_TRACE(range);
    const testing::TempDir folder;
    Command base = tools_->environment();
    base.cwd = folder.path();
    const Outcome outcome = run_profline(
        {"run", "--config-name", "demo", "pipeline.nsys.enable=true", kGate, range}, base);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("must name a range such as prefill when capture_range is "
                                       "nvtx; gating_nvtx=false captures everything"));
    EXPECT_THAT(outcome.err, HasSubstr("nvtx_capture"));
    EXPECT_FALSE(std::filesystem::exists(folder / "tmp")) << "no run folder";
  }
}

}  // namespace
}  // namespace profline::e2e
