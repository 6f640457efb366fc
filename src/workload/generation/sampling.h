#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace profline::workload {

/// How the next token is drawn when it is not simply the likeliest.
struct Sampling {
  double temperature = 1.0;            ///< above 0
  std::optional<std::uint32_t> top_k;  ///< only the so many likeliest
  std::optional<double> top_p;         ///< only the likeliest that reach this share together
  std::uint64_t seed = 0;
};

/// Draws tokens from logits. Its generator and arithmetic are its own: equal logits and seeds give
/// equal tokens on every device and with every libtorch.
class Sampler {
 public:
  explicit Sampler(const Sampling& sampling) : sampling_(sampling), state_(sampling.seed) {}

  /// One id of the vocabulary; −∞ is never drawn, unless all are.
  std::int64_t draw(std::span<const float> logits);

 private:
  double uniform();  // in [0, 1)

  Sampling sampling_;
  std::uint64_t state_;
};

}  // namespace profline::workload
