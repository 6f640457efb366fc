#include "workload/profiler/record.h"

#include <filesystem>
#include <stdexcept>

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "formats/json.h"
#include "testing/temp_dir.h"

namespace profline::workload {
namespace {

using profline::testing::TempDir;
using ::testing::Contains;
using ::testing::HasSubstr;

Result<void> some_work() {
  RECORD_USER_SCOPE("prefill");
  const at::Tensor a = at::ones({8, 16});
  const at::Tensor b = at::ones({4, 16});
  at::softmax(at::linear(a, b), -1);
  return {};
}

Node document(const std::filesystem::path& path) {
  const auto text = read_file(path);
  EXPECT_TRUE(text) << text.error().to_string();
  auto parsed = text ? parse_json(*text, path.filename()) : Result<Node>(text.error());
  EXPECT_TRUE(parsed) << parsed.error().to_string();
  return parsed ? std::move(*parsed) : Node::map();
}

const Node* row_named(const Node& document, const char* list, std::string_view name) {
  for (const Node& row : document.find(list)->as_list()) {
    if (row.find("name")->as_string() == name) return &row;
  }
  return nullptr;
}

TEST(TorchProfile, WritesEveryFileThatWasAskedFor) {
  const TempDir folder;
  settings::TorchProfiler settings;
  settings.record_shapes = true;
  settings.profile_memory = true;
  settings.with_stack = true;
  settings.group_by_input_shape = true;
  const auto remarks = write_torch_profile(settings, false, folder.path(), some_work);
  ASSERT_TRUE(remarks) << remarks.error().to_string();
  EXPECT_THAT(*remarks, Contains("activities: cuda is left out, the model runs on the CPU"));
  EXPECT_THAT(*remarks,
              Contains("with_stack: libtorch provides no stacks for a program without Python"));

  const Node operators = document(folder / "operators.json");
  const Node* linear = row_named(operators, "operators", "aten::linear");
  ASSERT_NE(linear, nullptr);
  EXPECT_THAT(linear->find("shapes")->as_string(), HasSubstr("[[8, 16], [4, 16]"));
  EXPECT_EQ(linear->find("calls")->as_int(), 1);
  ASSERT_NE(row_named(operators, "ranges", "prefill"), nullptr);
  const Node memory = document(folder / "memory.json");
  EXPECT_EQ(memory.find("devices")->as_list().front().find("device")->as_string(), "cpu");
  EXPECT_GT(memory.find("devices")->as_list().front().find("allocations")->as_int(), 0);
  const Node trace = document(folder / "trace.json");
  EXPECT_GT(trace.find("traceEvents")->as_list().size(), 5U);
  EXPECT_EQ(document(folder / "kernels.json").find("why_none")->as_string(),
            "the model ran on the CPU");
  EXPECT_TRUE(std::filesystem::exists(folder / "operators.md"));
  EXPECT_TRUE(std::filesystem::exists(folder / "kernels.md"));
}

TEST(TorchProfile, WritesNothingThatWasNotAskedFor) {
  const TempDir folder;
  settings::TorchProfiler settings;
  settings.activities = {settings::Activity::Cpu};
  ASSERT_TRUE(write_torch_profile(settings, false, folder.path(), some_work));
  EXPECT_FALSE(std::filesystem::exists(folder / "memory.json"));
  const Node operators = document(folder / "operators.json");
  const Node* linear = row_named(operators, "operators", "aten::linear");
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(linear->find("shapes"), nullptr);
}

TEST(TorchProfile, OfFailedWorkIsItsError) {
  const TempDir folder;
  const auto failed = write_torch_profile({}, false, folder.path(), []() -> Result<void> {
    return Error(ErrorKind::NotFound, "no page");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().to_string(), "no page");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TorchProfile, OfWorkThatThrowsSaysSo) {
  const TempDir folder;
  const auto failed = write_torch_profile({}, false, folder.path(), []() -> Result<void> {
    throw std::runtime_error("out of memory");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().to_string(), "libtorch failed: out of memory");
  // The profiler is off again.
  EXPECT_TRUE(write_torch_profile({}, false, folder.path(), some_work));
}

}  // namespace
}  // namespace profline::workload
