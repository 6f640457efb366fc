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

/// The configuration that a command refers to.
struct ConfigChoice {
  std::optional<std::string> path{};  ///< `--config-path`
  std::optional<std::string> dir{};   ///< `--config-dir`
  std::string name = "config";        ///< `--config-name`
  std::vector<std::string> overrides{};
  /// Where relative paths start and `./conf` is looked for; absent: the current directory.
  std::optional<std::filesystem::path> cwd{};
};

/// The search path for configs, ahead of hydra.searchpath: `--config-path`, or else `./conf` if it
/// has the named config; `--config-dir`; finally the configs built into the program. Relative paths
/// start at `cwd`.
Result<config::SearchPath> config_search_path(const ConfigChoice& choice,
                                              const std::filesystem::path& cwd);

/// A composed configuration with what is needed to resolve it. It cannot be moved: its parts refer
/// to one another.
class Configuration {
 public:
  /// Errors are those of config::compose, with advice if an override names something that the
  /// predecessor's configs had, or that Hydra rejects for a reason that is hard to guess.
  static Result<std::unique_ptr<Configuration>> compose(
      const ConfigChoice& choice, config::RunMode mode = config::RunMode::Run);

  Configuration(const Configuration&) = delete;
  Configuration& operator=(const Configuration&) = delete;

  const config::Composition& composition() const { return composition_; }
  const config::ResolveContext& context() const { return context_; }
  /// For readers of the hydra node.
  HydraNode hydra() const { return {composition_.root, context_}; }
  /// Warnings so far, from composing and resolving.
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// Where relative paths of the config start.
  const std::filesystem::path& cwd() const { return cwd_; }

  /// Sets what is known only once a run is about to start, has its folder, or a job its number:
  /// `${hydra:mode}`, `${hydra:runtime.output_dir}`, `${hydra:job.num}`.
  void set_mode(config::RunMode mode);
  void set_output_dir(const std::filesystem::path& folder);
  void set_job(std::size_t number);

  /// All type errors of the job's config; empty if it is valid.
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

/// A part of a configuration, for display.
struct ConfigPart {
  std::string of = "job";                ///< `job`, `hydra` or `all`
  std::optional<std::string> package{};  ///< only the value at this key
  bool resolve = false;                  ///< with interpolations resolved
};
/// An Error names the nearest key if the package does not exist.
Result<Node> part_of(const Configuration& configuration, const ConfigPart& part);

/// Prints warnings and, if verbose, what was merged.
void report_composition(const Configuration& configuration, const Remarks& remarks);

}  // namespace profline::session
