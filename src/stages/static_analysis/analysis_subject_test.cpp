#include "stages/static_analysis/analysis_subject.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "testing/temp_dir.h"

namespace profline::stages {
namespace {

std::string trace_of(int page, int tile, int columns, int rows, std::uint64_t sam_flops) {
  return fmt::format(
      R"({{"schema": "profline.static_trace/1", "input": {{"page_side": {}, "tile_side": {},
      "tile_columns": {}, "tile_rows": {}, "prompt_tokens": 120, "decode_context": 152}},
      "stages": {{"sam": {{"flops": {}, "operators": []}}}}}})",
      page, tile, columns, rows, sam_flops);
}

// A bug with crop_mode=false: a grid of one tile means no tiles, but was counted in addition to the
// page.
TEST(ModuleTrace, ComparesTheViewsThatWereTraced) {
  AnalysisSubject subject;
  subject.model = official_config();
  subject.dtype = "bf16";
  struct Case {
    int page, tile, columns, rows;
    std::uint64_t sam_flops;  // as libtorch's meta device counts them
  };
  constexpr Case kCases[] = {{640, 640, 1, 1, 325620793344}, {640, 640, 0, 0, 325620793344}};
  for (const Case& c : kCases) {
    const std::string text = trace_of(c.page, c.tile, c.columns, c.rows, c.sam_flops);
    run::Artifact<Node> trace{.file = "static_trace.json"};
    trace.content = parse_json(text, trace.file).value();
    const auto stages = compare_with_trace(subject, trace);
    ASSERT_TRUE(stages) << stages.error().to_string();
    ASSERT_EQ(stages->size(), 1U);
    EXPECT_EQ(stages->front().difference(), 0.0) << c.columns;
  }
}

TEST(SubjectOfFile, OfADecoderHasNoPictures) {
  const testing::TempDir folder;
  const auto file = folder / "config.json";
  ASSERT_TRUE(write_file_atomic(
      file, R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64,
               "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
               "num_key_value_heads": 2, "vocab_size": 100, "torch_dtype": "bfloat16"})"));
  RequestShape shape{7, 3, {}};
  const auto subject = subject_of_file(file, shape);
  ASSERT_TRUE(subject) << subject.error().to_string();
  EXPECT_TRUE(subject->views.empty());
  EXPECT_EQ(subject->request.prompt_tokens, 7U);
  EXPECT_EQ(subject->config_from, file.string());
  const auto format = static_model::number_format("bf16");
  const auto result = static_compute_of(*subject, *format, {}, "h200");
  EXPECT_EQ(result.device, "h200");
  EXPECT_EQ(result.shapes_from, "the command line");
  EXPECT_EQ(result.cost.prompt_tokens, 7U);
  EXPECT_EQ(result.cost.new_tokens, 3U);

  shape.views.emplace();
  const auto seeing = subject_of_file(file, shape);
  ASSERT_FALSE(seeing);
  EXPECT_EQ(seeing.error().to_string(), "--views is for models that see images");
}

TEST(StaticComputeOf, KeepsTheNotesOfItsSubject) {
  AnalysisSubject subject;
  subject.model = official_config();
  subject.views = {{}};
  subject.views.front().side = 640;
  subject.request.prompt_tokens = 120;
  subject.request.new_tokens = 2;
  subject.notes = {"estimated"};
  const auto result = static_compute_of(subject, *static_model::number_format("bf16"), {}, "");
  EXPECT_EQ(result.cost.notes.back(), "estimated");
  EXPECT_EQ(result.views.front().side, 640U);
}

}  // namespace
}  // namespace profline::stages
