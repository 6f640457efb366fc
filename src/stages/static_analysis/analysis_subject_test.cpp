#include "stages/static_analysis/analysis_subject.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/files.h"
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

// Seen with crop_mode=false: a grid of one tile is no tile, but was counted beside the page.
TEST(ModuleTrace, ComparesTheViewsThatWereTraced) {
  const testing::TempDir folder;
  AnalysisSubject subject;
  subject.model = official_config();
  subject.dtype = "bf16";
  struct Case {
    int page, tile, columns, rows;
    std::uint64_t sam_flops;  // as libtorch's meta device counts them
  };
  constexpr Case kCases[] = {{640, 640, 1, 1, 325620793344}, {640, 640, 0, 0, 325620793344}};
  for (const Case& c : kCases) {
    const auto file = folder.path() / "static_trace.json";
    ASSERT_TRUE(write_file_atomic(file, trace_of(c.page, c.tile, c.columns, c.rows, c.sam_flops)));
    const auto stages = compare_with_trace(subject, file);
    ASSERT_TRUE(stages) << stages.error().to_string();
    ASSERT_EQ(stages->size(), 1U);
    EXPECT_EQ(stages->front().difference(), 0.0) << c.columns;
  }
}

}  // namespace
}  // namespace profline::stages
