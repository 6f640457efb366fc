#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/node.h"

namespace profline::config {

/// The steps of a key as OmegaConf takes it apart; dots and brackets may be mixed:
///   `a.b` `a[b]` `[a].b` `[a][b]` -> {a, b}      `.a` -> {"", a}
/// Nothing is refused: a bracket that is never closed is dropped with what follows it up to the
/// next dot or bracket. There is always a step: where nothing would be left, it is the whole key.
std::vector<std::string> split_key(std::string_view key);

/// The number that Python's int() makes of `text` (spaces around it, a sign and single underscores
/// between digits are allowed); what does not fit is the nearest number that does.
std::optional<std::int64_t> list_index(std::string_view text);

/// `key` with one step more: `a` and `b` give `a.b`.
std::string join_key(std::string_view key, std::string_view step);
/// `a` and 3 give `a[3]`.
std::string join_key(std::string_view key, std::size_t index);

}  // namespace profline::config
