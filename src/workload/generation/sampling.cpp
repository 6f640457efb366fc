#include "workload/generation/sampling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

namespace profline::workload {
namespace {

struct Candidate {
  double logit = 0;
  std::int64_t id = 0;
};

/// Likeliest first, the lower id of equals: one order on every machine.
bool likelier(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

std::vector<Candidate> candidates(std::span<const float> logits) {
  std::vector<Candidate> all(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double logit = logits[i];
    all[i] = {std::isnan(logit) ? -std::numeric_limits<double>::infinity() : logit,
              static_cast<std::int64_t>(i)};
  }
  return all;
}

/// Only the `count` likeliest, in order.
void keep_likeliest(std::vector<Candidate>& from, std::size_t count) {
  count = std::min(count, from.size());
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(from.begin(), end, from.end(), likelier);
  from.erase(end, from.end());
}

}  // namespace

double Sampler::uniform() {
  // SplitMix64: the same numbers everywhere, which std's distributions do not promise.
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

std::int64_t Sampler::draw(std::span<const float> logits) {
  std::vector<Candidate> kept = candidates(logits);
  if (sampling_.top_k || sampling_.top_p) {
    keep_likeliest(kept, sampling_.top_k ? *sampling_.top_k : kept.size());
  }
  const double best = std::min_element(kept.begin(), kept.end(), likelier)->logit;
  if (std::isinf(best) && best < 0) return kept.front().id;

  std::vector<double> weights(kept.size());
  std::transform(kept.begin(), kept.end(), weights.begin(), [&](const Candidate& candidate) {
    return std::exp((candidate.logit - best) / sampling_.temperature);
  });
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (sampling_.top_p) {
    const double enough = *sampling_.top_p * total;
    double reached = 0;
    std::size_t count = 0;
    while (count < weights.size() && (count == 0 || reached < enough)) reached += weights[count++];
    weights.resize(count);
    total = reached;
  }

  double left = uniform() * total;
  std::size_t drawn = 0;
  while (drawn + 1 < weights.size() && left >= weights[drawn]) left -= weights[drawn++];
  // Rounding may leave something at the end, where a banned token may stand.
  while (drawn > 0 && weights[drawn] == 0) --drawn;
  return kept[drawn].id;
}

}  // namespace profline::workload
