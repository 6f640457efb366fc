#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/requests/series.h"

namespace profline::requests {
namespace {

using ::testing::ElementsAre;

Request answered(std::uint64_t id, std::int64_t ttft_ms, std::vector<std::int64_t> steps_ms) {
  constexpr std::int64_t kMs = 1'000'000;
  Request request;
  request.id = id;
  request.ttft_ns = ttft_ms * kMs;
  request.ns = *request.ttft_ns;
  for (std::int64_t& step : steps_ms) request.ns += step *= kMs;
  request.new_tokens = steps_ms.size() + 1;
  request.phases = {{"first_token", 0, *request.ttft_ns, {}}};
  if (!steps_ms.empty()) {
    request.phases.push_back({"decode", {}, request.ns - *request.ttft_ns, steps_ms});
  }
  return request;
}

LoadRecord load_of(std::uint64_t steady) {
  LoadRecord load;
  load.steady.verdict = "steady";
  load.metrics.e2e.n = steady;
  load.metrics.ttft.p99 = LoadFigure{90, {}, {}};
  load.metrics.output_tokens.per_second = LoadFigure{640, {}, {}};
  return load;
}

std::vector<double> units(const std::vector<Series>& all, std::string_view name) {
  for (const Series& series : all) {
    if (series.name == name) return series.units;
  }
  return {};
}

TEST(LoadSeries, HaveAValuePerSteadyRequest) {
  const std::vector<Request> requests = {answered(0, 500, {9}), answered(1, 40, {8, 8, 20}),
                                         answered(2, 50, {})};
  const std::vector<Series> all = load_series(requests, load_of(2));
  EXPECT_THAT(units(all, "ttft_ms"), ElementsAre(40, 50)) << "the first one is not steady";
  EXPECT_THAT(units(all, "tpot_ms"), ElementsAre(12)) << "one token has no time per further token";
  EXPECT_THAT(units(all, "itl_ms"), ElementsAre(8));
  EXPECT_THAT(units(all, "e2e_ms"), ElementsAre(76, 50));
  EXPECT_THAT(all.front().keys, ElementsAre());
}

TEST(LoadSeries, HaveOneValueForTheWholeLoad) {
  LoadRecord load = load_of(0);
  const std::vector<Series> all = load_series({}, load);
  EXPECT_THAT(units(all, "ttft_p99_ms"), ElementsAre(90));
  EXPECT_THAT(units(all, "output_tokens_per_s"), ElementsAre(640));
  EXPECT_EQ(all.back().better, statistics::Better::Higher);
  EXPECT_EQ(all.size(), 2U) << "nothing for what was not measured";
  load.metrics.goodput = LoadGoodput{0, LoadFigure{}, LoadFigure{}, false};
  EXPECT_EQ(load_series({}, load).size(), 2U) << "no ratio to 0";
}

TEST(LoadSeries, HaveUsualFigures) {
  EXPECT_THAT(usual_figures(std::vector<std::string>{"ttft_ms", "tpot_ms", "itl_ms", "e2e_ms",
                                                     "requests_per_s", "output_tokens_per_s"}),
              ElementsAre("ttft_ms", "tpot_ms", "output_tokens_per_s"));
  EXPECT_THAT(usual_figures(std::vector<std::string>{"ttft_ms", "output_tokens_per_s"}),
              ElementsAre("ttft_ms", "output_tokens_per_s"));
}

TEST(LoadSteadiness, IsThatOfTheRecord) {
  LoadRecord load;
  EXPECT_EQ(steadiness_of(load), statistics::Steadiness::TooShort);
  load.steady.verdict = "drifting";
  EXPECT_EQ(steadiness_of(load), statistics::Steadiness::Drifting);
}

}  // namespace
}  // namespace profline::requests
