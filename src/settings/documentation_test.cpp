#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/strings.h"
#include "formats/yaml.h"
#include "schema/docs.h"
#include "settings/nsight.h"
#include "settings/reference.h"
#include "testing/paths.h"

namespace profline::settings {
namespace {

/// With PROFLINE_UPDATE_GOLDEN=1 the file is written instead.
void expect_page(const std::string& path, const std::string& text) {
  const auto file = profline::testing::source_dir() / path;
  const char* update = std::getenv("PROFLINE_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    const auto written = write_file_atomic(file, text);
    ASSERT_TRUE(written) << written.error().to_string();
  }
  const auto present = read_file(file);
  ASSERT_TRUE(present) << present.error().to_string();
  EXPECT_TRUE(*present == text)
      << path << " is not what the field lists say: run this test with PROFLINE_UPDATE_GOLDEN=1";
}

Node shipped_file(const std::string& path) {
  const auto text = read_file(profline::testing::source_dir() / "conf" / path);
  auto tree = text ? parse_yaml(*text, path) : text.error();
  EXPECT_TRUE(tree) << tree.error().to_string();
  return tree ? *std::move(tree) : Node::map();
}

/// A stage as composed by conf/config.yaml: the preset, then the values of config.yaml itself.
Node shipped_stage(const std::string& stage, const std::string& preset) {
  Node merged = shipped_file("profiling/" + stage + "/" + preset + ".yaml");
  const Node config = shipped_file("config.yaml");
  const Node* own = config.find_path("pipeline." + stage);
  EXPECT_NE(own, nullptr) << stage;
  if (own == nullptr) return merged;
  for (const NodeMap::Entry& entry : own->as_map()) merged.as_map().set(entry.key, entry.value);
  return merged;
}

Node shipped() {
  NodeMap pipeline;
  pipeline.set("nsys", shipped_stage("nsys", "nsys.default"));
  pipeline.set("ncu", shipped_stage("ncu", "ncu.default"));
  NodeMap root;
  root.set("pipeline", Node::map(std::move(pipeline)));
  return Node::map(std::move(root));
}

TEST(Documentation, HasEveryKeyOfTheConfig) {
  expect_page("docs/configuration.md", configuration_page(shipped()));
}

TEST(Documentation, HasEveryFlagOfTheProfilers) {
  expect_page("conf/profiling/README.md", profiling_page(shipped()));
}

TEST(ToolFlag, IsTheFlagThatAKeyBecomes) {
  EXPECT_EQ(tool_flag("pipeline.nsys.capture_range_end"),
            "--capture-range-end=<v>, with a capture range");
  EXPECT_EQ(tool_flag("pipeline.ncu.ncu_cli.set"), "--set <v>");
  EXPECT_EQ(
      tool_flag("pipeline.nsys"),
      "--session-new with a name derived from the run directory, --force-overwrite=true and -o");
  EXPECT_EQ(tool_flag("pipeline.nsys.samples"), std::nullopt) << "nsys does not get it";
  EXPECT_EQ(tool_flag("pipeline.ncu.max_launches"), std::nullopt);
  EXPECT_EQ(tool_flag("device"), std::nullopt);
}

TEST(Documentation, HasAnUpperLimitForEveryCount) {
  std::set<std::string> unlimited;
  const std::string page = configuration_page(shipped());
  for (const std::string_view line : lines(page)) {
    const std::vector<std::string_view> cells = split(line, '|');
    if (cells.size() < 3 || cells[2].find("integer") == std::string_view::npos) continue;
    if (cells[2].find(" to ") == std::string_view::npos) unlimited.emplace(trim(cells[1]));
  }
  const std::set<std::string> seeds = {"`dataset.sampling.seed`", "`dataset.seed`", "`infer.seed`",
                                       "`pipeline.workload.load.seed`"};
  EXPECT_EQ(unlimited, seeds);
}

std::set<std::string> value_keys(const std::vector<schema::FieldDoc>& docs) {
  std::set<std::string> keys;
  for (const schema::FieldDoc& doc : docs) {
    if (!doc.is_group) keys.insert(doc.path);
  }
  return keys;
}

std::set<std::string> keys_of(std::span<const ToolFlag> flags) {
  std::set<std::string> keys;
  for (const ToolFlag& each : flags) {
    EXPECT_TRUE(keys.insert(std::string(each.key)).second) << each.key << " is there twice";
    EXPECT_FALSE(each.flag.empty()) << each.key;
  }
  return keys;
}

TEST(Documentation, NamesAFlagForEachKeyAndForNothingElse) {
  EXPECT_EQ(keys_of(nsys_flags()), value_keys(schema::describe<Nsys>()));
  EXPECT_EQ(keys_of(ncu_flags()), value_keys(schema::describe<NcuCli>()));
}

}  // namespace
}  // namespace profline::settings
