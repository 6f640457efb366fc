#pragma once

#include <filesystem>
#include <string>

namespace profline::e2e {

/// A finished run to compare or list, as profline leaves it.
struct MadeRun {
  std::string id = "r1";
  std::string experiment = "demo";
  std::string state = "ok";
  std::string started = "2026-11-15T10:00:00.000Z";
  std::string device = "cuda:0";
  std::string commit{};
  double token_ms = 2;      ///< of an image, on average
  double deviation = 0.01;  ///< of images, relative
  int images = 40;
  int seed = 1;
  std::string digest = "x";  ///< of every image
  /// One step of every image takes this many times as long.
  double stall = 1;
  /// A user's program with this wall time instead of a model; 0: a model.
  double wall_ms = 0;

  void write(const std::filesystem::path& folder) const;
};

}  // namespace profline::e2e
