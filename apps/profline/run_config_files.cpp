#include "run_config_files.h"

#include "base/files.h"
#include "config_keys.h"
#include "formats/json_write.h"
#include "formats/yaml_write.h"
#include "pipeline/workload_command.h"
#include "position_json.h"

namespace profline {
namespace {

constexpr JsonStyle kLenient{.bytes_as_base64 = true, .scalar_keys_as_text = true};

Node origin_node(const config::Origin& origin) {
  NodeMap entry;
  set_position(origin.position, entry);
  entry.set("config", Node::string(origin.config));
  entry.set("is_override", Node::boolean(origin.is_override));
  return Node::map(std::move(entry));
}

/// By whole key, of everything that is no map: the place that set it.
Node origins_document(const config::Composition& composition) {
  NodeMap keys;
  for_each_key(composition.config, [&](const std::string& key, const Node& value) {
    if (value.is_map() && !value.as_map().empty()) return;
    const std::vector<config::Origin> history = composition.origins.history(key);
    keys.set(key, history.empty() ? Node() : origin_node(history.back()));
  });
  NodeMap document;
  document.set("schema", Node::string("profline.config_origins/1"));
  document.set("origins", Node::map(std::move(keys)));
  return Node::map(std::move(document));
}

/// What Hydra leaves in hydra.output_subdir. In the run's folder itself two of the files are there.
Result<void> write_hydra_files(const Configuration& configuration, const std::filesystem::path& run,
                               const std::filesystem::path& subdir) {
  const Node& root = configuration.composition().root;
  const std::filesystem::path folder = run / subdir;
  PL_TRY(create_folders(folder));
  NodeMap hydra;
  hydra.set("hydra", *root.find("hydra"));
  PL_TRY(write_file_atomic(folder / "hydra.yaml", write_yaml(Node::map(std::move(hydra)))));
  if (subdir == ".") return {};
  PL_TRY(write_file_atomic(folder / "config.yaml", write_yaml(configuration.composition().config)));
  const Node* task = root.find_path("hydra.overrides.task");
  return write_file_atomic(folder / "overrides.yaml",
                           write_yaml(task == nullptr ? Node::list() : *task));
}

}  // namespace

Result<void> write_config_files(const Configuration& configuration,
                                const pipeline::RunSetup& setup) {
  const config::Composition& composition = configuration.composition();
  const std::filesystem::path& folder = setup.folder;
  PL_TRY(write_file_atomic(folder / "config.yaml", write_yaml(composition.config)));
  Node overrides = Node::list();
  for (const config::Override& given : composition.overrides) {
    overrides.as_list().push_back(Node::string(given.text));
  }
  PL_TRY(write_file_atomic(folder / "overrides.yaml", write_yaml(overrides)));
  PL_TRY(write_file_atomic(folder / "config.resolved.json",
                           PL_TRY(pipeline::handed_config(setup.config, {}))));
  PL_TRY(write_file_atomic(folder / "config.origins.json",
                           PL_TRY(write_json(origins_document(composition), kLenient))));
  const auto subdir = PL_TRY(hydra_output_subdir(configuration.hydra()));
  return subdir ? write_hydra_files(configuration, folder, *subdir) : Result<void>();
}

}  // namespace profline
