#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/compose.h"
#include "config/interpolation/resolve.h"
#include "config/interpolation/resolvers.h"
#include "config/overrides/override.h"
#include "session/services.h"
#include "sweep/sweep.h"

namespace profline::session {

// What profline takes from the `hydra` node, beside run.dir, sweep.dir, sweep.subdir, job.chdir and
// searchpath. docs/hydra-compat.md has every key.

/// A composition and the context that resolves it.
struct HydraNode {
  const Node& root;
  const config::ResolveContext& context;
};

/// `hydra.mode`; nothing if it is null.
Result<std::optional<config::RunMode>> hydra_mode(const HydraNode& hydra);

/// `hydra.output_subdir`: the folder of config.yaml, hydra.yaml and overrides.yaml, relative to the
/// run's folder; nothing if it is null. An Error if it is not inside.
Result<std::optional<std::filesystem::path>> hydra_output_subdir(const HydraNode& hydra);

/// The part of `hydra.sweeper` that the basic sweeper has. An Error if the config names another
/// sweeper.
struct SweeperSettings {
  std::vector<config::Override> params;  ///< each `key: sweep` as an override
  std::optional<std::int64_t> max_batch_size;
};
Result<SweeperSettings> sweeper_settings(const HydraNode& hydra);

/// `hydra.launcher`: what runs the jobs of a sweep. One that profline does not have counts as
/// basic.
struct LauncherChoice {
  sweep::LauncherKind kind = sweep::LauncherKind::Basic;
  sweep::Launcher settings = {};
};
Result<LauncherChoice> launcher_choice(const HydraNode& hydra);

/// One sentence for each part of the node that was set but that profline ignores.
std::vector<std::string> ignored_hydra_settings(const config::Composition& composition);

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

/// The config for a program on the command line if no other is named.
inline constexpr const char* kProgramConfig = "program";
/// The config for a load on a server if no other is named.
inline constexpr const char* kLoadConfig = "load";

/// The override that makes these words `pipeline.workload.command`: each reaches the program
/// unchanged, whatever it means in Hydra's grammar.
std::string program_override(const std::vector<std::string>& words);

/// The override that makes this address `pipeline.workload.server.url`.
std::string url_override(const std::string& url);

}  // namespace profline::session
