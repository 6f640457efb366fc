#include "analysis/requests/series.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace profline::requests {
namespace {

Request request(std::string image, int epoch, std::vector<std::int64_t> token_ns) {
  Request made;
  made.phases = {{"preprocess", 0, 1'000'000, {}, true},
                 {"prefill", 1'000'000, 20'000'000, {}},
                 {"prefill/tower", {}, 5'000'000, {}},
                 {"prefill/text", {}, 0, {}}};
  made.ns = 21'000'000;
  made.new_tokens = token_ns.size() + 1;
  if (!token_ns.empty()) {
    std::int64_t sum = 0;
    for (const std::int64_t ns : token_ns) sum += ns;
    made.phases.push_back({"decode", made.ns, sum, std::move(token_ns)});
    made.ns += sum;
  }
  made.attributes = {{"image", Node::string(std::move(image))}, {"epoch", Node::integer(epoch)}};
  return made;
}

const Series* find(const std::vector<Series>& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Series& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

TEST(RequestSeries, HaveOneValueForARequestHoweverManyTokensItHas) {
  const std::vector<Request> requests = {request("a", 0, {2'000'000, 4'000'000}),
                                         request("b", 0, {1'000'000})};
  const auto all = series_of(requests);
  std::vector<std::string> names;
  for (const Series& series : all) names.push_back(series.name);
  EXPECT_EQ(names, (std::vector<std::string>{"request_ms", "prefill_ms", "decode_ms", "token_ms",
                                             "tokens_per_s", "preprocess", "tower"}));
  EXPECT_EQ(find(all, "token_ms")->units, (std::vector<double>{3, 1}));
  EXPECT_EQ(find(all, "tokens_per_s")->units, (std::vector<double>{1000.0 / 3, 1000}));
  EXPECT_EQ(find(all, "tokens_per_s")->unit, "tokens/s");
  EXPECT_EQ(find(all, "tokens_per_s")->better, statistics::Better::Higher);
  EXPECT_EQ(find(all, "request_ms")->units, (std::vector<double>{27, 22}));
  EXPECT_EQ(find(all, "tower")->units, (std::vector<double>{5, 5}));
  EXPECT_TRUE(find(all, "tower")->is_phase);
  EXPECT_FALSE(find(all, "prefill_ms")->is_phase);
  EXPECT_EQ(value_of(*find(all, "token_ms")), 2);
}

TEST(RequestSeries, SayHowTheyDependOnTheNumberOfSteps) {
  const auto all = series_of(std::vector{request("a", 0, {2'000'000, 4'000'000})});
  EXPECT_EQ(find(all, "request_ms")->per_step, PerStep::Sum);
  EXPECT_EQ(find(all, "prefill_ms")->per_step, PerStep::Apart);
  EXPECT_EQ(find(all, "decode_ms")->per_step, PerStep::Sum);
  EXPECT_EQ(find(all, "token_ms")->per_step, PerStep::Each);
  EXPECT_EQ(find(all, "tokens_per_s")->per_step, PerStep::Each);
}

TEST(RequestSeries, AreKnownByHowTheirNamesEnd) {
  EXPECT_TRUE(is_figure("token_ms"));
  EXPECT_TRUE(is_figure("tokens_per_s"));
  EXPECT_TRUE(is_figure(kWallFigure));
  EXPECT_FALSE(is_figure("gemm"));
}

TEST(RequestSeries, LeaveOutWhatHasNoValue) {
  const auto all = series_of(std::vector{request("a", 0, {}), request("b", 0, {7})});
  EXPECT_EQ(find(all, "token_ms")->keys, (std::vector<std::string>{"b\n0\n0"}));
  EXPECT_EQ(find(all, "prefill_ms")->units.size(), 2U);
  EXPECT_EQ(find(all, "text"), nullptr) << "a time of 0 is no value";
  EXPECT_TRUE(series_of({}).empty());
}

std::vector<Request> with_a_slow_first(std::size_t count) {
  std::vector<Request> requests;
  for (std::size_t i = 0; i < count; ++i) {
    requests.push_back(request("page " + std::to_string(i), 0, {2'000'000, 2'000'000}));
  }
  requests.front().phases[1].ns *= 20;
  requests.front().ns += 19 * 20'000'000;
  return requests;
}

TEST(RequestSeries, LeaveOutWhatIsNotSteady) {
  const auto all = series_of(with_a_slow_first(10));
  for (const char* const name : {"request_ms", "prefill_ms"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(find(all, name)->units.size(), 9U);
    EXPECT_EQ(find(all, name)->left_out, (std::vector<std::string>{"page 0\n0\n0"}));
  }
  for (const char* const name : {"token_ms", "decode_ms", "preprocess"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(find(all, name)->units.size(), 10U) << "its prefill says nothing about this";
    EXPECT_TRUE(find(all, name)->left_out.empty());
  }
}

TEST(RequestSeries, CountEveryRequestOfARunThatIsTooShortToTell) {
  const auto all = series_of(with_a_slow_first(4));
  EXPECT_EQ(find(all, "prefill_ms")->units, (std::vector<double>{400, 20, 20, 20}));
  EXPECT_EQ(find(all, "request_ms")->units.size(), 4U);
  EXPECT_TRUE(find(all, "prefill_ms")->left_out.empty());
}

TEST(RequestSeries, CountASlowStepAsAUsualOne) {
  std::vector<Request> requests;
  for (int i = 0; i < 10; ++i) {
    requests.push_back(request(std::to_string(i), 0, std::vector<std::int64_t>(20, 2'000'000)));
  }
  Phase& decode = requests[4].phases.back();
  (*decode.steps_ns)[7] += 100'000'000;
  decode.ns += 100'000'000;
  requests[4].ns += 100'000'000;
  const auto all = series_of(requests);
  EXPECT_EQ(find(all, "token_ms")->units, std::vector<double>(10, 2.0));
  EXPECT_EQ(find(all, "decode_ms")->units, std::vector<double>(10, 40.0));
  EXPECT_EQ(find(all, "request_ms")->units, std::vector<double>(9, 61.0));
}

TEST(RequestSeries, DistinguishRequestsOfOneImage) {
  const auto all =
      series_of(std::vector{request("a", 0, {}), request("a", 0, {}), request("a", 1, {})});
  EXPECT_EQ(find(all, "prefill_ms")->keys,
            (std::vector<std::string>{"a\n0\n0", "a\n0\n1", "a\n1\n0"}));
  Request call;
  call.id = 7;
  call.ns = 5;
  EXPECT_EQ(find(series_of(std::vector{call}), "request_ms")->keys,
            (std::vector<std::string>{"id 7\n0"}));
}

TEST(RequestSeries, CallStepsThatMakeNoTokensSteps) {
  Request solver;
  solver.ns = 6'000'000;
  solver.phases = {{"iterate", 0, 6'000'000, std::vector<std::int64_t>{2'000'000, 4'000'000}}};
  const auto all = series_of(std::vector{solver});
  EXPECT_EQ(find(all, "step_ms")->units, (std::vector<double>{3}));
  EXPECT_EQ(find(all, "steps_per_s")->unit, "steps/s");
  EXPECT_EQ(find(all, "iterate_ms")->units, (std::vector<double>{6}));
}

TEST(RequestSeries, CountTheTokensOfEverySequenceOfABatch) {
  Request batched;
  batched.ns = 8'000'000;
  batched.new_tokens = 3;
  batched.batch = 4;
  batched.phases = {{"decode", 0, 8'000'000, std::vector<std::int64_t>{4'000'000, 4'000'000}}};
  const auto all = series_of(std::vector{batched});
  EXPECT_EQ(find(all, "step_ms")->units, (std::vector<double>{4}));
  EXPECT_EQ(find(all, "steps_per_s")->units, (std::vector<double>{250}));
  EXPECT_EQ(find(all, "tokens_per_s")->units, (std::vector<double>{1000}));
  EXPECT_EQ(find(all, "token_ms"), nullptr);
}

TEST(RequestSeries, ReportWhatAMachineTookForItself) {
  EXPECT_EQ(disturbed_share(std::vector{request("a", 0, {10, 11, 12, 49})}), 0);
  // One step of 100 among nine of 10: 90 of 190 were lost to something else.
  const std::vector<std::int64_t> stalled = {10, 10, 10, 10, 100, 10, 10, 10, 10, 10};
  EXPECT_DOUBLE_EQ(disturbed_share(std::vector{request("a", 0, stalled), request("b", 0, {})}),
                   90.0 / 190);
  EXPECT_EQ(disturbed_share({}), 0);
}

TEST(RequestSeries, KnowTheWallTimeOfAProgram) {
  NodeMap process;
  process.set("wall_ns", Node::integer(2'500'000));
  EXPECT_EQ(wall_ms(Node::map(process)), 2.5);
  process.set("wall_ns", Node::integer(0));
  EXPECT_EQ(wall_ms(Node::map(process)), std::nullopt);
  EXPECT_EQ(wall_ms(Node()), std::nullopt);
}

}  // namespace
}  // namespace profline::requests
