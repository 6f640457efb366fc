#include "analysis/kernels/name_regex.h"

#include <map>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "analysis/kernels/testing_launches.h"

namespace profline::kernels {
namespace {

TEST(NameRegex, MatchesExactlyOneName) {
  EXPECT_EQ(exact_regex("void gemm<float, 128>(float const*)"),
            "^void gemm<float, 128>\\(float const\\*\\)$");
}

TEST(NameRegex, IsExactWhereAllToolsSpellTheNameAlike) {
  EXPECT_EQ(spelling_regex("nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT"),
            "^nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT$");
}

TEST(NameRegex, FindsTheKernelInTheSpellingOfEachTool) {
  const auto launches = real_launches();
  ASSERT_TRUE(launches) << launches.error().to_string();
  std::set<std::string> seen;
  for (const RealLaunch& launch : *launches) {
    if (!seen.insert(launch.kineto).second) continue;
    const std::string text = spelling_regex(launch.kineto);
    const std::regex regex(text);
    EXPECT_TRUE(std::regex_search(launch.kineto, regex)) << text << "\n" << launch.kineto;
    EXPECT_TRUE(std::regex_search(launch.ncu, regex)) << text << "\n" << launch.ncu;
    EXPECT_TRUE(std::regex_search(launch.full, regex)) << text << "\n" << launch.full;
  }
  EXPECT_GT(seen.size(), 100U);
}

// What is found beside the kernel itself are relatives that differ in what tools spell apart, or in
// how often they name a type.
TEST(NameRegex, FindsFewOtherKernels) {
  const auto launches = real_launches();
  ASSERT_TRUE(launches) << launches.error().to_string();
  std::map<std::string, const RealLaunch*> kernels;
  for (const RealLaunch& launch : *launches) kernels.emplace(launch.kineto, &launch);
  std::size_t others = 0;
  for (const auto& [name, launch] : kernels) {
    const std::regex regex(spelling_regex(name));
    for (const auto& [other_name, other] : kernels) {
      // Without the function's name in it nothing is found.
      if (other_name == name || other->function != launch->function) continue;
      if (std::regex_search(other->full, regex)) ++others;
    }
  }
  EXPECT_LE(others, kernels.size() / 4) << "of " << kernels.size() << " kernels";
}

}  // namespace
}  // namespace profline::kernels
