#pragma once

#include <optional>
#include <string_view>

#include "formats/node.h"

namespace profline::summary {

/// The number, whole or not, at a path such as "slo.ttft_ms", if there is one.
inline std::optional<double> number_at(const Node& tree, std::string_view path) {
  const Node* const value = tree.find_path(path);
  if (value == nullptr) return std::nullopt;
  if (value->is_int()) return static_cast<double>(value->as_int());
  return value->is_float() ? std::optional(value->as_float()) : std::nullopt;
}

}  // namespace profline::summary
