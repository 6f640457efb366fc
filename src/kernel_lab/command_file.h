#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/field.h"
#include "settings/ncu.h"

namespace profline::kernel_lab {

/// `command.yaml`: what was asked for, in the keys that the predecessor's scripts wrote, and more.
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
      field("topk", &F::topk, "only the first; null: all"),
      field("preset", &F::preset, "--ncu-config; null: none"),
      field("launch_skip", &F::launch_skip, "null: around the launch of median duration"),
      field("launch_count", &F::launch_count, "launches a kernel").required(),
      field("launches_spread", &F::launches_spread, "evenly over all there are"),
      field("launch_range", &F::launch_range, "FIRST:LAST; null: all"),
      field("merge", &F::merge, "several kernels in one pass"),
      field("sections", &F::sections, "of ncu").required(),
      field("metrics", &F::metrics, "of ncu; empty: those of the sections").required(),
      field("ncu_cli", &F::ncu_cli, "all that ncu was told").required(),
      field("launch_command", &F::launch_command, "the program").required(),
      field("working_dir", &F::working_dir, "where it ran").required(),
      field("ncu_version", &F::ncu_version, "of the ncu that captured").required());
}

inline constexpr const char* kCommandFile = "command.yaml";

std::string to_yaml(const CommandFile& file);
Result<CommandFile> parse_command_file(const std::string& text, const std::string& source);

/// In what two commands differ that captures of the one are none of the other:
/// `launch_command.1: a.py -> b.py`. Which kernels were asked for does not count.
std::vector<std::string> differences(const CommandFile& before, const CommandFile& now);

}  // namespace profline::kernel_lab
