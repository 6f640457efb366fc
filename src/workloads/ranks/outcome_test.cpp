#include "workloads/ranks/outcome.h"

#include <array>

#include <gtest/gtest.h>

#include "base/files.h"
#include "run/names/artifact_names.h"
#include "testing/temp_dir.h"

namespace profline::ranks {
namespace {

using Records = std::vector<std::optional<RankProcess>>;

RankProcess rank(std::uint32_t number, std::optional<int> code, std::optional<int> signal = {},
                 std::int64_t ended_ns = 100) {
  RankProcess one;
  one.rank = number;
  one.node = "n" + std::to_string(number + 1);
  one.pid = 70 + number;
  one.started_ns = 1;
  one.ended_ns = ended_ns;
  one.code = code;
  one.signal = signal;
  one.end = code ? "exited with code " + std::to_string(*code) : "was killed by SIGKILL";
  return one;
}

RankProcess stopped(std::uint32_t number) {
  RankProcess one = rank(number, {}, 15, 300);
  one.stopped = true;
  return one;
}

RankProcess vanished(std::uint32_t number) {
  RankProcess one = rank(number, {});
  one.ended_ns.reset();
  one.end.clear();
  return one;
}

std::string text_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += finding.code + ": " + finding.text + "\n";
  return text;
}

TEST(RankOutcome, NamesTheRankThatFailedFirstAndNotThoseThatWereEndedAfterIt) {
  RankProcess first = rank(2, 5, {}, 200);
  first.last_words = "out of luck";
  const Records ranks = {rank(0, 1, {}, 250), stopped(1), first, stopped(3)};
  const auto findings = findings_of(ranks, {.succeeded = false}, "/r/baseline");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::Problem);
  EXPECT_EQ(findings[0].text,
            "rank 2 on n3 exited with code 5: out of luck; 3 other ranks ended after it");
  EXPECT_EQ(findings[0].fix, "its output is below /r/baseline/ranks/2");
}

TEST(RankOutcome, SaysNothingOfRanksThatSucceeded) {
  EXPECT_TRUE(findings_of({rank(0, 0), rank(1, 0)}, {}, "/r/baseline").empty());
}

TEST(RankOutcome, KnowsRanksThatDiedWithTheirNode) {
  EXPECT_EQ(text_of(findings_of({rank(0, 0), vanished(1), stopped(2)}, {.succeeded = false}, "/r")),
            "rank_vanished: rank 1 on n2 left no record of its end: it, or its node, was killed\n");
  EXPECT_EQ(
      text_of(findings_of({rank(0, 1), vanished(1), stopped(2)}, {.succeeded = false}, "/r")),
      "rank_failed: rank 0 on n1 exited with code 1; 1 other rank ended after it; rank 1 on n2 "
      "left no record of its end: it, or its node, was killed; which came first is not "
      "known\n");
  EXPECT_EQ(text_of(findings_of({rank(0, 0), std::nullopt}, {.succeeded = false}, "/r")),
            "rank_absent: rank 1 never started, or cannot write to the run's folder\n");
  EXPECT_TRUE(findings_of({std::nullopt, std::nullopt}, {.succeeded = false}, "/r").empty())
      << "the launcher says why";
}

TEST(RankOutcome, NamesARankThatHangs) {
  const LaunchEnd end{.succeeded = false, .was_stopped = true, .progress = {6, 6, 5, 7}};
  EXPECT_EQ(text_of(findings_of({rank(0, 0), rank(1, 0), stopped(2), rank(3, 0)}, end, "/r")),
            "rank_hung: rank 2 on n3 was still running when time was up; 3 other ranks had all "
            "ended\n");
  EXPECT_EQ(text_of(findings_of({stopped(0), stopped(1), vanished(2), stopped(3)}, end, "/r")),
            "rank_behind: rank 2 on n3 got least far: it completed 5 recorded ranges, every other "
            "rank at least 6; the others may have waited for it\n");
  const LaunchEnd level{.succeeded = false, .was_stopped = true, .progress = {6, 6}};
  EXPECT_TRUE(findings_of({stopped(0), stopped(1)}, level, "/r").empty()) << "nobody is behind";
}

TEST(RankOutcome, DoesNotClaimAnOrderThatAProfilerHides) {
  RankProcess captured = rank(0, 5, {}, 900);
  captured.profiled = true;
  EXPECT_EQ(text_of(findings_of({captured, rank(1, 1)}, {.succeeded = false}, "/r")),
            "rank_failed: rank 1 on n2 exited with code 1; rank 0 on n1 exited with code 5 (with "
            "its profiler); which of them failed first is not known, because a profiler ends later "
            "than its program\n");
}

TEST(RankOutcome, DoesNotClaimAnOrderThatClocksOfDifferentMachinesCannotShow) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto on = [](const char* host, RankProcess one) {
    one.host = host;
    return one;
  };
  const std::int64_t begin_ns = 100 * kSecond;
  RankProcess first = on("a", rank(0, 5, {}, begin_ns));
  const RankProcess soon = on("b", rank(1, 1, {}, begin_ns + kSecond / 10));
  const RankProcess later = on("b", rank(2, 1, {}, begin_ns + 5 * kSecond));
  const RankProcess beside = on("a", rank(3, 1, {}, begin_ns + kSecond / 10));
  const Records ranks = {first, soon, later, stopped(4)};
  const auto findings = findings_of(ranks, {.succeeded = false}, "/r");
  EXPECT_EQ(text_of(findings),
            "rank_failed: rank 0 on n1 exited with code 5; rank 1 on n2 exited with code 1; which "
            "of them failed first is not known, because the clocks of their machines may differ; 2 "
            "other ranks ended after them\n");
  EXPECT_EQ(findings[0].fix, "their output is below /r/ranks");
  EXPECT_EQ(text_of(findings_of({first, later}, {.succeeded = false}, "/r")),
            "rank_failed: rank 0 on n1 exited with code 5; 1 other rank ended after it\n")
      << "clocks do not differ by seconds";
  EXPECT_EQ(text_of(findings_of({first, beside}, {.succeeded = false}, "/r")),
            "rank_failed: rank 0 on n1 exited with code 5; 1 other rank ended after it\n")
      << "one machine has one clock";
}

TEST(RankOutcome, CollectsTheRanksOfAllStages) {
  const testing::TempDir folder;
  const auto write = [&](const char* stage, const RankProcess& one) {
    const auto at = rank_folder(folder / stage, one.rank);
    ASSERT_TRUE(create_folders(at));
    ASSERT_TRUE(write_file_atomic(at / run::files::kRank, to_document(one).value()));
  };
  write("baseline", rank(0, 0));
  write("baseline", rank(1, 5));
  RankProcess captured = rank(0, 0);
  captured.pid = 99;
  captured.profiled = true;
  write("nsys", captured);
  write("nsys", rank(1, 0));
  constexpr std::array<std::string_view, 3> kStages = {"baseline", "torch_profiler", "nsys"};
  const settings::Ranks settings{.launcher = settings::RankLauncher::Srun,
                                 .n = 3,
                                 .profile = {settings::RankChoice::Kind::Listed, {0}}};
  const Ranks all = collect(folder.path(), kStages, settings);
  EXPECT_EQ(all.launcher, "srun");
  EXPECT_EQ(all.n, 3U);
  ASSERT_EQ(all.ranks.size(), 2U);
  const RankRecord& lead = all.ranks[0];
  EXPECT_EQ(lead.stages, (std::vector<std::string>{"baseline", "nsys"}));
  EXPECT_TRUE(lead.profiled);
  EXPECT_EQ(lead.pid, 99);
  EXPECT_EQ(lead.why, "");
  ASSERT_EQ(lead.processes.size(), 2U);
  EXPECT_EQ(lead.processes[1].folder, "nsys/ranks/0");
  EXPECT_FALSE(lead.processes[0].profiled);
  const RankRecord& other = all.ranks[1];
  EXPECT_FALSE(other.profiled);
  EXPECT_EQ(other.code, 5) << "of the stage in which it failed";
  EXPECT_EQ(other.why, "exited with code 5");
  EXPECT_EQ(other.pid, 71);
}

}  // namespace
}  // namespace profline::ranks
