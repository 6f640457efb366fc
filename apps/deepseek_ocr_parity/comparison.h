#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "base/result.h"
#include "inputs/weights/checkpoint.h"

namespace profline::parity {

/// Where every number is compared with the reference; beyond them a run fails.
constexpr double kImageTokensLimit = 2e-4;
constexpr double kLogitsLimit = 1e-3;
/// Ids the reference chose by less than this may differ.
constexpr double kMarginLimit = 1e-3;
/// Relative errors are told of values from here on; smaller ones say nothing.
constexpr double kRelativeFrom = 1e-3;

/// How far a tensor is from the reference.
struct Difference {
  std::string name;
  std::vector<std::int64_t> shape;
  double absolute = 0;
  double relative = 0;
  std::optional<double> limit;  ///< of the absolute one

  bool passes() const { return !limit || absolute <= *limit; }
};

/// The reference's outputs, as fp32 tensors on the CPU.
class Reference {
 public:
  explicit Reference(weights::Checkpoint file) : file_(std::move(file)) {}

  Result<at::Tensor> tensor(const std::string& name) const;
  /// An Error when there is no such tensor or it has another shape. NaN and infinity count as
  /// infinitely far.
  Result<Difference> compare(const std::string& name, const at::Tensor& computed,
                             std::optional<double> limit) const;

 private:
  weights::Checkpoint file_;
};

/// Ids that are not the reference's.
struct IdDifferences {
  std::size_t compared = 0;
  std::size_t excused = 0;         ///< different, but the reference's margin is below the limit
  std::vector<std::string> wrong;  ///< `id 3: 17, the reference 42 (margin 0.1)`
};

/// By how much the likeliest id of each row of logits [n, V] is ahead of the next.
std::vector<double> margins(const at::Tensor& logits);

/// `margins[i]` is what the reference chose ids[i] by.
IdDifferences compare_ids(const std::vector<std::int64_t>& computed,
                          const std::vector<std::int64_t>& reference,
                          const std::vector<double>& margins);

}  // namespace profline::parity
