#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/error.h"
#include "config/compose.h"
#include "settings/root.h"
#include "shipped_config/shipped_config.h"
#include "testing/paths.h"

// The first step of every command, on our own tree.
namespace profline {
namespace {

const std::vector<std::string> kOverrides = {"infer.max_new_tokens=64", "pipeline.nsys.enable=true",
                                             "profiling/ncu@pipeline.ncu=ncu.high"};

config::ResolveContext context_for(const config::ResolverRegistry& resolvers) {
  config::ResolveContext context;
  context.resolvers = &resolvers;
  context.clock = [] { return config::LocalTime{2026, 1, 2, 3, 4, 5, 0}; };
  return context;
}

config::Composition composed(std::shared_ptr<const config::ConfigSource> source,
                             const config::ResolveContext& context) {
  const config::ComposeRequest request{
      .search_path = config::SearchPath::standard(std::move(source)),
      .config_name = "config",
      .overrides = kOverrides,
      .mode = config::RunMode::Run,
      .job_name = "profline",
      .cwd = "/start"};
  auto composition = config::compose(request, context);
  PL_ASSERT(composition.has_value(), "our own tree composes");
  return *std::move(composition);
}

std::shared_ptr<const config::ConfigSource> embedded_source() {
  config::EmbeddedSource::Files files;
  for (const EmbeddedFile& file : shipped_config_files()) {
    files.emplace(std::string(file.path), file.text);
  }
  return std::make_shared<config::EmbeddedSource>("profline", std::move(files));
}

void compose_from_folder(benchmark::State& state) {
  const config::ResolverRegistry resolvers = config::ResolverRegistry::standard();
  const config::ResolveContext context = context_for(resolvers);
  const std::string folder = (testing::source_dir() / "conf").string();
  for (auto _ : state) {
    benchmark::DoNotOptimize(composed(std::make_shared<config::FolderSource>(folder), context));
  }
}
BENCHMARK(compose_from_folder)->Unit(benchmark::kMicrosecond);

void compose_from_program(benchmark::State& state) {
  const config::ResolverRegistry resolvers = config::ResolverRegistry::standard();
  const config::ResolveContext context = context_for(resolvers);
  for (auto _ : state) benchmark::DoNotOptimize(composed(embedded_source(), context));
}
BENCHMARK(compose_from_program)->Unit(benchmark::kMicrosecond);

void resolve_and_read_settings(benchmark::State& state) {
  const config::ResolverRegistry resolvers = config::ResolverRegistry::standard();
  config::ResolveContext context = context_for(resolvers);
  const config::Composition composition = composed(embedded_source(), context);
  context.hydra_root = &composition.root;
  for (auto _ : state) {
    config::Resolution resolution(composition.config, context);
    const auto resolved = resolution.resolve_all();
    PL_ASSERT(resolved.has_value(), "our own tree resolves");
    auto settings = settings::read_settings(*resolved);
    PL_ASSERT(settings.has_value(), "our own tree is sound");
    benchmark::DoNotOptimize(settings);
  }
}
BENCHMARK(resolve_and_read_settings)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace profline
