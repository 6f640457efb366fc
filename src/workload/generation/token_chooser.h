#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <ATen/ATen.h>

namespace profline::workload {

/// How the next token is drawn if not simply the likeliest.
struct Sampling {
  double temperature = 1.0;            ///< positive
  std::optional<std::uint32_t> top_k;  ///< only the k likeliest
  std::optional<double> top_p;         ///< only the likeliest that together reach this share
  std::uint64_t seed = 0;
};

/// Draws tokens from logits with its own generator and arithmetic: equal logits and seeds give
/// equal tokens on every device and with every libtorch.
class Sampler {
 public:
  explicit Sampler(const Sampling& sampling) : sampling_(sampling), state_(sampling.seed) {}

  /// One id of the vocabulary; −∞ is never drawn unless all are −∞.
  std::int64_t draw(std::span<const float> logits);

 private:
  double uniform();  // in [0, 1)

  Sampling sampling_;
  std::uint64_t state_;
};

/// The rule that no n-gram occurs twice in prompt and output together: after n−1 tokens that
/// occurred before, what followed them then is banned. O(n) per token, however long the history.
class NgramRule {
 public:
  /// A size of 0 bans nothing.
  NgramRule(std::uint32_t size, std::span<const std::int64_t> prompt);

  void add(std::int64_t id);
  /// Ids that must not come next, ascending.
  std::vector<std::int64_t> banned() const;

 private:
  std::uint64_t tail_hash(std::size_t end) const;
  bool equal_tails(std::size_t a, std::size_t b) const;

  std::size_t size_;
  std::vector<std::int64_t> history_;
  // From a hash of n−1 tokens to the positions right after their occurrences.
  std::unordered_multimap<std::uint64_t, std::size_t> followers_;
};

struct GenerationOptions {
  std::int64_t max_new_tokens = 8192;      ///< at least 1
  std::uint32_t no_repeat_ngram_size = 0;  ///< over prompt and output; 0: off
  std::optional<Sampling> sampling;        ///< absent: the likeliest token, the lowest id of equals
  std::optional<std::int64_t> eos_id;      ///< absent: always max_new_tokens
  std::function<bool()> should_stop{};     ///< called after each token; absent: never stop
};

/// The next token, both where the decoder needs it and where the host can read it.
struct Choice {
  at::Tensor token;  // [1] int64 on the device
  std::int64_t id = 0;
};

/// The same for the sequences of a batch.
struct Choices {
  at::Tensor tokens;  // [B] int64 on the device
  std::vector<std::int64_t> ids;
};

/// From logits to the next token: the n-gram rule, then the likeliest or a drawn one. If greedy,
/// the choice is made on the device and one number comes back.
class TokenChooser {
 public:
  TokenChooser(const GenerationOptions& options, std::span<const std::int64_t> prompt);

  /// logits [1, vocabulary] fp32; banned ones are overwritten.
  Choice choose(const at::Tensor& logits);
  /// A token for each sequence, by its own chooser: logits [B, vocabulary], otherwise the same.
  static Choices choose_each(std::span<TokenChooser> choosers, const at::Tensor& logits);

 private:
  NgramRule ngrams_;
  std::optional<Sampler> sampler_;
};

}  // namespace profline::workload
