#include "analysis/static_model/program_model.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "schema/read.h"
#include "testing/paths.h"

namespace profline::static_model {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

/// Models that transformers built on the meta device, with the parameters that it counted.
std::vector<fs::path> recorded_files() {
  std::vector<fs::path> files;
  std::error_code failure;
  const fs::path folder = testing::source_dir() / "tests/fixtures/transformers-configs";
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

RecordedModel recorded(const fs::path& file) {
  const auto text = read_file(file);
  EXPECT_TRUE(text) << text.error().to_string();
  auto line = parse_json(text ? *text : "", file.filename().string());
  EXPECT_TRUE(line) << line.error().to_string();
  for (const char* key : {"kind", "transformers"}) line->as_map().erase(key);
  const auto model = schema::read<RecordedModel>(*line);
  EXPECT_TRUE(model) << model.error().to_string();
  return model ? *model : RecordedModel();
}

RecordedModel recorded_named(std::string_view name) {
  return recorded(testing::source_dir() / "tests/fixtures/transformers-configs" /
                  (std::string(name) + ".json"));
}

TEST(TransformersConfigs, CoverEveryModelType) {
  const std::vector<fs::path> files = recorded_files();
  EXPECT_GE(files.size(), 10U) << "the recorded configurations are missing";
  std::set<std::string> types;
  for (const fs::path& file : files) {
    types.insert(recorded(file).config.find("model_type")->as_string());
  }
  for (const std::string& type : decoder_types()) EXPECT_THAT(types, Contains(type));
}

class TransformersConfig : public ::testing::TestWithParam<fs::path> {};

TEST_P(TransformersConfig, HasTheParametersThatTransformersCounts) {
  const RecordedModel model = recorded(GetParam());
  const auto program = program_model(model);
  ASSERT_TRUE(program) << program.error().to_string();
  EXPECT_EQ(program->check->formula, model.parameters.count);
  EXPECT_TRUE(program->check->agrees()) << program->check->to_text();
  EXPECT_EQ(program->format.bytes * model.parameters.count, model.parameters.bytes);
  const OperatorCost step = decode_cost(program->decoder, program->format, {}, 8, 1).total();
  EXPECT_GT(step.flops, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, TransformersConfig, ::testing::ValuesIn(recorded_files()), [](const auto& file) {
      std::string name = file.param.stem().string();
      std::replace_if(
          name.begin(), name.end(),
          [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

/// The FLOPs of three sequences with 20 tokens of prompt, and of one more token of each, as PyTorch
/// counts them with FlopCounterMode while transformers 5.12 runs the model with eager attention. It
/// also counts the products that make the tables of rotary positions. Experts are left out: it does
/// not count grouped products.
TEST(TransformersFlops, AreThoseThatPyTorchCounts) {
  struct Case {
    std::string_view model;
    std::uint64_t prefill, decode;
  };
  constexpr Case kCases[] = {
      {"gemma2-small", 19'968'320, 1'000'720},  {"gemma3-text-small", 19'968'320, 1'000'720},
      {"gpt2-small", 14'868'480, 744'960},      {"llama-small-tied-bias", 19'968'320, 1'000'720},
      {"llama-small", 19'968'320, 1'000'720},   {"mistral-small", 19'968'320, 1'000'720},
      {"opt-small-plain", 17'387'520, 871'680}, {"opt-small", 10'936'320, 548'352},
      {"phi3-small", 19'968'320, 1'000'720},    {"qwen2-small-window", 31'641'920, 1'578'256},
      {"qwen2-small", 19'968'320, 1'000'720},   {"qwen3-small", 25'313'920, 1'270'304},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.model);
    const auto program = program_model(recorded_named(c.model));
    ASSERT_TRUE(program) << program.error().to_string();
    const Request request{.prompt_tokens = 20,
                          .batch = 3,
                          .attention = AttentionCount::Square,
                          .head = HeadCount::All};
    const Decoder& decoder = program->decoder;
    const auto rotary = [&](std::uint64_t tokens) {
      return decoder.position_rows > 0 ? 0 : decoder.head_dim * tokens;
    };
    EXPECT_EQ(prefill_cost(decoder, program->format, request).total().flops.value() + rotary(20),
              c.prefill);
    EXPECT_EQ(
        decode_cost(decoder, program->format, request, 21, 1).total().flops.value() + rotary(1),
        c.decode);
  }
}

TEST(ProgramModel, ReportsBothCountsIfTheyDiffer) {
  RecordedModel model = recorded_named("gpt2");
  model.parameters.count += 768;
  const auto program = program_model(model);
  ASSERT_TRUE(program) << program.error().to_string();
  EXPECT_FALSE(program->check->agrees());
  EXPECT_EQ(program->check->to_text(),
            "the process counted 124440576 parameters, the closed form 124439808: 768 more");
}

TEST(ProgramModel, AcceptsRouterBiasesAsParameters) {
  RecordedModel model = recorded_named("deepseek-v3");
  model.parameters.count += 58ULL * 256;
  const auto program = program_model(model);
  ASSERT_TRUE(program) << program.error().to_string();
  EXPECT_TRUE(program->check->agrees()) << program->check->to_text();
}

TEST(ProgramModel, KnowsWhatAProcessCountsOfQuantisedWeights) {
  const RecordedModel plain = recorded_named("llama-3.1-8b");
  const std::uint64_t linear = 32ULL * (4096 * (4096 + 2 * 1024) + 4096 * 4096 + 3 * 4096 * 14336);
  const std::uint64_t others = plain.parameters.count - linear;
  struct Case {
    std::string_view name, quantization;
    std::uint64_t counted, scales, bytes;
    double bytes_per_weight;
  };
  const Case cases[] = {
      {"nf4 with its scales", R"({"quant_method": "bitsandbytes", "load_in_4bit": true})",
       others + linear, 0, linear / 2 + linear / 64, 0.5 + 1.0 / 64},
      {"int8", R"({"quant_method": "bitsandbytes", "load_in_8bit": true})", others + linear, 0,
       linear, 1},
      {"fp8 with scales", R"({"quant_method": "fp8", "weight_block_size": [128, 128]})",
       others + linear, linear / 16384, linear + linear / 16384 * 4, 1 + 4.0 / 16384},
      {"buffers", R"({"quant_method": "gptq", "bits": 4, "group_size": 128})", others, 0, 0,
       0.5 + 2.5 / 128},
      {"found by the adapter", R"({"weights": ["float8_e4m3fn"]})", others + linear, 0, linear, 1},
      {"a method that is not known", R"({"quant_method": "torchao"})", others + linear, 0,
       linear / 2, 0.5},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    RecordedModel model = plain;
    model.quantization = parse_json(c.quantization, "quantization").value();
    model.parameters.count = c.counted + c.scales;
    model.parameters.bytes = others * 2 + c.bytes;
    model.parameters.by_dtype = {{"float32", c.scales}};
    const auto program = program_model(model);
    ASSERT_TRUE(program) << program.error().to_string();
    EXPECT_TRUE(program->check->agrees()) << program->check->to_text();
    ASSERT_TRUE(program->format.quantized);
    EXPECT_DOUBLE_EQ(program->format.quantized->bytes_per_weight, c.bytes_per_weight);
  }
}

TEST(ProgramModel, SaysThatTf32WouldBeFaster) {
  RecordedModel model = recorded_named("gpt2");
  model.dtype = "float32";
  EXPECT_THAT(program_model(model)->notes, Contains(HasSubstr("TF32")));
  EXPECT_THAT(program_model(recorded_named("gpt2"))->notes, ::testing::IsEmpty());
}

TEST(ProgramModel, SaysWhatIsNotKnown) {
  RecordedModel model = recorded_named("gpt2");
  model.dtype = "float64";
  EXPECT_THAT(program_model(model).error().to_string(), HasSubstr("no figures for dtype"));
  model = recorded_named("gpt2");
  model.quantization = parse_json(R"({"quant_method": "aqlm"})", "quantization").value();
  model.parameters.bytes *= 2;
  EXPECT_THAT(program_model(model).error().to_string(), HasSubstr("quantised (aqlm)"));
  model.config.find("model_type")->operator=(Node::string("bloom"));
  EXPECT_THAT(program_model(model).error().to_string(),
              HasSubstr("model_type 'bloom' has no closed form; supported: llama"));
}

profline::Request request_of(std::int64_t ns, std::optional<std::int64_t> model) {
  profline::Request request;
  request.ns = ns;
  if (model) request.attributes.emplace("model", Node::integer(*model));
  return request;
}

TEST(MostUsedModel, IsTheOneThatRequestsNameLongest) {
  std::vector<RecordedModel> models(2);
  models[0].id = 0;
  models[0].parameters.count = 10;
  models[1].id = 1;
  models[1].parameters.count = 20;
  const std::vector<profline::Request> named = {request_of(50, 0), request_of(10, 1),
                                                request_of(20, 1)};
  EXPECT_EQ(most_used_model(models, named)->id, 0U);
  EXPECT_TRUE((ModelInstance{0, 0}.is_used_by(named[0])));
  EXPECT_FALSE((ModelInstance{0, 0}.is_used_by(named[1])));
  const std::vector<profline::Request> unnamed = {request_of(50, std::nullopt)};
  EXPECT_EQ(most_used_model(models, unnamed)->id, 1U) << "the largest";
  EXPECT_TRUE((ModelInstance{0, 1}.is_used_by(unnamed[0])));
  EXPECT_EQ(most_used_model({}, named), nullptr);
}

TEST(ModelOfProgram, TakesTheUsersConfigInsteadOfTheRecordedOne) {
  const std::vector<RecordedModel> models = {recorded_named("gpt2")};
  const RecordedModel larger = recorded_named("gpt2-xl");
  const auto given = model_of_program(models, {}, &larger.config);
  ASSERT_TRUE(given) << given.error().to_string();
  EXPECT_EQ(given->decoder.hidden, 1600U);
  EXPECT_THAT(given->floors_withheld(), HasSubstr("the process counted 124439808 parameters"));
  const auto unchecked = model_of_program({}, {}, &larger.config);
  ASSERT_TRUE(unchecked) << unchecked.error().to_string();
  EXPECT_EQ(unchecked->floors_withheld(), "");
  EXPECT_THAT(unchecked->notes, Contains(HasSubstr("could not be checked")));
  const auto nothing = model_of_program({}, {}, nullptr);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().reason(), "no_model");
}

profline::Request shaped(std::uint64_t prompt, std::uint64_t steps, std::uint64_t batch) {
  profline::Request request;
  request.prompt_tokens = prompt;
  request.new_tokens = steps + 1;
  request.batch = batch;
  request.phases.push_back({"prefill", 0, 10, {}});
  request.phases.push_back({"decode", 10, 90, std::vector<std::int64_t>(steps, 1)});
  return request;
}

TEST(ModelOfProgram, IsTheSameInSeveralProcesses) {
  std::vector<RecordedModel> models = {recorded_named("gpt2"), recorded_named("gpt2"),
                                       recorded_named("gpt2-small")};
  for (std::size_t i = 0; i < models.size(); ++i) models[i].pid = static_cast<std::int64_t>(i);
  const auto model = model_of_program(models, {}, nullptr);
  ASSERT_TRUE(model) << model.error().to_string();
  profline::Request request = shaped(8, 3, 1);
  request.attributes.emplace("model", Node::integer(0));
  for (const auto& [pid, is_used] : {std::pair(0, true), std::pair(1, true), std::pair(2, false)}) {
    request.attributes.insert_or_assign("pid", Node::integer(pid));
    EXPECT_EQ(model->is_used_by(request), is_used) << pid;
  }
}

TEST(MostCommonShapes, AreThoseOfMostRequests) {
  std::vector<profline::Request> requests = {shaped(8, 3, 1), shaped(16, 7, 2), shaped(16, 7, 2)};
  requests.push_back(shaped(99, 1, 1));
  requests.back().attributes.emplace("model", Node::integer(5));
  ProgramModel model;
  model.instances = {{0, 0}};
  const auto common = most_common_shapes(requests, model);
  ASSERT_TRUE(common);
  EXPECT_EQ(common->shapes.prompt_tokens, 16U);
  EXPECT_EQ(common->shapes.batch, 2U);
  EXPECT_EQ(common->requests, 2U);
  EXPECT_EQ(common->of, 3U);
  EXPECT_FALSE(most_common_shapes({}, model));
}

TEST(ShapesOf, ARequestNeedOneTokenPerStep) {
  profline::Request assisted = shaped(8, 3, 1);
  EXPECT_TRUE(shapes_of(assisted));
  assisted.new_tokens = 9;
  EXPECT_FALSE(shapes_of(assisted));
}

TEST(ShapesOf, ARequestIncludeItsBatch) {
  profline::Request request;
  EXPECT_FALSE(shapes_of(request));
  request.prompt_tokens = 12;
  request.new_tokens = 5;
  request.batch = 4;
  const auto shapes = shapes_of(request);
  ASSERT_TRUE(shapes);
  EXPECT_EQ(shapes->prompt_tokens, 12U);
  EXPECT_EQ(shapes->new_tokens, 5U);
  EXPECT_EQ(shapes->batch, 4U);
}

TEST(ShapesOf, ARequestIncludeWhatItsCacheHeldAlready) {
  profline::Request request;
  request.prompt_tokens = 12;
  request.new_tokens = 5;
  EXPECT_EQ(shapes_of(request)->cached_tokens, 0U);
  request.attributes["cached_tokens"] = Node::integer(8);
  EXPECT_EQ(shapes_of(request)->cached_tokens, 8U);
  request.attributes["cached_tokens"] = Node::integer(12);
  EXPECT_FALSE(shapes_of(request)) << "nothing would be left to compute";
}

}  // namespace
}  // namespace profline::static_model
