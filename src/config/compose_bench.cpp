#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/error.h"
#include "base/files.h"
#include "config/compose.h"
#include "testing/temp_dir.h"

namespace profline::config {
namespace {

/// Folders of configs like our own: groups of options, each with some thirty keys, included from
/// one primary config.
class Tree {
 public:
  Tree(std::size_t groups, std::size_t keys) {
    std::string primary = "defaults:\n";
    for (std::size_t i = 0; i < groups; ++i) {
      const std::string group = "group" + std::to_string(i);
      std::string text = i % 3 == 0 ? "# @package stage" + std::to_string(i) + "\n" : "";
      for (std::size_t key = 0; key < keys; ++key) {
        const std::string name = "key" + std::to_string(key);
        text += key % 4 == 0   ? name + ": {nested: " + std::to_string(key) + ", flag: true}\n"
                : key % 4 == 1 ? name + ": ${name}/" + name + "\n"
                : key % 4 == 2 ? name + ": [1, 2.5, three]\n"
                               : name + ": some text of usual length  # with a comment\n";
      }
      write(group + "/default.yaml", text);
      primary += "  - " + group + ": default\n";
    }
    write("config.yaml", primary + "  - _self_\nname: benchmark\nseed: 0\n");
  }

  ComposeRequest request() const {
    ComposeRequest request;
    request.search_path =
        SearchPath::standard(std::make_shared<FolderSource>(dir_.path().string()));
    request.config_name = "config";
    request.cwd = dir_.path();
    return request;
  }

 private:
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = dir_ / name;
    PL_ASSERT(create_folders(path.parent_path()), "the temporary folder is ours");
    PL_ASSERT(write_file_atomic(path, text), "the temporary folder is ours");
  }

  testing::TempDir dir_;
};

void compose_repeatedly(benchmark::State& state, const ComposeRequest& request) {
  const ResolverRegistry resolvers = ResolverRegistry::standard();
  ResolveContext context;
  context.resolvers = &resolvers;
  for (auto _ : state) {
    auto composed = compose(request, context);
    PL_ASSERT(composed, "the tree is sound");
    benchmark::DoNotOptimize(composed);
  }
}

/// All files are read and parsed each time, as in a new process.
void compose_tree(benchmark::State& state) {
  const Tree tree(static_cast<std::size_t>(state.range(0)),
                  static_cast<std::size_t>(state.range(1)));
  ComposeRequest request = tree.request();
  request.overrides = {"name=other", "+added.key=1", "~seed"};
  compose_repeatedly(state, request);
  state.SetItemsProcessed(state.iterations() * (state.range(0) + 1));
}
// 22 files like the tree we ship; 50, 100 and 200 files; 2,000 keys.
BENCHMARK(compose_tree)
    ->Args({21, 15})
    ->Args({50, 15})
    ->Args({100, 15})
    ->Args({200, 15})
    ->Args({21, 95})
    ->Unit(benchmark::kMicrosecond);

void compose_overrides(benchmark::State& state) {
  const Tree tree(4, 15);
  ComposeRequest request = tree.request();
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    request.overrides.push_back("+new.key" + std::to_string(i) + "=" + std::to_string(i));
  }
  compose_repeatedly(state, request);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(compose_overrides)->Range(1 << 4, 1 << 13)->Unit(benchmark::kMicrosecond);

void histories(benchmark::State& state) {
  const Tree tree(21, 15);
  const ResolverRegistry resolvers = ResolverRegistry::standard();
  ResolveContext context;
  context.resolvers = &resolvers;
  const auto composed = compose(tree.request(), context);
  PL_ASSERT(composed, "the tree is sound");
  for (auto _ : state) benchmark::DoNotOptimize(composed->origins.history("group7.key4.nested"));
}
BENCHMARK(histories);

}  // namespace
}  // namespace profline::config
