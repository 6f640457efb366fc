#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/progress.h"
#include "base/result.h"
#include "kernel_lab/launches.h"
#include "process/runner.h"
#include "records/document.h"
#include "schema/field.h"
#include "settings/nsight.h"
#include "tools/gpu/driver.h"
#include "tools/ncu/probe.h"
#include "tools/nsys/probe.h"

namespace profline::kernel_lab {

enum class CaptureState { Ok, Failed, LeftOut };
constexpr auto names(std::type_identity<CaptureState>) {
  using schema::named;
  return std::array{named(CaptureState::Ok, "ok"), named(CaptureState::Failed, "failed"),
                    named(CaptureState::LeftOut, "left_out")};
}

/// `<kernel folder>/capture.json`: the outcome for one kernel.
struct CaptureRecord {
  static constexpr DocumentKind kKind{"kernel_capture", 1};

  std::string folder;
  std::string name;
  std::string regex;
  std::string description;
  CaptureState state = CaptureState::Failed;
  std::string problem;                    ///< why there is no capture; empty: it succeeded
  std::vector<std::string> notes;         ///< what a reader of the numbers must know
  std::vector<std::string> argv;          ///< empty: ncu was not started
  std::optional<std::uint64_t> launches;  ///< that match; absent: not counted
  std::string choice;                     ///< which of them, in words
  std::uint64_t profiled = 0;
  std::vector<std::string> functions;      ///< kernels that were profiled, as ncu spells them
  std::optional<std::string> merged_with;  ///< the report that holds several kernels
  double wall_s = 0;

  bool operator==(const CaptureRecord&) const = default;
};
constexpr auto fields(std::type_identity<CaptureRecord>) {
  using schema::field;
  using R = CaptureRecord;
  return field_list(
      field("folder", &R::folder, "next to command.yaml").required(),
      field("name", &R::name, "of the kernel, as requested").required(),
      field("regex", &R::regex, "what its name had to match").required(),
      field("description", &R::description, "for people").required(),
      field("state", &R::state, "whether there is a capture").required(),
      field("problem", &R::problem, "why there is no capture").required(),
      field("notes", &R::notes, "what a reader of the numbers must know").required(),
      field("argv", &R::argv, "of ncu; empty: it was not started").required(),
      field("launches", &R::launches, "that match; null: not counted").required(),
      field("choice", &R::choice, "which of them were profiled").required(),
      field("profiled", &R::profiled, "launches in the report").required(),
      field("functions", &R::functions, "kernels in the report, as ncu spells them").required(),
      field("merged_with", &R::merged_with, "report of several kernels; null: its own").required(),
      field("wall_s", &R::wall_s, "of the capture and its tables").required());
}

inline constexpr const char* kCaptureFile = "capture.json";

/// `command.yaml`: the request, in the keys that the predecessor's scripts wrote, and more.
struct CommandFile {
  std::string timestamp;
  std::string script = "profline kernels profile";
  std::string version;
  std::string output_dir;
  std::string kernel_source;  ///< `yaml_config`, `single_regex`
  std::optional<std::string> kernel_regex;
  std::optional<std::string> kernel_config;
  std::optional<std::uint64_t> topk;
  std::optional<std::string> preset;
  std::optional<std::uint32_t> launch_skip;  ///< null: chosen by median duration
  std::uint32_t launch_count = 1;
  bool launches_spread = false;
  std::optional<std::string> launch_range;
  bool merge = false;
  std::optional<std::uint64_t> budget_s;
  std::vector<std::string> sections;
  std::vector<std::string> metrics;
  settings::NcuCli ncu_cli;
  std::vector<std::string> launch_command;
  std::string working_dir;
  std::string ncu_version;
};
constexpr auto fields(std::type_identity<CommandFile>) {
  using schema::field;
  using F = CommandFile;
  return field_list(
      field("timestamp", &F::timestamp, "UTC").required(),
      field("script", &F::script, "what wrote this").required(),
      field("version", &F::version, "of profline").required(),
      field("output_dir", &F::output_dir, "this folder").required(),
      field("kernel_source", &F::kernel_source, "yaml_config or single_regex").required(),
      field("kernel_regex", &F::kernel_regex, "of single_regex"),
      field("kernel_config", &F::kernel_config, "of yaml_config"),
      field("topk", &F::topk, "only the first K; null: all"),
      field("preset", &F::preset, "--ncu-config; null: none"),
      field("launch_skip", &F::launch_skip, "null: around the launch of median duration"),
      field("launch_count", &F::launch_count, "launches per kernel").required(),
      field("launches_spread", &F::launches_spread, "evenly over all launches"),
      field("launch_range", &F::launch_range, "FIRST:LAST; null: all"),
      field("merge", &F::merge, "several kernels in one pass"),
      field("budget_s", &F::budget_s, "seconds for all captures; null: no limit"),
      field("sections", &F::sections, "of ncu").required(),
      field("metrics", &F::metrics, "of ncu; empty: those of the sections").required(),
      field("ncu_cli", &F::ncu_cli, "all options of ncu").required(),
      field("launch_command", &F::launch_command, "the program").required(),
      field("working_dir", &F::working_dir, "where it ran").required(),
      field("ncu_version", &F::ncu_version, "of the ncu that captured").required());
}

inline constexpr const char* kCommandFile = "command.yaml";

std::string to_yaml(const CommandFile& file);
Result<CommandFile> parse_command_file(const std::string& text, const std::string& source);

/// The differences between two commands because of which captures of one cannot be used for the
/// other: `launch_command.1: a.py -> b.py`. The requested kernels do not count.
std::vector<std::string> differences(const CommandFile& before, const CommandFile& now);

/// How to find out how often a kernel is launched, before it is profiled.
enum class CountBy {
  Auto,     ///< an nsys capture if nsys is available, else ncu with one counter
  Nsys,     ///< the former
  Ncu,      ///< the latter
  Nothing,  ///< not at all: launches are skipped as requested
};

/// A request of `profline kernels profile`.
struct LabRequest {
  std::vector<WantedKernel> kernels;
  CommandFile command;  ///< to be written; its decisive parts are repeated below
  settings::Ncu ncu;    ///< see capture_settings()
  LaunchRequest launches;
  CountBy count_by = CountBy::Auto;
  std::filesystem::path nsys_report{};  ///< existing capture to count launches in; empty: none
  std::filesystem::path folder;         ///< absolute
  bool force_overwrite = false;         ///< do finished kernels again
  Command program;
};

struct LabTools {
  ncu::Installation ncu;
  std::optional<nsys::Installation> nsys{};
};

struct LabServices {
  ProcessRunner& processes;
  Progress& progress;
  const Clock& clock;
};

/// The outcome: one record per kernel, by rank.
struct LabOutcome {
  std::vector<CaptureRecord> kernels;
  bool was_cancelled = false;
  std::string budget;  ///< how the time was used, in words; empty: no limit was given

  /// Whether nothing failed; what was left out because of the budget did not.
  bool is_complete() const;
};

/// The default folder for captures, `tmp/ncu-profile/20261115-102030` (local time) below `cwd`,
/// with a suffix if that exists.
std::filesystem::path fresh_folder(const Clock& clock, const std::filesystem::path& cwd);

/// Finds ncu by name or path. An Error of kind NotFound if ncu or a GPU is missing.
Result<ncu::Installation> find_ncu(ProcessRunner& processes, const std::string& name,
                                   const Result<gpu::Driver>& driver);
/// Nothing if there is no usable nsys; that is not an Error, because ncu can count launches too.
std::optional<nsys::Installation> find_nsys(ProcessRunner& processes, const std::string& name);

/// Counts launches, chooses among them, profiles kernel after kernel, and makes the tables. Kernels
/// that an earlier run of the same command finished in this folder are kept. An Error if nothing
/// could be started, or if the folder holds captures of another command.
Result<LabOutcome> run_lab(const LabRequest& request, const LabTools& tools,
                           const LabServices& services);

}  // namespace profline::kernel_lab
