#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "workload/generation/generate.h"
#include "workload/measure/device_clock.h"

namespace profline::bench {

/// The input of one round.
struct Shape {
  std::int64_t page = 1024;  ///< 0: no picture
  std::int64_t tile = 640;
  workload::TileGrid grid;  ///< one by one: no tiles
  std::int64_t text = 8;    ///< ids of the prompt besides BOS and the image's slots
  std::int64_t tokens = 64;
  std::uint32_t ngram = 20;  ///< no_repeat_ngram_size

  bool is_tiled() const { return grid.columns * grid.rows > 1; }
};

using Duration = std::chrono::duration<double, std::milli>;

/// All times of one phase, in the order of the rounds (decode_step: also of the tokens).
struct Phase {
  std::string name;
  std::vector<Duration> times;

  Duration median() const;
};

struct Measured {
  std::int64_t prompt_tokens = 0;
  /// The phases of generation as a run reports them, from the device's clock; and from the host's:
  /// `token`, the time from the first known token to the last divided by their number, and
  /// `generation`, the total. Tokens of the first round, which sees each context for the first
  /// time, are separate.
  std::vector<Phase> phases;
};

/// Generates with fresh random pixels and ids in each round, after `warmup` unmeasured rounds at
/// other lengths.
Result<Measured> measure(workload::Engine& engine, workload::DeviceClock& clock, const Shape& shape,
                         int warmup, int rounds);

}  // namespace profline::bench
