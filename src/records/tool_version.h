#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace profline {

/// The version of an external tool, as far as its behaviour depends on it.
struct ToolVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;

  auto operator<=>(const ToolVersion&) const = default;
  std::string to_string() const;  ///< "2025.3.1"
};

/// The first `N.N[.N]` that follows `marker` and blanks in `text`, if any.
///   find_version("NVIDIA Nsight Systems version 2023.4.4.54-234433681190v0", "version")
std::optional<ToolVersion> find_version(std::string_view text, std::string_view marker);

}  // namespace profline
