#pragma once

#include <cstdint>

/// The largest counts that the config takes: far above what anybody measures, and small enough that
/// no value makes planning or reading slow or large. docs/configuration.md has them key by key.
namespace profline::settings {

constexpr std::uint32_t kMostPixelsASide = 16'384;     ///< of what a model is given
constexpr std::uint32_t kMostPictureSide = 1'000'000;  ///< in pixels, of a file
constexpr std::uint32_t kMostTiles = 1'000;
constexpr std::uint32_t kMostTokens = 1'048'576;
constexpr std::uint32_t kMostImages = 1'000'000;  ///< requests of one run, too
constexpr std::uint32_t kMostPages = 100'000;     ///< drawn by the program
constexpr std::uint32_t kMostRounds = 10'000;     ///< epochs, warm-ups
constexpr std::uint32_t kMostLaunches = 1'000'000'000;
constexpr std::uint32_t kMostCaptures = 1'000'000;  ///< of one range
constexpr std::uint32_t kMostThreads = 4'096;
constexpr std::uint32_t kMostInABatch = 65'536;

}  // namespace profline::settings
