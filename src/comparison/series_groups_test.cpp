#include "comparison/series_groups.h"

#include <gtest/gtest.h>

#include "comparison/testing_measurements.h"

namespace profline::comparison {
namespace {

TEST(Matches, TakesAStarForAnything) {
  struct Case {
    std::string_view pattern, text;
    bool expected;
  };
  constexpr Case kCases[] = {
      {"gemm", "gemm", true},
      {"gemm", "gemm2", false},
      {"gemm*", "gemm2", true},
      {"*mm*", "gemm2", true},
      {"*mm", "gemm2", false},
      {"*", "", true},
      {"", "", true},
      {"", "a", false},
      {"a*b*c", "a1b2b3c", true},
      {"a*b*c", "a1c2b", false},
      {"**", "x", true},
      {"*a*a*a*b", "aaaaaaaaaaaa", false},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(matches(c.pattern, c.text), c.expected) << c.pattern << " " << c.text;
  }
}

TEST(SeriesGroups, JoinByNameAndShapeAndOrderCapturesByTime) {
  RunMeasurements a = measured_run("a", {1, 2});
  RunMeasurements b = measured_run("b", {1, 2});
  add_kernel(a, "short", {1});
  add_kernel(a, "long", {100});
  add_kernel(b, "longest", {1000});
  add_kernel(b, "short", {2});
  add_kernel(b, "short", {3});
  b.series.back().shape = "grid 8,1,1 block 128,1,1";
  const std::vector<RunMeasurements> side_a = {a};
  const std::vector<RunMeasurements> side_b = {b};
  const auto groups = group_series(side_a, side_b);
  std::vector<std::string> names;
  names.reserve(groups.size());
  for (const SeriesGroup& group : groups) {
    names.push_back(group.any().short_name + " " + std::to_string(group.a.size()) +
                    std::to_string(group.b.size()));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"token_ms 11", "longest 01", "long 10", "short 01",
                                             "short 11"}));
}

}  // namespace
}  // namespace profline::comparison
