#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/node.h"

/// Documentation pages generated from the field lists, so that they are always up to date.
namespace profline::settings {

/// A key of `pipeline.nsys` or `pipeline.ncu.ncu_cli`, and the flag of the tool that it becomes.
struct ToolFlag {
  std::string_view key;
  std::string_view flag;  ///< Markdown
};
std::span<const ToolFlag> nsys_flags();
std::span<const ToolFlag> ncu_flags();

/// The flag that a key becomes, looked up by the key's full path and without Markdown; nothing for
/// keys that are not passed to a tool. For `pipeline.nsys` and `pipeline.ncu.ncu_cli` themselves,
/// the flags that profline always passes.
std::optional<std::string> tool_flag(std::string_view key);

/// docs/configuration.md. For keys in `shipped`, its values are shown as defaults: `pipeline.nsys`
/// and `pipeline.ncu` as composed by conf/config.yaml.
std::string configuration_page(const Node& shipped);
/// conf/profiling/README.md
std::string profiling_page(const Node& shipped);

}  // namespace profline::settings
