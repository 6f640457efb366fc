// `profline analyze`: the cost of a model before anything runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "profline_binary.h"
#include "testing/temp_dir.h"

namespace profline::e2e {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLlama =
    R"({"model_type": "llama", "vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336,
 "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
 "max_position_embeddings": 131072, "torch_dtype": "bfloat16"})";

Node analysed(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"analyze", "--format", "json"});
  const Outcome outcome = run_profline_in(folder, std::move(arguments));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  auto document = parse_json(outcome.out, "analyze");
  EXPECT_TRUE(document) << document.error().to_string();
  return document ? std::move(*document) : Node();
}

TEST(Analyze, HasTheReleaseFromTheConfigurationAlone) {
  const testing::TempDir folder;
  const Node result =
      analysed(folder.path(), {"model/deepseek_ocr/arch@model=deepseek_ocr.random",
                               "infer.max_new_tokens=64", "--device", "NVIDIA H200"});
  ASSERT_TRUE(result.is_map());
  EXPECT_EQ(result.find("schema")->as_string(), "profline.static_compute/1");
  EXPECT_EQ(result.find_path("parameters.total")->as_int(), 3'336'106'240);
  EXPECT_EQ(result.find_path("request.prompt_tokens")->as_int(), 703)
      << "a square page: 2 x 2 tiles";
  EXPECT_EQ(result.find_path("stages.decode.weight_bytes")->as_int(), 1'148'254'720);
  EXPECT_EQ(result.find_path("device.bytes_per_second")->as_float(), 4.8e12);
  EXPECT_TRUE(result.find_path("total.floor_ns")->is_float());
}

TEST(Analyze, TakesTheShapesOfTheFirstPictureWhenAsked) {
  const testing::TempDir folder;
  const Node result =
      analysed(folder.path(),
               {"--config-name", "demo", "pipeline.static_analysis.use_synthetic_inputs=false"});
  ASSERT_TRUE(result.is_map());
  EXPECT_EQ(result.find_path("request.shapes_from")->as_string(), "page-0001");
  EXPECT_EQ(result.find_path("parameters.total")->as_int(), 466'464);
  EXPECT_EQ(result.find_path("request.views.0.views")->as_int(), 6);
}

TEST(Analyze, HasADecoderFromItsConfigAlone) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"config.json", kLlama}});
  const Node result =
      analysed(folder.path(), {"--model-config", "config.json", "--prompt", "1024", "--new", "128",
                               "--device", "h100 80gb hbm3", "--output-dir", "out/deep"});
  ASSERT_TRUE(result.is_map());
  EXPECT_EQ(result.find_path("parameters.total")->as_int(), 8'030'261'248);
  EXPECT_EQ(result.find_path("device.name")->as_string(), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(result.find_path("kv_cache_bytes")->as_int(), 131'072 * 1024);
  const auto written = read_file(folder.path() / "out/deep/static_compute.json");
  ASSERT_TRUE(written);
  EXPECT_EQ(*parse_json(*written, "file"), result);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "out/deep/static_compute.md"));
}

TEST(Analyze, HasNoFloorForADeviceItDoesNotKnow) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"config.json", kLlama}});
  const Outcome outcome =
      run_profline_in(folder.path(), {"analyze", "--model-config", "config.json", "--prompt", "10",
                                      "--new", "2", "--device", "NVIDIA H900"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("NVIDIA H900 is not in the table, so there are no floors\n"));
  EXPECT_THAT(outcome.out, HasSubstr("floor –"));
}

TEST(Analyze, CountsQuantisedWeightsAsTheyAreStored) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"config.json", R"({"model_type": "gpt2", "vocab_size": 100,
    "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 32, "torch_dtype": "float16",
    "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": -1}})"}});
  const std::vector<std::string> arguments = {
      "analyze", "--model-config", "config.json", "--prompt", "10", "--new", "2"};
  const Outcome stored = run_profline_in(folder.path(), arguments);
  ASSERT_EQ(stored.code, 0) << stored.err;
  // 98 304 weights of half a byte; 10 240 other parameters of two bytes.
  EXPECT_THAT(stored.out, HasSubstr("parameters  108 544, 69 632 bytes in 4-bit and fp16\n"));
  std::vector<std::string> plain = arguments;
  plain.insert(plain.end(), {"--dtype", "bf16"});
  const Outcome counted = run_profline_in(folder.path(), plain);
  EXPECT_THAT(counted.out, HasSubstr("parameters  108 544, 217 088 bytes in bf16\n"));
  EXPECT_THAT(counted.out, HasSubstr("note: the checkpoint is quantised (gptq), but all weights"));
}

TEST(Analyze, LetsTheEnvironmentWin) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"config.json", kLlama}});
  Command command;
  command.cwd = folder.path();
  command.env = {{"MFU_PEAK_TFLOPS", "100"}, {"MEM_BANDWIDTH_GBS", "1000"}};
  const Outcome outcome =
      run_profline({"analyze", "--model-config", "config.json", "--prompt", "10", "--new", "2",
                    "--device", "NVIDIA H200", "--format", "json"},
                   command);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto result = parse_json(outcome.out, "analyze");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->find_path("device.operations_per_second")->as_float(), 100e12);
  EXPECT_EQ(result->find_path("device.bytes_per_second")->as_float(), 1e12);
}

TEST(Analyze, SaysWhatIsWrong) {
  const testing::TempDir folder;
  write_files(folder.path(), {{"config.json", kLlama}, {"bert.json", R"({"model_type": "bert"})"}});
  struct Case {
    std::string_view name;
    std::vector<std::string> arguments;
    int code;
    std::string_view message;
  };
  const Case cases[] = {
      {"no weights",
       {},
       3,
       "two presets need no weights: model/deepseek_ocr/arch@model=deepseek_ocr.random and "
       "deepseek_ocr.tiny\n"},
      {"no file",
       {"--model-config", "none.json", "--prompt", "1", "--new", "1"},
       3,
       "profline: cannot read none.json: no such file\n"},
      {"another model",
       {"--model-config", "bert.json", "--prompt", "1", "--new", "1"},
       2,
       "profline: bert.json:1:16: model_type 'bert' has no closed form; supported: llama, "
       "mistral, mixtral, qwen2, qwen3, qwen3_moe, gemma2, gemma3_text, phi3, deepseek_v2, "
       "deepseek_v3, gpt2, opt, gemma3\n"},
      {"no prompt",
       {"--model-config", "config.json"},
       2,
       "profline: --model-config needs --prompt and --new: how many tokens go in and come out\n"},
      {"no number",
       {"--model-config", "config.json", "--prompt", "many", "--new", "1"},
       2,
       "profline: --prompt must be an integer from 1 to 1073741824, not 'many'\n"},
      {"pictures for a decoder",
       {"--model-config", "config.json", "--prompt", "1", "--new", "1", "--views", "1024"},
       2,
       "profline: --views is for models that see images\n"},
      {"overrides",
       {"--model-config", "config.json", "--prompt", "1", "--new", "1", "device=cpu"},
       2,
       "profline: --model-config takes no overrides, but got 'device=cpu'\n"},
      {"another workload",
       {"--config-name", "dummy"},
       2,
       "profline: static analysis has closed forms for pipeline.workload.kind=deepseek_ocr only\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<std::string> arguments = c.arguments;
    arguments.insert(arguments.begin(), "analyze");
    const Outcome outcome = run_profline_in(folder.path(), arguments);
    EXPECT_EQ(outcome.code, c.code);
    EXPECT_THAT(outcome.err, HasSubstr(c.message));
    EXPECT_EQ(outcome.out, "");
  }
}

}  // namespace
}  // namespace profline::e2e
