#include "workload/model/weight_source.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "inputs/weights/deterministic.h"
#include "workload/model/torch_compat.h"

namespace profline::workload {
namespace {

using Specs = std::map<std::string, weights::TensorSpec, std::less<>>;

Specs specs_by_name(const DeepseekOcrConfig& config) {
  Specs specs;
  for (weights::TensorSpec& spec : weights::tensor_specs(config)) {
    std::string name = spec.name;
    specs.emplace(std::move(name), std::move(spec));
  }
  return specs;
}

const weights::TensorSpec& spec_of(const Specs& specs, std::string_view name) {
  const auto found = specs.find(name);
  PL_ASSERT(found != specs.end(), "the model asks for tensors that its own list names");
  return found->second;
}

at::ScalarType scalar_type(weights::Dtype dtype) {
  switch (dtype) {
    case weights::Dtype::BF16:
      return at::kBFloat16;
    case weights::Dtype::F16:
      return at::kHalf;
    default:
      return at::kFloat;
  }
}

/// Below this a copy's beginning costs more than its bytes.
constexpr std::size_t kStagedBytes = 1U << 16U;

}  // namespace

Result<void> CheckpointWeights::fill(std::string_view name, at::Tensor destination) {
  const weights::Tensor* stored = checkpoint_.find(name);
  if (stored == nullptr) {
    return Error(ErrorKind::NotFound,
                 checkpoint_.source().string() + ": no tensor '" + std::string(name) + "'");
  }
  if (destination.sizes() != at::IntArrayRef(stored->shape)) {
    return Error(ErrorKind::Parse, checkpoint_.source().string() + ": tensor '" +
                                       std::string(name) + "' has shape " +
                                       weights::to_string(stored->shape) + ", the model needs " +
                                       weights::to_string(destination.sizes().vec()));
  }
  if (!weights::is_weight_dtype(stored->dtype)) {
    return Error(ErrorKind::Parse, checkpoint_.source().string() + ": tensor '" +
                                       std::string(name) + "' has dtype " +
                                       std::string(weights::name(stored->dtype)) +
                                       " (F32, F16 and BF16 can be loaded)");
  }
  const bool is_same = scalar_type(stored->dtype) == destination.scalar_type();
  if (is_same && destination.is_cuda() && stored->bytes.size() >= kStagedBytes) {
    staged_.copy(stored->bytes, destination);
    return {};
  }
  std::vector<std::byte> aligned;
  const std::byte* bytes = stored->bytes.data();
  if (!stored->is_aligned()) {
    aligned.assign(stored->bytes.begin(), stored->bytes.end());
    bytes = aligned.data();
  }
  // from_blob takes no pointer to const; nothing writes through this one.
  destination.copy_(at::from_blob(const_cast<std::byte*>(bytes), stored->shape,
                                  at::TensorOptions().dtype(scalar_type(stored->dtype))));
  return {};
}

RandomWeights::RandomWeights(const DeepseekOcrConfig& config, std::uint64_t seed, at::Device device)
    : specs_(specs_by_name(config)), generator_(compat::seeded_generator(device, seed)) {}

Result<void> RandomWeights::fill(std::string_view name, at::Tensor destination) {
  const auto [offset, scale] = weights::spread_of(spec_of(specs_, name));
  destination.uniform_(offset - scale, offset + scale, generator_);
  return {};
}

DeterministicWeights::DeterministicWeights(const DeepseekOcrConfig& config)
    : specs_(specs_by_name(config)) {}

Result<void> DeterministicWeights::fill(std::string_view name, at::Tensor destination) {
  std::vector<float> values(static_cast<std::size_t>(destination.numel()));
  weights::fill(spec_of(specs_, name), values);
  destination.copy_(at::from_blob(values.data(), destination.sizes(), at::kFloat));
  return {};
}

}  // namespace profline::workload
