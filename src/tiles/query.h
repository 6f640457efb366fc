#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tiles/index.h"

namespace profline::tiles {

/// A question about a timeline, as it stands after the `?` of a URL: docs/formats/tiles.md lists
/// the parameters of each.
struct Query {
  enum class What { Capture, Window, Tile, Totals, Find, Event };

  What what = What::Capture;
  std::optional<std::vector<std::uint32_t>> lanes;  ///< of a window, totals or find; absent: all
  std::uint32_t depths = 64;                        ///< of a window: rows of each lane
  Window window;                                    ///< of a window, totals or find
  bool whole = false;                               ///< totals or find without a window
  std::uint32_t pixels = 0;                         ///< of a window
  std::uint32_t limit = 20;                         ///< of totals: names of each kind
  std::uint32_t lane = 0;                           ///< of a tile
  std::uint32_t level = 0;                          ///< of a tile
  std::int64_t index = 0;                           ///< of a tile
  std::string text;                                 ///< of find: part of the name, in any case
  std::optional<std::uint32_t> name;                ///< of find, instead: the name's number
  std::int64_t at_ns = -1;                          ///< of find
  Index::Direction direction = Index::Direction::Next;
  EventId id;  ///< of an event

  bool operator==(const Query&) const = default;
};

inline constexpr std::uint32_t kMostPixels = 16384;
/// A tile is as many bins wide.
inline constexpr std::uint32_t kBinsOfTile = 1024;

/// Reads a query, percent-encoded. An Error of kind Config names the parameter: one that is
/// unknown, missing, given twice or out of range.
Result<Query> parse_query(std::string_view text);

/// The query in one spelling, which parse_query() reads back.
std::string to_text(const Query& query);

}  // namespace profline::tiles
