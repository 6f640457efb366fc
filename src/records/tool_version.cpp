#include "records/tool_version.h"

#include <array>
#include <charconv>

namespace profline {
namespace {

/// Removes the number at the start of `text` and returns it.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<ToolVersion> version_at(std::string_view text) {
  std::array<int, 3> parts{};
  std::size_t count = 0;
  while (count < parts.size()) {
    const std::optional<int> number = take_number(text);
    if (!number || *number < 0) break;
    parts[count++] = *number;
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  if (count < 2) return std::nullopt;
  return ToolVersion{parts[0], parts[1], parts[2]};
}

}  // namespace

std::string ToolVersion::to_string() const {
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

std::optional<ToolVersion> find_version(std::string_view text, std::string_view marker) {
  for (std::size_t at = text.find(marker); at != std::string_view::npos;
       at = text.find(marker, at + 1)) {
    std::string_view rest = text.substr(at + marker.size());
    const std::size_t word = rest.find_first_not_of(" \t");
    if (word == std::string_view::npos) continue;
    if (const auto version = version_at(rest.substr(word))) return version;
  }
  return std::nullopt;
}

}  // namespace profline
