#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/field.h"

namespace profline::parity {

/// One input of `cases.json`, and the ids the reference generated for it.
struct Case {
  std::string name;
  std::int64_t global_size = 0;
  std::optional<std::vector<std::int64_t>> local;  ///< number of tiles, side of a tile
  std::vector<std::int64_t> grid_wh;               ///< tiles across, tiles down
  std::vector<std::int64_t> ids_before;            ///< of the prompt, before the image's slots
  std::vector<std::int64_t> ids_after;
  std::vector<std::int64_t> greedy_ids;
  std::int64_t seq_len = 0;
};
constexpr auto fields(std::type_identity<Case>) {
  return field_list(
      field("case", &Case::name, "prefix of its tensors").required(),
      field("global_size", &Case::global_size, "side of the page's view").required().at_least(16),
      field("local", &Case::local, "number of tiles and their side; null: none").at_least(1),
      field("grid_wh", &Case::grid_wh, "tiles across and down").required().at_least(1),
      field("ids_before", &Case::ids_before, "prompt before the image").required().at_least(0),
      field("ids_after", &Case::ids_after, "prompt after the image").required().at_least(0),
      field("greedy_ids", &Case::greedy_ids, "what the reference generated").required().at_least(0),
      field("seq_len", &Case::seq_len, "length of the prompt, slots included").required());
}

struct Cases {
  std::vector<Case> cases;
  std::string pattern;
};
constexpr auto fields(std::type_identity<Cases>) {
  return field_list(field("cases", &Cases::cases, "the inputs").required(),
                    field("pattern", &Cases::pattern, "how pixels are made").required());
}

/// The formula of the pixels that this program knows, as the file spells it.
extern const std::string kPattern;

/// An Error names the key that is missing, malformed or contradicts another one.
Result<Cases> load_cases(const std::filesystem::path& path);

}  // namespace profline::parity
