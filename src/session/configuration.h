#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/compose.h"
#include "config/interpolation/resolvers.h"
#include "session/hydra_settings.h"
#include "session/services.h"

namespace profline::session {

/// Which configuration a command is about.
struct ConfigChoice {
  std::optional<std::string> path{};  ///< `--config-path`
  std::optional<std::string> dir{};   ///< `--config-dir`
  std::string name = "config";        ///< `--config-name`
  std::vector<std::string> overrides{};
  /// Where relative paths start and `./conf` is; none: where this was started.
  std::optional<std::filesystem::path> cwd{};
};

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

/// A part of a configuration, for people and programs to look at.
struct ConfigPart {
  std::string of = "job";                ///< `job`, `hydra` or `all`
  std::optional<std::string> package{};  ///< only what is at this key
  bool resolve = false;                  ///< with the values of all interpolations
};
/// An Error names the nearest key where there is none at the package.
Result<Node> part_of(const Configuration& configuration, const ConfigPart& part);

/// Says what came up so far: warnings, and to those who want to know, what was merged.
void tell(const Configuration& configuration, const Remarks& remarks);

}  // namespace profline::session
