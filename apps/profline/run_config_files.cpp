#include "run_config_files.h"

#include "base/atomic_file.h"
#include "base/files.h"
#include "config_keys.h"
#include "formats/json_write.h"
#include "formats/node_redaction.h"
#include "formats/yaml_write.h"
#include "pipeline/workload_command.h"
#include "position_json.h"

namespace profline {
namespace {

constexpr JsonStyle kLenient{.bytes_as_base64 = true, .scalar_keys_as_text = true};

Node origin_node(const config::Origin& origin, const Redactor& redactor) {
  NodeMap entry;
  set_position(origin.position, entry);
  const std::string config = origin.is_override ? redactor.word("", origin.config) : origin.config;
  entry.set("config", Node::string(config));
  entry.set("is_override", Node::boolean(origin.is_override));
  return Node::map(std::move(entry));
}

/// By whole key, of everything that is no map: the place that set it.
Node origins_document(const config::Composition& composition, const Redactor& redactor) {
  NodeMap keys;
  for_each_key(composition.config, [&](const std::string& key, const Node& value) {
    if (value.is_map() && !value.as_map().empty()) return;
    const std::vector<config::Origin> history = composition.origins.history(key);
    keys.set(key, history.empty() ? Node() : origin_node(history.back(), redactor));
  });
  NodeMap document;
  document.set("schema", Node::string("profline.config_origins/1"));
  document.set("origins", Node::map(std::move(keys)));
  return Node::map(std::move(document));
}

/// A document of YAML that says so where something was taken out of it.
std::string yaml_text(const Node& whole, const Redactor& redactor) {
  const Node shown = redacted(whole, redactor);
  const std::string text = write_yaml(shown);
  if (whole == shown) return text;
  return "# Values that look like secrets were replaced by " + std::string(kRedacted) + ".\n" +
         text;
}

/// What Hydra leaves in hydra.output_subdir. In the run's folder itself two of the files are there.
Result<void> write_hydra_files(const Configuration& configuration, const pipeline::RunSetup& setup,
                               const std::filesystem::path& subdir) {
  const Node& root = configuration.composition().root;
  const std::filesystem::path folder = setup.folder / subdir;
  PL_TRY(create_folders(folder));
  NodeMap hydra;
  hydra.set("hydra", *root.find("hydra"));
  PL_TRY(write_private_file(folder / "hydra.yaml",
                            yaml_text(Node::map(std::move(hydra)), setup.redactor)));
  if (subdir == ".") return {};
  PL_TRY(write_private_file(folder / "config.yaml",
                            yaml_text(configuration.composition().config, setup.redactor)));
  const Node* task = root.find_path("hydra.overrides.task");
  return write_private_file(folder / "overrides.yaml",
                            yaml_text(task == nullptr ? Node::list() : *task, setup.redactor));
}

}  // namespace

Result<void> write_config_files(const Configuration& configuration,
                                const pipeline::RunSetup& setup) {
  const config::Composition& composition = configuration.composition();
  const std::filesystem::path& folder = setup.folder;
  const Redactor& redactor = setup.redactor;
  PL_TRY(write_private_file(folder / "config.yaml", yaml_text(composition.config, redactor)));
  Node overrides = Node::list();
  for (const config::Override& given : composition.overrides) {
    overrides.as_list().push_back(Node::string(given.text));
  }
  PL_TRY(write_private_file(folder / "overrides.yaml", yaml_text(overrides, redactor)));
  PL_TRY(write_private_file(folder / "config.resolved.json",
                            PL_TRY(pipeline::handed_config(setup, {}))));
  PL_TRY(write_private_file(folder / "config.origins.json",
                            PL_TRY(write_json(origins_document(composition, redactor), kLenient))));
  const auto subdir = PL_TRY(hydra_output_subdir(configuration.hydra()));
  return subdir ? write_hydra_files(configuration, setup, *subdir) : Result<void>();
}

}  // namespace profline
