#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/node.h"

/// Pages for people, made from the field lists so that they cannot lag behind.
namespace profline::settings {

/// A key of `pipeline.nsys` or `pipeline.ncu.ncu_cli`, and the flag of the tool that it becomes.
struct ToolFlag {
  std::string_view key;
  std::string_view flag;  ///< Markdown
};
std::span<const ToolFlag> nsys_flags();
std::span<const ToolFlag> ncu_flags();

/// The flag that a key becomes, by the key's whole path and without Markdown; nothing for keys that
/// are not passed to a tool. `pipeline.nsys` and `pipeline.ncu.ncu_cli` themselves have what
/// profline passes whatever the config says.
std::optional<std::string> tool_flag(std::string_view key);

/// docs/configuration.md. Of keys that `shipped` has, its values are the defaults that are shown:
/// `pipeline.nsys` and `pipeline.ncu` as conf/config.yaml composes them.
std::string configuration_page(const Node& shipped);
/// conf/profiling/README.md
std::string profiling_page(const Node& shipped);

}  // namespace profline::settings
