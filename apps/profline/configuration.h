#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/compose.h"
#include "config/resolvers.h"
#include "hydra_settings.h"
#include "verb.h"

namespace profline {

/// Which configuration a command is about.
struct ConfigChoice {
  std::optional<std::string> path{};  ///< `--config-path`
  std::optional<std::string> dir{};   ///< `--config-dir`
  std::string name = "config";        ///< `--config-name`
  std::vector<std::string> overrides{};
  /// Where relative paths start and `./conf` is; none: where this was started.
  std::optional<std::filesystem::path> cwd{};
};

/// The options that choose a configuration, and what was given of them; the words are the
/// overrides.
std::vector<Option> config_choice_options();
ConfigChoice config_choice(const Arguments& arguments);

/// Where configs are looked for, before hydra.searchpath: `--config-path`, or else `./conf` if it
/// holds the named config; `--config-dir`; at last the configs that are part of the program. `cwd`
/// is where relative paths start.
Result<config::SearchPath> config_search_path(const ConfigChoice& choice,
                                              const std::filesystem::path& cwd);

/// A composed configuration with what it takes to resolve it. It does not move: its parts refer to
/// one another.
class Configuration {
 public:
  /// Errors are those of config::compose, with advice where an override names something that the
  /// predecessor's configs had or that Hydra refuses for a reason that is hard to guess.
  static Result<std::unique_ptr<Configuration>> compose(
      const ConfigChoice& choice, config::RunMode mode = config::RunMode::Run);

  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;

  const config::Composition& composition() const { return composition_; }
  const config::ResolveContext& context() const { return context_; }
  /// For what reads the hydra node.
  HydraNode hydra() const { return {composition_.root, context_}; }
  /// What deserved attention so far, while composing and resolving.
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// Where relative paths of the config start.
  const std::filesystem::path& cwd() const { return cwd_; }

  /// What is known once a run is about to start, has its folder, or a job its number:
  /// `${hydra:mode}`, `${hydra:runtime.output_dir}`, `${hydra:job.num}`.
  void set_mode(config::RunMode mode);
  void set_output_dir(const std::filesystem::path& folder);
  void set_job(std::size_t number);

  /// All that is wrong with the job's config, by the types of its keys; empty when nothing is.
  std::vector<Error> problems() const;

 private:
  Configuration();

  config::ResolverRegistry resolvers_;
  std::vector<std::string> given_;  // the overrides
  std::vector<std::string> warnings_;
  config::ResolveContext context_;
  config::Composition composition_;
  std::filesystem::path cwd_;
};

/// Prints to stderr what came up: warnings, unless the user wants it quiet, and on demand what was
/// merged.
void print_remarks(const Configuration& configuration, const OutputOptions& output);

}  // namespace profline
