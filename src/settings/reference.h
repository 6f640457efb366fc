#pragma once

#include <span>
#include <string>
#include <string_view>

/// Pages for people, made from the field lists so that they cannot lag behind.
namespace profline::settings {

/// A key of `pipeline.nsys` or `pipeline.ncu.ncu_cli`, and the flag of the tool that it becomes.
struct ToolFlag {
  std::string_view key;
  std::string_view flag;  ///< Markdown
};
std::span<const ToolFlag> nsys_flags();
std::span<const ToolFlag> ncu_flags();

/// docs/configuration.md
std::string configuration_page();
/// conf/profiling/README.md
std::string profiling_page();

}  // namespace profline::settings
