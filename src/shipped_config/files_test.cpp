#include "base/files.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "formats/yaml.h"
#include "schema/docs.h"
#include "settings/hardware.h"
#include "settings/kernel_classes.h"
#include "settings/root.h"
#include "shipped_config/shipped_config.h"
#include "testing/paths.h"

namespace profline {
namespace {

using ::testing::ElementsAreArray;

std::vector<std::string> shipped_paths() {
  std::vector<std::string> paths;
  for (const EmbeddedFile& file : shipped_config_files()) paths.emplace_back(file.path);
  return paths;
}

TEST(ShippedConfig, IsTheTreeThatIsDocumented) {
  const std::string dummy = "model/dummy_shallow_resnet/";
  EXPECT_THAT(shipped_paths(), ElementsAreArray<std::string>({
                                   "config.yaml",
                                   "dataset/files.yaml",
                                   "dataset/omnidocbench.yaml",
                                   "dataset/sampling/default.yaml",
                                   "dataset/sampling/random.yaml",
                                   "dataset/synthetic.yaml",
                                   "demo.yaml",
                                   "dummy.yaml",
                                   "hardware/devices.yaml",
                                   "kernels/classes.yaml",
                                   "load.yaml",
                                   "model/deepseek_ocr/arch/deepseek_ocr.default.yaml",
                                   "model/deepseek_ocr/arch/deepseek_ocr.random.yaml",
                                   "model/deepseek_ocr/arch/deepseek_ocr.tiny.yaml",
                                   "model/deepseek_ocr/infer/deepseek_ocr.default.yaml",
                                   "model/deepseek_ocr/infer/deepseek_ocr.fast.yaml",
                                   "model/deepseek_ocr/output/direct/default.yaml",
                                   "model/deepseek_ocr/output/torch/default.yaml",
                                   dummy + "arch/dummy_shallow_resnet.default.yaml",
                                   dummy + "infer/dummy_shallow_resnet.default.yaml",
                                   "output/direct/default.yaml",
                                   "output/torch/default.yaml",
                                   "profiling/ncu/ncu.default.yaml",
                                   "profiling/ncu/ncu.h200.yaml",
                                   "profiling/ncu/ncu.high.yaml",
                                   "profiling/ncu/ncu.rtx3090.compute.yaml",
                                   "profiling/ncu/ncu.rtx3090.memory.yaml",
                                   "profiling/ncu/ncu.rtx3090.yaml",
                                   "profiling/nsys/nsys.default.yaml",
                                   "profiling/torch/torch-profiler.default.yaml",
                                   "profiling/torch/torch-profiler.max.yaml",
                                   "profiling/torch/torch-profiler.min.yaml",
                                   "program.yaml",
                                   "workload/server/generic.yaml",
                                   "workload/server/llama_server.yaml",
                                   "workload/server/sglang.yaml",
                                   "workload/server/transformers_serve.yaml",
                                   "workload/server/trtllm.yaml",
                                   "workload/server/vllm.yaml",
                               }));
}

TEST(ShippedConfig, IsInTheProgramByteForByte) {
  for (const EmbeddedFile& file : shipped_config_files()) {
    SCOPED_TRACE(file.path);
    const auto text = read_file(testing::source_dir() / "conf" / file.path);
    ASSERT_TRUE(text) << text.error().to_string();
    EXPECT_TRUE(*text == file.text);
  }
}

TEST(ShippedConfig, SaysOfEachFileWhatItIsForAndFitsAScreen) {
  constexpr std::size_t kWidest = 120;
  for (const EmbeddedFile& file : shipped_config_files()) {
    SCOPED_TRACE(file.path);
    EXPECT_TRUE(file.text.starts_with("# "));
    for (const std::string_view line : lines(file.text)) EXPECT_LE(line.size(), kWidest) << line;
  }
}

using Paths = std::set<std::string>;

template <typename T>
void add_paths(Paths& paths, std::string_view place = {}) {
  for (const schema::FieldDoc& doc : schema::describe<T>(place)) paths.insert(doc.path);
}

template <typename Subject>
Paths paths_of_config() {
  Paths paths;
  add_paths<settings::Layout<Subject>>(paths);
  add_paths<settings::ImageFolder>(paths, "dataset");
  add_paths<settings::SyntheticPages>(paths, "dataset");
  add_paths<settings::ImageFiles>(paths, "dataset");
  return paths;
}

/// The keys of `node`, which is at `path`, that are not in `known`.
void collect_unknown(const Node& node, const std::string& path, const Paths& known,
                     std::vector<std::string>& unknown) {
  if (!node.is_map()) return;
  for (const NodeMap::Entry& entry : node.as_map()) {
    const std::string& key = entry.key.as_string();
    const std::string below = path.empty() ? key : path + '.' + key;
    const bool is_hydras = below == "defaults" || below == "hydra";
    const bool is_preset = below == "pipeline.workload.defaults";
    if (is_hydras || is_preset || below == "vars") continue;
    // Values of any name: environment variables, and what a server's requests contain.
    if (key == "env" || key == "start_body" || key == "stop_body" || key == "extra_body") continue;
    if (known.contains(below)) {
      collect_unknown(entry.value, below, known, unknown);
    } else {
      unknown.push_back(below);
    }
  }
}

struct Mount {
  std::string_view folder;
  std::string_view place;
};
constexpr Mount kMounts[] = {
    {"dataset/sampling/", "dataset.sampling"},
    {"dataset/", "dataset"},
    {"model/deepseek_ocr/arch/", "model"},
    {"model/deepseek_ocr/infer/", "infer"},
    {"model/deepseek_ocr/output/torch/", "pipeline.torch_profiler.output.extra.deepseek_ocr"},
    {"model/deepseek_ocr/output/direct/", "pipeline.direct_inference.output.extra.deepseek_ocr"},
    {"model/dummy_shallow_resnet/arch/", "model"},
    {"model/dummy_shallow_resnet/infer/", "infer"},
    {"output/torch/", "pipeline.torch_profiler.output"},
    {"output/direct/", "pipeline.direct_inference.output"},
    {"profiling/torch/", "pipeline.torch_profiler"},
    {"profiling/nsys/", "pipeline.nsys"},
    {"profiling/ncu/", "pipeline.ncu"},
    {"workload/server/", "pipeline.workload"},
};

std::string place_of(std::string_view path) {
  for (const Mount& mount : kMounts) {
    if (path.starts_with(mount.folder)) return std::string(mount.place);
  }
  return "";
}

TEST(ShippedConfig, HasNoKeyThatTheProgramDoesNotKnow) {
  const Paths deepseek = paths_of_config<settings::deepseek_ocr::Subject>();
  const Paths dummy = paths_of_config<settings::dummy_shallow_resnet::Subject>();
  const Paths program = paths_of_config<settings::program::Subject>();
  Paths hardware;
  add_paths<settings::Hardware>(hardware);
  Paths classes;
  add_paths<settings::KernelClasses>(classes);
  for (const EmbeddedFile& file : shipped_config_files()) {
    SCOPED_TRACE(file.path);
    const auto tree = parse_yaml(file.text, std::string(file.path));
    ASSERT_TRUE(tree) << tree.error().to_string();
    ASSERT_TRUE(tree->is_map());
    const bool is_dummy = file.path.starts_with("model/dummy") || file.path == "dummy.yaml";
    const Paths& known = file.path.starts_with("hardware/")  ? hardware
                         : file.path.starts_with("kernels/") ? classes
                         : file.path == "program.yaml"       ? program
                         : is_dummy                          ? dummy
                                                             : deepseek;
    std::vector<std::string> unknown;
    collect_unknown(*tree, place_of(file.path), known, unknown);
    EXPECT_EQ(unknown, std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace profline
