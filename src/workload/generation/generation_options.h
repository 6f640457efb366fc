#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "workload/generation/sampling.h"

namespace profline::workload {

struct GenerationOptions {
  std::int64_t max_new_tokens = 8192;      ///< at least 1
  std::uint32_t no_repeat_ngram_size = 0;  ///< over prompt and output; 0: off
  std::optional<Sampling> sampling;        ///< none: the likeliest token, the lowest id of equals
  std::optional<std::int64_t> eos_id;      ///< none: always max_new_tokens
  std::function<bool()> should_stop{};     ///< asked after each token; none: never
};

}  // namespace profline::workload
