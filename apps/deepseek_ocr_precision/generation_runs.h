#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/result.h"
#include "workload/generation/generate.h"
#include "workload/model/weight_source.h"

namespace profline::precision {

/// The weights a bf16 model with this seed has, in whatever dtype the model is: fp32 then holds the
/// same numbers.
class SameRandomWeights final : public workload::WeightSource {
 public:
  SameRandomWeights(const DeepseekOcrConfig& config, std::uint64_t seed, at::Device device)
      : random_(config, seed, device) {}
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  workload::RandomWeights random_;
};

/// What the engines are given: prompts of ids, and the ids that follow whatever they would choose.
struct Forced {
  std::vector<std::int64_t> prompt;
  std::vector<std::int64_t> further;
};
std::vector<Forced> random_ids(const DeepseekOcrConfig& config, std::int64_t prompts,
                               std::int64_t length, std::int64_t tokens, std::uint64_t seed);

/// Logits behind each prompt and behind each further id, [prompts, 1 + tokens, vocabulary] fp32 on
/// the CPU.
at::Tensor forced_logits(workload::Engine& engine, const std::vector<Forced>& ids);

/// ‖logits − reference‖ / ‖reference‖, one norm over the rows meant: over all of them, over those
/// behind a prompt, over those of decode steps, and over what each prompt gave. A row alone says
/// little: one token that goes to another expert decides it.
struct Distance {
  double all = 0;
  double prompts = 0;
  double steps = 0;
  std::vector<double> each;  ///< of a prompt and its steps
  double worst_row = 0;
  std::int64_t same_choice = 0;  ///< rows with the same likeliest id
  bool is_finite = true;
};
Distance distance(const at::Tensor& logits, const at::Tensor& reference);

/// What an engine generated twice by itself, held against its own logits.
struct FreeRun {
  std::int64_t tokens = 0;
  bool repeats = true;    ///< the same ids the second time
  bool is_finite = true;  ///< all logits on the way
  /// Ids in a row, from the first, that the host with its n-gram rule chooses from the same logits.
  std::int64_t hosts_too = 0;

  bool passes() const { return repeats && is_finite && hosts_too == tokens; }
};

/// Greedy, with the default n-gram rule and no end before `tokens`.
Result<FreeRun> free_run(workload::Engine& engine, const std::vector<std::int64_t>& prompt,
                         std::int64_t tokens);

}  // namespace profline::precision
