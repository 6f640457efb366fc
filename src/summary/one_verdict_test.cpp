// Recorded runs with stages removed: what is left may show less of what limits a phase, but never
// something else.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/run.h"
#include "summary/summarise.h"
#include "testing/paths.h"
#include "testing/temp_dir.h"

namespace profline::summary {
namespace {

namespace fs = std::filesystem;

/// The class of each phase without these stages.
std::map<std::string, std::string> classes_of(const fs::path& recorded,
                                              const std::vector<std::string>& without) {
  const testing::TempDir folder;
  fs::copy(recorded, folder.path(), fs::copy_options::recursive);
  for (const std::string& stage : without) fs::remove_all(folder.path() / stage);
  const auto run = run::Run::open(folder.path());
  EXPECT_TRUE(run) << run.error().to_string();
  std::map<std::string, std::string> classes;
  if (!run) return classes;
  for (const PhaseSummary& phase : summarise(*run).phases) classes[phase.name] = phase.kind;
  return classes;
}

int sharpness(const std::string& kind) {
  return kind == "unknown" ? 0 : kind == "mixed" ? 1 : 2;
}

std::string text_of(const std::vector<std::string>& stages) {
  std::string text = "without";
  for (const std::string& stage : stages) text += " " + stage;
  return text;
}

void expect_one_verdict(const fs::path& recorded, const std::vector<std::string>& stages) {
  using Classes = std::map<std::string, std::string>;
  const std::size_t subsets = std::size_t{1} << stages.size();
  std::vector<Classes> classes;
  std::vector<std::string> names;
  for (std::size_t removed = 0; removed < subsets; ++removed) {
    std::vector<std::string> without;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if ((removed >> i & 1U) != 0) without.push_back(stages[i]);
    }
    classes.push_back(classes_of(recorded, without));
    names.push_back(text_of(without));
  }
  for (std::size_t less = 0; less < subsets; ++less) {
    for (std::size_t more = 0; more < subsets; ++more) {
      if ((less & more) != more) continue;  // `less` removes at least what `more` does
      for (const auto& [phase, before] : classes[less]) {
        SCOPED_TRACE(phase + ": " + names[less] + ", then " + names[more]);
        const std::string& after = classes[more][phase];
        EXPECT_LE(sharpness(before), sharpness(after)) << before << ", " << after;
        if (sharpness(before) == 2) {
          EXPECT_EQ(before, after);
        }
      }
    }
  }
}

TEST(OneVerdict, OfARunWithEveryProfiler) {
  const fs::path recorded = testing::source_dir() / "docs/examples/h200";
  EXPECT_EQ(classes_of(recorded, {})["decode"], "launch-bound");
  expect_one_verdict(recorded, {"static_analysis", "torch_profiler", "nsys", "ncu"});
}

TEST(OneVerdict, OfARunOnACpu) {
  expect_one_verdict(testing::source_dir() / "tests/golden/report/cpu-tiny/run",
                     {"static_analysis", "torch_profiler"});
}

}  // namespace
}  // namespace profline::summary
