#include "comparison/internal/differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comparison/testing_measurements.h"
#include "formats/json.h"

namespace profline::comparison {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RunMeasurements run_with(const std::string& config, const std::string& environment,
                         const std::string& inputs) {
  RunMeasurements run;
  run.run.id = "r";
  run.config = parse_json(config, "config").value();
  run.environment = parse_json(environment, "env").value();
  if (!inputs.empty()) run.inputs = parse_json(inputs, "inputs").value();
  return run;
}

TEST(Differences, NameKeysWithBothValues) {
  const RunMeasurements a =
      run_with(R"({"model":{"dtype":"bf16"},"n":1})", R"({"driver":"r550","cpu":{"mhz":2000}})",
               R"({"images":[{"image":"p1","sha256":"x"},{"image":"p2","sha256":"y"}]})");
  const RunMeasurements b =
      run_with(R"({"model":{"dtype":"fp16"},"m":2})",
               R"({"driver":"r560","cpu":{"mhz":3000},"gpus":[{"sm_mhz":5,"name":"H200"}]})",
               R"({"images":[{"image":"p1","sha256":"x"},{"image":"p3","sha256":"z"}]})");
  const Differences found = differences_between(a, b);
  EXPECT_THAT(found.config,
              ElementsAre(Difference{"model.dtype", "bf16", "fp16"},
                          Difference{"n", "1", std::nullopt}, Difference{"m", std::nullopt, "2"}));
  EXPECT_THAT(found.environment, ElementsAre(Difference{"driver", "r550", "r560"},
                                             Difference{"gpus.0.name", std::nullopt, "H200"}))
      << "clocks at the start are no difference";
  EXPECT_THAT(found.inputs, ElementsAre(Difference{"p2", "y", std::nullopt},
                                        Difference{"p3", std::nullopt, "z"}));
  EXPECT_EQ(found.same_inputs, false);
}

TEST(Differences, OfTheSameRunAreNone) {
  const RunMeasurements run = run_with("{}", "{}", R"({"files":[{"path":"a","sha256":"x"}]})");
  EXPECT_EQ(differences_between(run, run), (Differences{{}, {}, {}, true}));
  EXPECT_THAT(disagreements(std::vector{run, run}), IsEmpty());
}

TEST(Differences, DoNotKnowInputsThatNobodyWroteDown) {
  const RunMeasurements run = run_with("{}", "{}", "");
  EXPECT_EQ(differences_between(run, run).same_inputs, std::nullopt);
}

RunMeasurements load_with(const std::string& load, double tokens = 32) {
  RunMeasurements run = run_with(R"({"pipeline":{"workload":{"load":)" + load + "}}}", "{}", "");
  run.is_load = true;
  run.load_tokens = tokens;
  run.run.state = "ok";
  return run;
}

TEST(Differences, OfLoadsInPromptsAreOtherInputs) {
  const RunMeasurements a = load_with(R"({"prompts":{"input_tokens":512},"seed":0})");
  const RunMeasurements b = load_with(R"({"prompts":{"input_tokens":64},"seed":0})");
  EXPECT_EQ(differences_between(a, a).same_inputs, true);
  const Differences found = differences_between(a, b);
  EXPECT_EQ(found.same_inputs, false);
  EXPECT_THAT(found.inputs,
              ElementsAre(Difference{"pipeline.workload.load.prompts.input_tokens", "512", "64"}));
}

TEST(Differences, OfLoadsInRateAndSlosAreNoted) {
  const std::vector a = {load_with(R"({"arrival":{"rate":4},"slo":{"ttft_ms":200}})")};
  const std::vector b = {load_with(R"({"arrival":{"rate":8},"slo":{"ttft_ms":100}})", 64)};
  std::vector<std::string> notes = notes_of(a, b, differences_between(a.front(), b.front()));
  EXPECT_THAT(
      notes,
      ElementsAre(" is on both sides",
                  "the sides were under different loads (arrival.rate: 4 and 8), so a change may "
                  "come from the load",
                  "the sides have different SLOs (slo.ttft_ms: 200 and 100), so their "
                  "goodput cannot be compared",
                  "the sides generated 32.0 and 64.0 tokens per request: e2e_ms is not for the "
                  "same work"))
      << "and nothing about inputs that were not recorded";
}

}  // namespace
}  // namespace profline::comparison
