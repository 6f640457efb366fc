#include "workloads/program/python_record.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "testing/paths.h"

namespace profline::program {
namespace {

using ::testing::ElementsAre;

std::string corpus(const std::string& name) {
  const auto text =
      read_file(profline::testing::source_dir() / "tests/corpus/python_record" / name);
  EXPECT_TRUE(text) << text.error().to_string();
  return text ? *text : std::string();
}

TEST(PythonRecord, HoldsWhatTheAdapterWrote) {
  const PythonRecord record = parse_python_record(corpus("whole"), "python-7-1.jsonl");
  EXPECT_THAT(record.skipped, ElementsAre());
  EXPECT_EQ(record.pid, 7);
  EXPECT_EQ(record.python, "3.12.3");
  EXPECT_EQ(record.torch, "2.11.0");
  EXPECT_EQ(record.transformers, std::nullopt);
  ASSERT_EQ(record.requests.size(), 1U);
  const PlacedRequest& placed = record.requests.front();
  EXPECT_EQ(placed.pid, 7);
  EXPECT_EQ(placed.model, 0U);
  EXPECT_EQ(placed.request.source, RequestSource::Python);
  EXPECT_EQ(placed.request.new_tokens, 3U);
  ASSERT_EQ(placed.request.phases.size(), 3U);
  EXPECT_EQ(placed.request.phases.back().steps_ns, (std::vector<std::int64_t>{14, 16}));
  EXPECT_EQ(placed.request.text("mode"), "greedy_search");
  ASSERT_EQ(record.models.size(), 1U);
  EXPECT_EQ(record.models.front().name, "Qwen3ForCausalLM");
  EXPECT_EQ(record.models.front().pid, 7);
  EXPECT_EQ(record.models.front().parameters.by_dtype.at("bfloat16"), 10U);
  EXPECT_EQ(record.models.front().config.find("hidden_size")->as_int(), 64);
  EXPECT_THAT(record.marks, ElementsAre(Mark{"graph_capture", 110, 3, 7}));
  EXPECT_THAT(record.gates, ElementsAre(Gate{"cuda", {1}, 1, 2, std::nullopt}));
  EXPECT_THAT(record.problems, ElementsAre("torch could not be patched"));
}

TEST(PythonRecord, SkipsAndReportsLinesItCannotRead) {
  const PythonRecord torn = parse_python_record(corpus("torn"), "f");
  EXPECT_EQ(torn.models.size(), 1U);
  ASSERT_EQ(torn.skipped.size(), 1U);
  EXPECT_TRUE(torn.skipped.front().starts_with("f:3: ")) << torn.skipped.front();
  const PythonRecord wrong = parse_python_record(corpus("wrong"), "f");
  EXPECT_TRUE(wrong.requests.empty());
  EXPECT_EQ(wrong.skipped.size(), 7U);
  EXPECT_EQ(wrong.skipped.front(), "f:1: is not an object");
  EXPECT_EQ(wrong.skipped[1], "f:2: has no known kind: ''");
}

TEST(PythonRecord, IgnoresKeysOfAnotherVersion) {
  const PythonRecord record =
      parse_python_record(R"({"kind":"request","start_ns":1,"ns":2,"phases":[],"new_key":3})"
                          "\n"
                          R"({"kind":"mark","name":"gc","at_ns":1,"generation":2})",
                          "f");
  EXPECT_THAT(record.skipped, ElementsAre());
  EXPECT_EQ(record.requests.size(), 1U);
  EXPECT_THAT(record.marks, ElementsAre(Mark{"gc", 1, 0, 0}));
}

}  // namespace
}  // namespace profline::program
