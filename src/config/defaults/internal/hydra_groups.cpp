#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include "config/defaults/search_path.h"

namespace profline::config {
namespace {

using Fields = std::initializer_list<std::pair<const char*, Node>>;

Node map_of(Fields fields) {
  Node map = Node::map();
  for (const auto& [key, value] : fields) map.as_map().set(key, value);
  return map;
}

Node text(const char* value) {
  return Node::string(value);
}

Node missing() {
  return text("???");
}

Node list_of(std::initializer_list<const char*> items) {
  Node list = Node::list();
  for (const char* item : items) list.as_list().push_back(text(item));
  return list;
}

// Python's logging, version 1 of its configuration.

constexpr const char* kLongFormat = "[%(asctime)s][%(name)s][%(levelname)s] - %(message)s";

Node formatter(const char* format) {
  return map_of({{"simple", map_of({{"format", text(format)}})}});
}

Node console_handler() {
  return map_of({{"class", text("logging.StreamHandler")},
                 {"formatter", text("simple")},
                 {"stream", text("ext://sys.stdout")}});
}

Node root_logger(const char* level, Node handlers) {
  return map_of({{"level", text(level)}, {"handlers", std::move(handlers)}});
}

Node hydra_logging_default() {
  return map_of({{"version", Node::integer(1)},
                 {"formatters", formatter("[%(asctime)s][HYDRA] %(message)s")},
                 {"handlers", map_of({{"console", console_handler()}})},
                 {"root", root_logger("INFO", list_of({"console"}))},
                 {"loggers", map_of({{"logging_example", map_of({{"level", text("DEBUG")}})}})},
                 {"disable_existing_loggers", Node::boolean(false)}});
}

Node hydra_logging_debug() {
  const Node file = map_of({{"class", text("logging.FileHandler")},
                            {"mode", text("w")},
                            {"formatter", text("simple")},
                            {"filename", text("hydra-${hydra.job.name}.log")},
                            {"delay", Node::boolean(true)}});
  return map_of({{"version", Node::integer(1)},
                 {"formatters", formatter(kLongFormat)},
                 {"handlers", map_of({{"file", file}})},
                 {"root", root_logger("ERROR", list_of({"file"}))},
                 {"loggers", map_of({{"hydra", map_of({{"level", text("DEBUG")}})}})},
                 {"disable_existing_loggers", Node::boolean(false)}});
}

Node logging_none() {
  return map_of({{"version", Node::integer(1)},
                 {"root", Node()},
                 {"disable_existing_loggers", Node::boolean(false)}});
}

Node logging_disabled() {
  return map_of({{"version", Node::integer(1)},
                 {"root", map_of({{"level", text("ERROR")}})},
                 {"disable_existing_loggers", Node::boolean(true)}});
}

Node job_logging_default() {
  const Node file =
      map_of({{"class", text("logging.FileHandler")},
              {"formatter", text("simple")},
              {"filename", text("${hydra.runtime.output_dir}/${hydra.job.name}.log")}});
  return map_of({{"version", Node::integer(1)},
                 {"formatters", formatter(kLongFormat)},
                 {"handlers", map_of({{"console", console_handler()}, {"file", file}})},
                 {"root", root_logger("INFO", list_of({"console", "file"}))},
                 {"disable_existing_loggers", Node::boolean(false)}});
}

Node job_logging_stdout() {
  return map_of({{"version", Node::integer(1)},
                 {"formatters", formatter("%(message)s")},
                 {"handlers", map_of({{"console", console_handler()}})},
                 {"root", root_logger("INFO", list_of({"console"}))},
                 {"disable_existing_loggers", Node::boolean(false)}});
}

Node output_default() {
  return map_of({{"run", map_of({{"dir", text("outputs/${now:%Y-%m-%d}/${now:%H-%M-%S}")}})},
                 {"sweep", map_of({{"dir", text("multirun/${now:%Y-%m-%d}/${now:%H-%M-%S}")},
                                   {"subdir", text("${hydra.job.num}")}})}});
}

Node help_default() {
  return map_of({{"app_name", text("${hydra.job.name}")},
                 {"header", text("${hydra.help.app_name} is configured in Hydra's language.\n")},
                 {"footer", text("--hydra-help describes Hydra's own settings.\n")},
                 {"template", text("${hydra.help.header}\n"
                                   "Groups, chosen with group=option:\n\n$APP_CONFIG_GROUPS\n\n"
                                   "Values, set with key=value:\n\n$CONFIG\n\n"
                                   "${hydra.help.footer}\n")}});
}

Node hydra_help_default() {
  return map_of({{"template", text("Hydra ${hydra.runtime.version}\n\n"
                                   "Flags:\n\n$FLAGS_HELP\n\n"
                                   "Hydra's groups, chosen with hydra/group=option:\n\n"
                                   "$HYDRA_CONFIG_GROUPS\n")}});
}

Node launcher_basic() {
  return map_of({{"_target_", text("hydra._internal.core_plugins.basic_launcher.BasicLauncher")}});
}

/// Keys of Hydra's submitit launcher that do not depend on where jobs run, with its defaults.
std::vector<std::pair<const char*, Node>> queue_keys() {
  return {{"submitit_folder", text("${hydra.sweep.dir}/.submitit/%j")},
          {"timeout_min", Node::integer(60)},
          {"cpus_per_task", Node()},
          {"gpus_per_node", Node()},
          {"tasks_per_node", Node::integer(1)},
          {"mem_gb", Node()},
          {"nodes", Node::integer(1)},
          {"name", text("${hydra.job.name}")},
          {"stderr_to_stdout", Node::boolean(false)}};
}

Node launcher_local() {
  Node tree = map_of(
      {{"_target_", text("hydra_plugins.hydra_submitit_launcher.submitit_launcher.LocalLauncher")},
       {"n_jobs", Node::integer(1)}});
  for (auto& [key, value] : queue_keys()) tree.as_map().set(key, std::move(value));
  return tree;
}

Node launcher_slurm() {
  Node tree =
      map_of({{"_target_",
               text("hydra_plugins.hydra_submitit_launcher.submitit_launcher.SlurmLauncher")}});
  for (auto& [key, value] : queue_keys()) tree.as_map().set(key, std::move(value));
  for (const char* key : {"partition", "qos", "account", "comment", "constraint", "exclude", "gres",
                          "cpus_per_gpu", "gpus_per_task", "mem_per_gpu", "mem_per_cpu"}) {
    tree.as_map().set(key, Node());
  }
  tree.as_map().set("max_num_timeout", Node::integer(3));
  tree.as_map().set("signal_delay_s", Node::integer(120));
  tree.as_map().set("additional_parameters", Node::map());
  tree.as_map().set("array_parallelism", Node::integer(256));
  tree.as_map().set("setup", Node());
  return tree;
}

Node sweeper_basic() {
  return map_of({{"_target_", text("hydra._internal.core_plugins.basic_sweeper.BasicSweeper")},
                 {"max_batch_size", Node()},
                 {"params", Node()}});
}

Node default_entry(const char* group, Node option) {
  return map_of({{group, std::move(option)}});
}

Node hydra_job() {
  const Node dirname =
      map_of({{"kv_sep", text("=")}, {"item_sep", text(",")}, {"exclude_keys", Node::list()}});
  return map_of({{"name", missing()},
                 {"chdir", Node()},
                 {"override_dirname", missing()},
                 {"id", missing()},
                 {"num", missing()},
                 {"config_name", missing()},
                 {"env_set", Node::map()},
                 {"env_copy", Node::list()},
                 {"config", map_of({{"override_dirname", dirname}})}});
}

Node hydra_config() {
  Node help = map_of({{"app_name", missing()},
                      {"header", missing()},
                      {"footer", missing()},
                      {"template", missing()}});
  Node runtime = map_of({{"version", missing()},
                         {"version_base", missing()},
                         {"cwd", missing()},
                         {"config_sources", missing()},
                         {"output_dir", missing()},
                         {"choices", Node::map()}});
  Node defaults = Node::list(
      {default_entry("output", text("default")), default_entry("launcher", text("basic")),
       default_entry("sweeper", text("basic")), default_entry("help", text("default")),
       default_entry("hydra_help", text("default")),
       default_entry("hydra_logging", text("default")),
       default_entry("job_logging", text("default")), default_entry("callbacks", Node()),
       default_entry("env", text("default"))});
  return map_of({{"defaults", std::move(defaults)},
                 {"mode", Node()},
                 {"searchpath", Node::list()},
                 {"run", map_of({{"dir", missing()}})},
                 {"sweep", map_of({{"dir", missing()}, {"subdir", missing()}})},
                 {"hydra_logging", missing()},
                 {"job_logging", missing()},
                 {"sweeper", missing()},
                 {"launcher", missing()},
                 {"callbacks", Node::map()},
                 {"help", std::move(help)},
                 {"hydra_help", map_of({{"hydra_help", missing()}, {"template", missing()}})},
                 {"output_subdir", text(".hydra")},
                 {"overrides", map_of({{"hydra", Node::list()}, {"task", Node::list()}})},
                 {"job", hydra_job()},
                 {"runtime", std::move(runtime)},
                 {"verbose", Node::boolean(false)}});
}

struct BuiltIn {
  std::string_view group;
  std::string_view name;
  Node (*tree)();
  const char* package = nullptr;
};

constexpr BuiltIn kGroups[] = {
    {"hydra/env", "default", [] { return Node::map(); }},
    {"hydra/help", "default", help_default},
    {"hydra/hydra_help", "default", hydra_help_default},
    {"hydra/hydra_logging", "default", hydra_logging_default},
    {"hydra/hydra_logging", "disabled", logging_disabled},
    {"hydra/hydra_logging", "hydra_debug", hydra_logging_debug},
    {"hydra/hydra_logging", "none", logging_none},
    {"hydra/job_logging", "default", job_logging_default},
    {"hydra/job_logging", "disabled", logging_disabled},
    {"hydra/job_logging", "none", logging_none},
    {"hydra/job_logging", "stdout", job_logging_stdout},
    {"hydra/launcher", "local", launcher_local},
    {"hydra/launcher", "slurm", launcher_slurm},
    {"hydra/launcher", "submitit_local", launcher_local},
    {"hydra/launcher", "submitit_slurm", launcher_slurm},
    {"hydra/output", "default", output_default, "hydra"},
};

constexpr BuiltIn kSchemas[] = {
    {"hydra", "config", hydra_config},
    {"hydra/launcher", "basic", launcher_basic},
    {"hydra/sweeper", "basic", sweeper_basic},
};

class BuiltInSource final : public ConfigSource {
 public:
  BuiltInSource(std::string_view scheme, std::string path, std::span<const BuiltIn> configs)
      : scheme_(scheme), path_(std::move(path)), configs_(configs) {}

  std::string_view scheme() const override { return scheme_; }
  std::string path() const override { return path_; }
  bool is_available() const override { return true; }

  bool has_group(std::string_view group) const override {
    return group.empty() || std::any_of(configs_.begin(), configs_.end(), [&](const BuiltIn& one) {
             return one.group == group ||
                    (one.group.starts_with(group) && one.group[group.size()] == '/');
           });
  }

  bool has_config(std::string_view config) const override { return find(config) != nullptr; }

  Result<std::optional<ConfigFile>> load(const std::string& config) const override {
    const BuiltIn* found = find(config);
    if (found == nullptr) return std::optional<ConfigFile>();
    ConfigFile file;
    file.tree = found->tree();
    if (found->package != nullptr) file.package = found->package;
    return std::optional<ConfigFile>(std::move(file));
  }

  std::vector<std::string> configs_in(std::string_view group) const override {
    std::vector<std::string> names;
    for (const BuiltIn& one : configs_) {
      if (one.group == group) names.emplace_back(one.name);
    }
    return names;
  }

  std::vector<std::string> groups_in(std::string_view group) const override {
    std::vector<std::string> names;
    for (const BuiltIn& one : configs_) {
      if (group.empty()) {
        names.emplace_back("hydra");
      } else if (one.group.size() > group.size() && one.group.starts_with(group) &&
                 one.group[group.size()] == '/') {
        names.emplace_back(one.group.substr(group.size() + 1));
      }
    }
    return names;
  }

 private:
  const BuiltIn* find(std::string_view config) const {
    if (config.ends_with(".yaml")) config.remove_suffix(5);
    const std::size_t slash = config.rfind('/');
    if (slash == std::string_view::npos) return nullptr;
    const auto found = std::find_if(configs_.begin(), configs_.end(), [&](const BuiltIn& one) {
      return one.group == config.substr(0, slash) && one.name == config.substr(slash + 1);
    });
    return found == configs_.end() ? nullptr : &*found;
  }

  std::string_view scheme_;
  std::string path_;
  std::span<const BuiltIn> configs_;
};

}  // namespace

std::shared_ptr<const ConfigSource> hydra_groups() {
  return std::make_shared<BuiltInSource>("pkg", "hydra.conf", kGroups);
}

std::shared_ptr<const ConfigSource> hydra_schemas() {
  return std::make_shared<BuiltInSource>("structured", "", kSchemas);
}

}  // namespace profline::config
