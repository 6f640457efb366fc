#include "workload/dummy/shallow_resnet.h"

#include <cmath>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include "records/range_use.h"

namespace profline::workload {
namespace {

constexpr std::int64_t kKernel = 3;

/// Values scaled so that activations keep their magnitude (He), drawn on the CPU so that every
/// device has the same ones.
class Weights {
 public:
  Weights(const at::TensorOptions& options, std::uint64_t seed)
      : options_(options), generator_(at::detail::createCPUGenerator(seed)) {}

  at::Tensor draw(at::IntArrayRef shape) {
    std::int64_t fan_in = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
    const at::Tensor values = at::randn(shape, generator_, at::TensorOptions(at::kFloat));
    return (values * std::sqrt(2.0 / static_cast<double>(fan_in))).to(options_);
  }
  at::Tensor constant(double value, std::int64_t size) const {
    return at::full({size}, value, options_);
  }

 private:
  at::TensorOptions options_;
  at::Generator generator_;
};

}  // namespace

at::Tensor ShallowResnet::Convolution::operator()(const at::Tensor& x) const {
  const at::Tensor y = at::conv2d(x, weight, at::Tensor(), /*stride=*/1, /*padding=*/1);
  return at::batch_norm(y, scale, shift, mean, variance, /*training=*/false, /*momentum=*/0.1,
                        /*eps=*/1e-5, /*cudnn_enabled=*/true);
}

ShallowResnet::ShallowResnet(const at::TensorOptions& options, std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  Weights weights(options, seed);
  const auto convolution = [&](std::int64_t inputs) {
    return Convolution{weights.draw({kChannels, inputs, kKernel, kKernel}),
                       weights.constant(1, kChannels), weights.constant(0, kChannels),
                       weights.constant(0, kChannels), weights.constant(1, kChannels)};
  };
  stem_ = convolution(3);
  for (std::int64_t i = 0; i < kBlocks; ++i) {
    Convolution conv1 = convolution(kChannels);
    blocks_.push_back({std::move(conv1), convolution(kChannels)});
  }
  head_weight_ = weights.draw({kClasses, kChannels});
  head_bias_ = weights.constant(0, kClasses);
}

at::Tensor ShallowResnet::forward(const at::Tensor& images, Scopes& scopes) const {
  const at::NoGradGuard no_grad;
  at::Tensor x;
  {
    const Scope part(scopes, shallow_resnet::kStem);
    x = at::relu(stem_(images));
  }
  {
    const Scope part(scopes, shallow_resnet::kResidual);
    for (const Block& block : blocks_) {
      at::Tensor y;
      {
        const Scope conv1(scopes, shallow_resnet::kConv1);
        y = at::relu(block.conv1(x));
      }
      {
        const Scope conv2(scopes, shallow_resnet::kConv2);
        y = block.conv2(y);
      }
      x = at::relu(x + y);
    }
  }
  const Scope part(scopes, shallow_resnet::kHead);
  return at::linear(x.mean({2, 3}), head_weight_, head_bias_);
}

}  // namespace profline::workload
