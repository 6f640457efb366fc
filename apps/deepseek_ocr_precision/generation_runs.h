#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/result.h"
#include "workload/generation/generate.h"
#include "workload/model/weight_source.h"

namespace profline::precision {

/// The weights of a bf16 model with this seed, in whatever dtype the model has: fp32 then holds the
/// same numbers.
class SameRandomWeights final : public workload::WeightSource {
 public:
  SameRandomWeights(const DeepseekOcrConfig& config, std::uint64_t seed, at::Device device)
      : random_(config, seed, device) {}
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  workload::RandomWeights random_;
};

/// The input of the engines: prompts of ids, and the ids that follow regardless of what they would
/// choose.
struct Forced {
  std::vector<std::int64_t> prompt;
  std::vector<std::int64_t> further;
};
std::vector<Forced> random_ids(const DeepseekOcrConfig& config, std::int64_t prompts,
                               std::int64_t length, std::int64_t tokens, std::uint64_t seed);

/// Logits after each prompt and after each further id, [prompts, 1 + tokens, vocabulary] fp32 on
/// the CPU.
at::Tensor forced_logits(workload::Engine& engine, const std::vector<Forced>& ids);

/// ‖logits − reference‖ / ‖reference‖, with one norm over a set of rows: all rows, those after a
/// prompt, those of decode steps, and those of each prompt. A single row says little: one token
/// that goes to another expert decides it.
struct Distance {
  double all = 0;
  double prompts = 0;
  double steps = 0;
  std::vector<double> each;  ///< per prompt, with its steps
  double worst_row = 0;
  std::int64_t same_choice = 0;  ///< rows with the same likeliest id
  bool is_finite = true;
};
Distance distance(const at::Tensor& logits, const at::Tensor& reference);

/// What an engine generated freely, twice, compared with its own logits.
struct FreeRun {
  std::int64_t tokens = 0;
  bool repeats = true;    ///< the same ids the second time
  bool is_finite = true;  ///< all logits along the way
  /// The number of ids, from the first, that the host with its n-gram rule also chooses from the
  /// same logits.
  std::int64_t hosts_too = 0;

  bool passes() const { return repeats && is_finite && hosts_too == tokens; }
};

/// Greedy, with the default n-gram rule and no end before `tokens`.
Result<FreeRun> free_run(workload::Engine& engine, const std::vector<std::int64_t>& prompt,
                         std::int64_t tokens);

}  // namespace profline::precision
