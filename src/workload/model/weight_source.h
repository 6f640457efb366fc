#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <ATen/ATen.h>

#include "base/result.h"
#include "inputs/weights/checkpoint.h"
#include "inputs/weights/tensor_specs.h"
#include "records/deepseek_ocr_config.h"
#include "workload/model/staged_copy.h"

namespace profline::workload {

/// Gives the model's tensors their values. The model allocates them once, on its device and in its
/// dtype, several of a checkpoint's tensors in one of its own (all experts of a layer, q beside k
/// and v); so values are written into place and nothing exists twice.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  /// Writes the tensor `name` into `destination`, whose shape is the one the model expects.
  virtual Result<void> fill(std::string_view name, at::Tensor destination) = 0;
};

/// Values from files.
class CheckpointWeights : public WeightSource {
 public:
  /// `checkpoint` outlives this.
  explicit CheckpointWeights(const weights::Checkpoint& checkpoint) : checkpoint_(checkpoint) {}
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  const weights::Checkpoint& checkpoint_;
  StagedCopy staged_;
};

/// Random values made on the device from a seed, spread so that activations stay sane: for
/// profiling at full size without a download. The same device and libtorch give the same values
/// again.
class RandomWeights : public WeightSource {
 public:
  RandomWeights(const DeepseekOcrConfig& config, std::uint64_t seed, at::Device device);
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  std::map<std::string, weights::TensorSpec, std::less<>> specs_;
  at::Generator generator_;
};

/// The values that follow from a tensor's name and nothing else, the same on every machine: what
/// the tiny model of tests and demonstrations has.
class DeterministicWeights : public WeightSource {
 public:
  explicit DeterministicWeights(const DeepseekOcrConfig& config);
  Result<void> fill(std::string_view name, at::Tensor destination) override;

 private:
  std::map<std::string, weights::TensorSpec, std::less<>> specs_;
};

/// Leaves all tensors as they are: for the meta device, where they have shapes and no values.
class NoWeights : public WeightSource {
 public:
  Result<void> fill(std::string_view, at::Tensor) override { return {}; }
};

}  // namespace profline::workload
