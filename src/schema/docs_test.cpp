#include "schema/docs.h"

#include <gtest/gtest.h>

#include "schema/internal/example_for_tests.h"

namespace profline::schema {
namespace {

TEST(Describe, FlattensTheTreeWithTypesAndDefaults) {
  std::string rows;
  for (const FieldDoc& doc : describe<example::Pipeline>("pipeline")) {
    rows += doc.path + " | " + doc.type + " | " + doc.default_text + '\n';
  }
  EXPECT_EQ(rows,
            R"(pipeline.torch_profiler | map | 
pipeline.torch_profiler.enable | one of true, false, auto | true
pipeline.torch_profiler.enabled | one of true, false, auto | true
pipeline.torch_profiler.activities | list of (one of cpu, cuda) | [cpu, cuda]
pipeline.torch_profiler.extra | map from name to map | {}
pipeline.torch_profiler.extra.<name>.max_images | integer from 1 to 512 | 16
pipeline.torch_profiler.extra.<name>.save_dir | path | viz
pipeline.nsys | map | 
pipeline.nsys.enable | one of true, false, auto | false
pipeline.nsys.trace | list of string or ','-separated string | [cuda, nvtx, osrt]
pipeline.nsys.capture_range | one of none, nvtx, cudaProfilerApi, hotkey | none
pipeline.nsys.nvtx_capture | string or list of string or null | [prefill]
pipeline.nsys.gating_nvtx | boolean | true
pipeline.nsys.samples | integer >= 1 or null | 1
pipeline.nsys.timeout | whole number of seconds >= 1 or null | null
pipeline.ncu | map | 
pipeline.ncu.enable | one of true, false, auto | false
pipeline.ncu.ncu_cli | map | 
pipeline.ncu.ncu_cli.set | string | roofline
pipeline.ncu.ncu_cli.nvtx | map | 
pipeline.ncu.ncu_cli.nvtx.include | list of string or ';'-separated string or null | null
pipeline.ncu.ncu_cli.metrics | list of string or ','-separated string or null | null
pipeline.ncu.ncu_cli.sections | list of string | [SpeedOfLight, Occupancy]
pipeline.ncu.ncu_cli.launch_count | integer >= 1 or null | null
pipeline.ncu.max_launches | integer >= 1 or null | 2000
pipeline.keep_going | boolean | true
)");
}

struct Leaf {
  int size = 1;
};
constexpr auto fields(std::type_identity<Leaf>) {
  return field_list(field("size", &Leaf::size, "x"),
                    field("width", &Leaf::size, "x").deprecated("use 'size'"));
}

struct Branch {
  std::vector<Branch> branches;
  Leaf special{.size = 2};
  std::optional<Leaf> absent;
  std::optional<Leaf> present = Leaf{.size = 3};
};
constexpr auto fields(std::type_identity<Branch>) {
  return field_list(field("branches", &Branch::branches, "x"),
                    field("special", &Branch::special, "x"), field("absent", &Branch::absent, "x"),
                    field("present", &Branch::present, "x"));
}

TEST(Describe, TakesDefaultsFromTheStructAroundAndStopsAtItself) {
  std::vector<std::string> rows;
  for (const FieldDoc& doc : describe<Branch>()) rows.push_back(doc.path + ' ' + doc.default_text);
  EXPECT_EQ(rows, (std::vector<std::string>{"branches []", "special ", "special.size 2",
                                            "special.width 2", "absent null", "absent.size 1",
                                            "absent.width 1", "present {size: 3, width: 3}",
                                            "present.size 3", "present.width 3"}));
}

TEST(ReferenceTable, IsATableWithItsCellsEscaped) {
  EXPECT_EQ(reference_table(describe<example::Infer>()), R"(| key | type | default | meaning |
|---|---|---|---|
| `max_new_tokens` | integer > 0 | required | tokens to generate |
| `temperature` | number >= 0 | `0.0` | of sampling |
| `top_p` | number > 0 and \<= 1 or null | `null` | nucleus of sampling |
| `prompt` | string | `"<image>\n<\|grounding\|>Convert."` | with \`\<image>\` where the page goes |
)");
}

TEST(ReferenceTable, KeepsBackticksUnderscoresAndLinesFromBreakingTheTable) {
  const std::vector<FieldDoc> docs = {{.path = "a|b",
                                       .type = "x_y _z_",
                                       .default_text = "``c`",
                                       .help = "two\nlines *and* [x](y) \\",
                                       .deprecated = "use `d`"}};
  EXPECT_EQ(reference_table(docs), R"(| key | type | default | meaning |
|---|---|---|---|
| `a\|b` | x_y \_z\_ | ``` ``c` ``` | two lines \*and\* \[x\](y) \\ (deprecated: use \`d\`) |
)");
}

TEST(ReferenceTable, MayHaveAnotherColumnAfterTheKey) {
  const ReferenceColumn flags = {
      .title = "flag", .cell = [](const FieldDoc& doc) { return "`--" + doc.path + '`'; }};
  EXPECT_EQ(reference_table(describe<example::NcuNvtx>(), flags),
            R"(| key | flag | type | default | meaning |
|---|---|---|---|---|
| `include` | `--include` | list of string or ';'-separated string or null | `null` | only kernels in these ranges |
)");
}

TEST(Describe, ShowsUnits) {
  EXPECT_EQ(describe<example::Config>().at(1).type, "integer from 64 to 4096 in px");
}

}  // namespace
}  // namespace profline::schema
