#include "session/stored_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/runs/recorded_run.h"
#include "testing/temp_dir.h"

namespace profline::session {
namespace {

namespace fs = std::filesystem;
using run_index::IndexedRun;
using run_index::RunIndex;
using ::testing::ElementsAre;

class StoredRunsTest : public ::testing::Test {
 protected:
  StoredRunsTest() {
    for (int second = 1; second <= 3; ++second) {
      testing::TestRun run = testing::h200_run();
      run.run.id = "r" + std::to_string(second);
      run.run.started = "2026-11-15T10:00:0" + std::to_string(second) + ".000Z";
      run.write(root_ / run.run.id);
    }
  }
  RunIndex index() const {
    RunIndex opened = RunIndex::open(root_.path()).value();
    EXPECT_TRUE(opened.refresh());
    return opened;
  }
  static std::vector<std::string> texts(const Pruned& pruned) {
    std::vector<std::string> texts;
    for (const PruneOutcome& outcome : pruned.outcomes) {
      texts.push_back(outcome.step.run.folder + (outcome.is_gone() ? " gone" : " kept"));
    }
    return texts;
  }

  testing::TempDir root_;
  Interrupt interrupt_;
};

TEST_F(StoredRunsTest, ARunIsFoundByItsNameOrItsFolder) {
  RunIndex runs = index();
  EXPECT_EQ(find_run(runs, "r2").value().id, "r2");
  EXPECT_EQ(find_run(runs, (root_ / "r2/../r1").string()).value().id, "r1");
  const auto missing = find_run(runs, "r22");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(missing.error().to_string(),
            "there is no run 'r22' below " + runs.root().string() + " (did you mean 'r2'?)");
}

IndexedRun run_with(std::initializer_list<const char*> metrics) {
  IndexedRun run;
  for (const char* name : metrics) run.metrics.emplace_back().name = name;
  return run;
}

TEST_F(StoredRunsTest, TheUsualMetricsDependOnWhatEachRunMeasured) {
  const IndexedRun model =
      run_with({"request_ms", "prefill_ms", "decode_ms", "token_ms", "tokens_per_s", "sam"});
  const IndexedRun other =
      run_with({"request_ms", "encode_ms", "denoise_ms", "step_ms", "steps_per_s"});
  const IndexedRun program = run_with({"wall_ms"});
  const IndexedRun without_steps = run_with({"request_ms", "forward_ms"});
  EXPECT_THAT(usual_metrics({program, model, IndexedRun(), model}),
              ElementsAre("prefill_ms", "token_ms", "wall_ms"));
  EXPECT_THAT(usual_metrics({other, without_steps}),
              ElementsAre("encode_ms", "step_ms", "request_ms"));
  EXPECT_TRUE(usual_metrics({}).empty());
}

TEST_F(StoredRunsTest, TheNewestAreKept) {
  fs::create_directory_symlink("r1", root_ / "latest");
  const auto pruned = prune_runs(root_.path(), index().runs().value(), 1, false, interrupt_);
  ASSERT_TRUE(pruned) << pruned.error().to_string();
  EXPECT_THAT(texts(*pruned), ElementsAre("r3 kept", "r2 gone", "r1 gone"));
  EXPECT_GT(pruned->outcomes.back().bytes, 1000U);
  EXPECT_TRUE(pruned->latest_is_gone);
  EXPECT_TRUE(fs::exists(root_ / "r3"));
  EXPECT_FALSE(fs::exists(root_ / "r1"));
}

TEST_F(StoredRunsTest, ADryRunRemovesNothing) {
  const auto pruned = prune_runs(root_.path(), index().runs().value(), 2, true, interrupt_);
  ASSERT_TRUE(pruned) << pruned.error().to_string();
  EXPECT_THAT(texts(*pruned), ElementsAre("r3 kept", "r2 kept", "r1 gone"));
  EXPECT_FALSE(pruned->latest_is_gone);
  EXPECT_TRUE(fs::exists(root_ / "r1"));
}

TEST_F(StoredRunsTest, AnInterruptKeepsThoseWhoseTurnHasNotCome) {
  interrupt_.request();
  const auto pruned = prune_runs(root_.path(), index().runs().value(), 0, false, interrupt_);
  ASSERT_TRUE(pruned) << pruned.error().to_string();
  EXPECT_THAT(texts(*pruned), ElementsAre("r3 kept", "r2 kept", "r1 kept"));
  EXPECT_EQ(pruned->outcomes.front().why_not, "interrupted before its turn");
  EXPECT_TRUE(fs::exists(root_ / "r1"));
}

}  // namespace
}  // namespace profline::session
