#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/static_model/program_model.h"
#include "base/files.h"
#include "formats/json.h"
#include "schema/read.h"
#include "summary/internal/parts.h"
#include "summary/summarise.h"
#include "testing/paths.h"
#include "testing/runs/recorded_run.h"
#include "testing/temp_dir.h"

namespace profline::summary {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr double kBandwidth = 4.8e12;
constexpr double kPeak = 989.5e12;

RecordedModel qwen3() {
  const auto file = testing::source_dir() / "tests/fixtures/transformers-configs/qwen3-0.6b.json";
  Node line = parse_json(read_file(file).value(), file.string()).value();
  for (const char* key : {"kind", "transformers"}) line.as_map().erase(key);
  return schema::read<RecordedModel>(line).value();
}

/// 1 ms of prefill and 500 us for each of four decode steps.
Request request_of(std::uint64_t id, std::uint64_t prompt, std::uint64_t batch) {
  Request request;
  request.id = id;
  request.source = RequestSource::Python;
  request.ns = 3'000'000;
  request.prompt_tokens = prompt;
  request.new_tokens = 5;
  request.batch = batch;
  request.phases = {{"prefill", 0, 1'000'000, {}, {}},
                    {"decode", 1'000'000, 2'000'000, std::vector<std::int64_t>(4, 500'000), {}}};
  return request;
}

/// A user's program on an H200 with requests of different lengths.
struct ProgramCosts {
  explicit ProgramCosts(std::uint64_t batch) {
    run.run.id = "run";
    run.run.device = "cuda:0";
    run.stage("static_analysis").state = StageState::Ok;
    run.stage("baseline").state = StageState::Ok;
    run.baseline = {request_of(0, 100, batch), request_of(1, 300, batch)};
    models.models = {qwen3()};
    const auto model = static_model::program_model(models.models.front());
    decoder = model->decoder;
    format = model->format;
    static_model::StaticCompute compute;
    compute.request = *static_model::shapes_of(run.baseline->front());
    compute.cost = static_model::decoder_cost(decoder, format, compute.request);
    compute.ceilings.bytes_per_second = kBandwidth;
    compute.ceilings.rates = {
        {settings::Cores::Tensor, settings::Precision::Bf16, settings::Accumulation::Fp32, kPeak}};
    run.static_compute = compute;
  }

  RunSummary summary() const {
    const testing::TempDir folder;
    run.write(folder.path());
    EXPECT_TRUE(write_file_atomic(folder / "baseline/models.json", to_document(models).value()));
    const auto opened = run::Run::open(folder.path());
    EXPECT_TRUE(opened) << opened.error().to_string();
    return summarise(*opened);
  }

  testing::TestRun run;
  RecordedModels models;
  static_model::Decoder decoder;
  static_model::NumberFormat format;
};

const PhaseSummary& phase_of(const RunSummary& summary, std::string_view name) {
  for (const PhaseSummary& phase : summary.phases) {
    if (phase.name == name) return phase;
  }
  ADD_FAILURE() << "no phase " << name;
  static const PhaseSummary none;
  return none;
}

TEST(ProgramCosts, AreThoseOfEachRequestsOwnShapes) {
  const ProgramCosts program(2);
  const RunSummary summary = program.summary();
  const PhaseSummary& decode = phase_of(summary, "decode");
  ASSERT_TRUE(decode.cost);
  EXPECT_EQ(decode.cost->shapes, "each request's own");
  EXPECT_EQ(decode.cost->source, "static_analysis/static_compute.json, baseline/models.json");
  // A step reads all weights once (the head shares the embedding's) and, of each of two sequences,
  // the cache of 28 layers of 8 heads of 128: contexts 101 to 104, and 301 to 304.
  const double a_token = 28.0 * 2 * 8 * 128 * 2;
  const double bytes = 2.0 * 596'049'920 + 2 * a_token * ((102.5 + 302.5) / 2 + 1);
  EXPECT_NEAR(decode.cost->bytes, bytes, 1);
  EXPECT_NEAR(decode.cost->memory_ns.value(), bytes / kBandwidth * 1e9, 0.01);
  EXPECT_NEAR(decode.cost->bandwidth.value(), bytes / kBandwidth * 1e9 / 500'000, 1e-6);
  EXPECT_EQ(decode.unit, "step") << "a step of a batch makes several tokens";
  const PhaseSummary& prefill = phase_of(summary, "prefill");
  ASSERT_TRUE(prefill.cost);
  const auto flops = [&](std::uint64_t prompt) {
    return static_model::prefill_cost(program.decoder, program.format,
                                      {.prompt_tokens = prompt, .batch = 2})
        .total()
        .flops.as_double();
  };
  EXPECT_DOUBLE_EQ(prefill.cost->flops, (flops(100) + flops(300)) / 2);
  EXPECT_NEAR(prefill.cost->mfu.value(), prefill.cost->flops / kPeak / 1e-3, 1e-6);
}

TEST(ProgramCosts, CountTheTokensOfASearchOnce) {
  ProgramCosts program(4);
  for (Request& request : *program.run.baseline) {
    request.attributes = {{"mode", Node::string("beam_search")}, {"beams", Node::integer(4)}};
  }
  const RunSummary summary = program.summary();
  EXPECT_DOUBLE_EQ(summary.request->tokens_per_second.value(), 2000);
  EXPECT_EQ(phase_of(summary, "decode").unit, "step");
  EXPECT_THAT(summary.notes, Contains("beam search, 4 beams: 1 token per step on average"));
}

TEST(ProgramCosts, CountTheTokensOfTheWholeBatch) {
  EXPECT_DOUBLE_EQ(ProgramCosts(1).summary().request->tokens_per_second.value(), 2000);
  EXPECT_DOUBLE_EQ(ProgramCosts(4).summary().request->tokens_per_second.value(), 8000);
  EXPECT_EQ(phase_of(ProgramCosts(1).summary(), "decode").unit, "token");
}

TEST(ProgramCosts, AreWithheldIfTheParametersDiffer) {
  ProgramCosts program(1);
  ++program.models.models.front().parameters.count;
  const PhaseSummary decode = phase_of(program.summary(), "decode");
  EXPECT_FALSE(decode.cost);
  EXPECT_THAT(decode.lacks, Contains(HasSubstr("the process counted 596049921 parameters")));
}

TEST(ProgramCosts, LeaveOutRequestsWhoseStepsAreNotOneTokenEach) {
  ProgramCosts program(1);
  program.run.baseline->back().new_tokens = 9;
  const PhaseSummary decode = phase_of(program.summary(), "decode");
  ASSERT_TRUE(decode.cost);
  EXPECT_EQ(decode.cost->shapes, "each request's own: 1 of 2 requests");
  program.run.baseline->front().new_tokens = 9;
  EXPECT_FALSE(phase_of(program.summary(), "decode").cost);
}

TEST(ProgramCosts, DoNotTakeStepsForTokens) {
  ProgramCosts program(1);
  for (Request& request : *program.run.baseline) request.new_tokens.reset();
  const RunSummary summary = program.summary();
  EXPECT_FALSE(summary.request->tokens_per_second);
  EXPECT_FALSE(summary.request->new_tokens);
  const PhaseSummary& decode = phase_of(summary, "decode");
  EXPECT_EQ(decode.unit, "step");
  EXPECT_FALSE(decode.cost);
}

TEST(ProgramCosts, NoteThePromptTokensThatWereCached) {
  ProgramCosts program(1);
  EXPECT_THAT(program.summary().notes, Not(Contains(HasSubstr("cached"))));
  program.run.baseline->back().attributes["cached_tokens"] = Node::integer(256);
  EXPECT_THAT(program.summary().notes,
              Contains("1 of 2 requests reused cached prompt tokens, 256 on average: the floor of "
                       "prefill counts only the tokens that it computed"));
  program.run.baseline->front().attributes["cached_tokens"] = Node::integer(64);
  EXPECT_THAT(program.summary().notes,
              Contains(StartsWith("2 of 2 requests reused cached prompt tokens, 160 on average")));
}

/// The operations of a decode step in a recorded run of the built-in model, as if its requests had
/// been computed in such a batch.
double decode_flops(std::uint64_t batch) {
  const testing::TempDir folder;
  std::filesystem::copy(testing::source_dir() / "docs/examples/h200", folder.path(),
                        std::filesystem::copy_options::recursive);
  const auto recorded = run::Run::open(folder.path());
  EXPECT_TRUE(recorded) << recorded.error().to_string();
  std::string lines;
  for (Request request : *recorded->baseline()) {
    request.batch = batch;
    lines += to_json_line(request) + "\n";
  }
  EXPECT_TRUE(write_file_atomic(folder / "baseline/requests.jsonl", lines));
  const auto batched = run::Run::open(folder.path());
  EXPECT_TRUE(batched) << batched.error().to_string();
  const RunSummary summary = summarise(*batched);
  const PhaseSummary& decode = phase_of(summary, "decode");
  EXPECT_TRUE(decode.cost);
  if (!decode.cost) return 0;
  EXPECT_EQ(decode.cost->shapes, "each image's own");
  return decode.cost->flops;
}

TEST(BuiltInCosts, AreThoseOfTheWholeBatch) {
  const double one = decode_flops(1);
  EXPECT_NEAR(decode_flops(4), 4 * one, 1e-9 * one);
}

Node list_of(const std::vector<std::uint64_t>& counts) {
  Node list = Node::list();
  for (const std::uint64_t count : counts) {
    list.as_list().push_back(Node::integer(static_cast<std::int64_t>(count)));
  }
  return list;
}

/// The recorded run of the built-in model with only these requests.
RunSummary summary_of(const std::vector<Request>& requests) {
  const testing::TempDir folder;
  std::filesystem::copy(testing::source_dir() / "docs/examples/h200", folder.path(),
                        std::filesystem::copy_options::recursive);
  std::string lines;
  for (const Request& request : requests) lines += to_json_line(request) + "\n";
  EXPECT_TRUE(write_file_atomic(folder / "baseline/requests.jsonl", lines));
  const auto run = run::Run::open(folder.path());
  EXPECT_TRUE(run) << run.error().to_string();
  return summarise(*run);
}

TEST(BuiltInCosts, OfImagesGeneratedTogetherAreTheWorkOfEachWithTheWeightsReadOnce) {
  const auto recorded = run::Run::open(testing::source_dir() / "docs/examples/h200");
  ASSERT_TRUE(recorded) << recorded.error().to_string();
  Request longer = recorded->baseline()->front();
  longer.attributes.erase(kOneTimeAttribute);
  ASSERT_GT(longer.new_tokens.value(), 20U);
  Request shorter = longer;
  shorter.id += 1;
  shorter.new_tokens = 11;
  Phase& decode = shorter.phases.back();
  ASSERT_EQ(decode.path, "decode");
  decode.steps_ns->resize(10);
  Request both = longer;
  both.batch = 2;
  both.attributes.erase(kImageAttribute);
  both.attributes[kImagesAttribute] =
      Node::list({Node::string(longer.text("image")), Node::string(longer.text("image"))});
  both.attributes[kPromptTokensEachAttribute] =
      list_of({*longer.prompt_tokens, *longer.prompt_tokens});
  both.attributes[kNewTokensEachAttribute] = list_of({*longer.new_tokens, 11});

  const auto all = [](const RunSummary& summary, const char* phase, double units) {
    const auto& cost = phase_of(summary, phase).cost;
    EXPECT_TRUE(cost) << phase;
    return cost ? std::pair(cost->flops * units, cost->bytes * units) : std::pair(0.0, 0.0);
  };
  const RunSummary of_longer = summary_of({longer});
  const RunSummary of_shorter = summary_of({shorter});
  const RunSummary of_both = summary_of({both});
  const auto steps = static_cast<double>(*longer.new_tokens - 1);
  const auto [flops_longer, bytes_longer] = all(of_longer, "decode", steps);
  const auto [flops_shorter, bytes_shorter] = all(of_shorter, "decode", 10);
  const auto [flops_both, bytes_both] = all(of_both, "decode", steps);
  EXPECT_NEAR(flops_both, flops_longer + flops_shorter, 1e-9 * flops_both);
  EXPECT_LT(bytes_both, bytes_longer + bytes_shorter);
  EXPECT_GT(bytes_both, bytes_longer);
  for (const char* phase : {"sam", "clip", "projector", "lm"}) {
    SCOPED_TRACE(phase);
    const auto [flops_one, bytes_one] = all(of_longer, phase, 1);
    const auto [flops, bytes] = all(of_both, phase, 1);
    EXPECT_NEAR(flops, 2 * flops_one, 1e-9 * flops);
    EXPECT_GE(bytes, bytes_one);
    EXPECT_LT(bytes, 2 * bytes_one);
  }
  ASSERT_TRUE(of_both.request);
  EXPECT_EQ(of_both.request->unit, "batch");
  EXPECT_EQ(phase_of(of_both, "decode").unit, "step");
  // Two sequences made tokens in the first ten steps, one in the others.
  const auto rate = [](const RunSummary& summary) { return summary.request->tokens_per_second; };
  ASSERT_TRUE(rate(of_both) && rate(of_longer));
  EXPECT_NEAR(*rate(of_both) / *rate(of_longer), (steps + 10) / steps, 1e-6);
}

TEST(ProgramCosts, SayWhyStaticAnalysisWasSkipped) {
  ProgramCosts program(1);
  program.run.static_compute.reset();
  StageRecord& stage = program.run.stage("static_analysis");
  stage.state = StageState::Skipped;
  stage.findings = {{Severity::Problem, "no_model", "no model was recorded in the program"}};
  EXPECT_THAT(phase_of(program.summary(), "decode").lacks,
              Contains("floor and utilisation: no model was recorded in the program"));
}

}  // namespace
}  // namespace profline::summary
