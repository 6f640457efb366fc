#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "workload/model/deepseek_ocr.h"

namespace profline::bench {

/// What one round consists of.
struct Shape {
  std::int64_t page = 1024;
  std::int64_t tile = 640;
  workload::TileGrid grid;  ///< one by one: no tiles
  std::int64_t text = 8;    ///< ids of the prompt beside BOS and the image's slots
  std::int64_t tokens = 64;

  bool is_tiled() const { return grid.columns * grid.rows > 1; }
};

using Duration = std::chrono::duration<double, std::milli>;

/// All times of one stage, in the order of the rounds (decode: of the tokens too).
struct Stage {
  std::string name;
  std::vector<Duration> times;

  Duration median() const;
};

struct Measured {
  std::int64_t prompt_tokens = 0;
  /// tiles: sam, clip, projector; page: the same; prefill; decode (one time a token), apart in the
  /// first round, which sees each length of the context for the first time.
  std::vector<Stage> stages;
};

/// Runs the stages with the device idle before and after each, `warmup` rounds unmeasured first.
Measured measure(const workload::DeepseekOcr& model, const Shape& shape, int warmup, int rounds);

}  // namespace profline::bench
