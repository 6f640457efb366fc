// Composes a small tree of configs from the input: a line that begins with '%' starts a file
// (`%db/mysql.yaml`), one with '!' is an override, and other lines are content.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "config/compose.h"

namespace {

using profline::config::ComposeRequest;
using profline::config::Composition;
using profline::config::EmbeddedSource;

constexpr std::size_t kMaxInput = 1U << 13U;

struct Input {
  std::vector<std::pair<std::string, std::string>> files = {{"config.yaml", ""}};
  std::vector<std::string> overrides;
};

Input read(std::string_view bytes) {
  Input input;
  for (const std::string_view line : profline::lines(bytes)) {
    if (line.starts_with('%')) {
      input.files.emplace_back(std::string(line.substr(1)), "");
    } else if (line.starts_with('!')) {
      input.overrides.emplace_back(line.substr(1));
    } else {
      input.files.back().second += std::string(line) + "\n";
    }
  }
  return input;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMaxInput) return 0;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libFuzzer's bytes are text here
  Input input = read({reinterpret_cast<const char*>(data), size});
  EmbeddedSource::Files files;
  for (const auto& [name, text] : input.files) files[name] = text;

  const auto resolvers = profline::config::ResolverRegistry::standard();
  profline::config::ResolveContext context;
  context.resolvers = &resolvers;
  context.clock = [] { return profline::config::LocalTime{}; };
  context.budget = 1U << 20U;
  ComposeRequest request;
  request.search_path =
      profline::config::SearchPath::standard(std::make_shared<EmbeddedSource>("conf", files));
  request.config_name = "config";
  request.overrides = std::move(input.overrides);
  request.cwd = "/none";

  const profline::Result<Composition> composed = profline::config::compose(request, context);
  if (!composed) {
    PL_ASSERT(!composed.error().message().empty(), "an error says what is wrong");
    PL_ASSERT(!composed.error().reason().empty(), "every error of composing has a reason");
    return 0;
  }
  PL_ASSERT(composed->config.is_map(), "a config is a map");
  PL_ASSERT(composed->config.find("hydra") == nullptr, "the job's config lacks the hydra node");
  context.hydra_root = &composed->root;
  profline::config::Resolution resolution(composed->config, context);
  (void)resolution.resolve_all();
  return 0;
}
