#include "exhibits.h"

#include <cstdint>
#include <utility>

#include <ATen/Context.h>

namespace profline::zoo {
namespace {

constexpr std::uint64_t kSeed = 7;

using Run = std::function<at::Tensor()>;

class Collection {
 public:
  explicit Collection(const at::Device& device) : device_(device) {}

  at::Tensor random(at::IntArrayRef sizes, at::ScalarType dtype = at::kBFloat16) const {
    return at::randn(sizes, at::TensorOptions(device_)).to(dtype);
  }
  at::Tensor indices(std::int64_t below, at::IntArrayRef sizes) const {
    return at::randint(below, sizes, at::TensorOptions(device_).dtype(at::kLong));
  }
  void add(std::string name, Run run) { exhibits.push_back({std::move(name), std::move(run)}); }
  /// For work that waits for the GPU, or uses it in ways that a CUDA graph cannot capture.
  void add_eager(std::string name, Run run) {
    exhibits.push_back({std::move(name), std::move(run), false});
  }

  std::vector<Exhibit> exhibits;

 private:
  at::Device device_;
};

void add_products(Collection& zoo) {
  const at::Tensor a = zoo.random({2048, 2048});
  const at::Tensor row = zoo.random({1, 2048});
  const at::Tensor few = zoo.random({17, 2048});
  const at::Tensor bias = zoo.random({2048});
  zoo.add("gemm_bf16", [=] { return at::mm(a, a); });
  zoo.add("gemm_bf16_transposed", [=] { return at::mm(a, a.t()); });
  zoo.add("gemm_bf16_few_rows", [=] { return at::mm(few, a.t()); });
  zoo.add("gemm_bf16_one_row", [=] { return at::mm(row, a.t()); });
  zoo.add("linear_bias", [=] { return at::addmm(bias, a, a.t()); });
  zoo.add("linear_gelu", [=] { return at::_addmm_activation(bias, a, a, 1, 1, true); });
  zoo.add("gemv_bf16", [=] { return at::mv(a, bias); });

  const at::Tensor half = zoo.random({1024, 1024}, at::kHalf);
  zoo.add("gemm_fp16", [=] { return at::mm(half, half.t()); });
  const at::Tensor wide = zoo.random({1024, 1024}, at::kFloat);
  zoo.add("gemm_fp32", [=] { return at::mm(wide, wide); });
  zoo.add("gemv_fp32", [=] { return at::mv(wide, wide.select(0, 0)); });
  zoo.add("dot_fp32", [=] { return at::dot(wide.view(-1), wide.view(-1)); });
  const at::Tensor precise = zoo.random({512, 512}, at::kDouble);
  zoo.add("gemm_fp64", [=] { return at::mm(precise, precise); });
  const at::Tensor batch = zoo.random({32, 257, 64});
  zoo.add("gemm_batched", [=] { return at::bmm(batch, batch.transpose(1, 2)); });
  zoo.add("gemm_batched_small",
          [=] { return at::bmm(batch.slice(1, 0, 16), batch.slice(1, 0, 16).transpose(1, 2)); });
  const at::Tensor complex = zoo.random({256, 256}, at::kComplexFloat);
  zoo.add("gemm_complex", [=] { return at::mm(complex, complex); });
}

void add_attention(Collection& zoo) {
  const at::Tensor q = zoo.random({1, 16, 1024, 64});
  const at::Tensor last = zoo.random({1, 16, 1, 64});
  const at::Tensor wide = zoo.random({1, 8, 512, 64}, at::kFloat);
  const at::Tensor mask = zoo.random({1, 1, 1024, 1024});
  zoo.add("attention_flash",
          [=] { return at::scaled_dot_product_attention(q, q, q, {}, 0.0, true); });
  zoo.add("attention_decode", [=] { return at::scaled_dot_product_attention(last, q, q); });
  zoo.add("attention_efficient",
          [=] { return at::scaled_dot_product_attention(wide, wide, wide, {}, 0.0, true); });
  zoo.add("attention_masked", [=] { return at::scaled_dot_product_attention(q, q, q, mask); });
  zoo.add("attention_cudnn", [=] {
    auto& context = at::globalContext();
    context.setSDPUseFlash(false);
    context.setSDPUseMemEfficient(false);
    context.setSDPUseCuDNN(true);
    const at::Tensor out = at::scaled_dot_product_attention(q, q, q, {}, 0.0, true);
    context.setSDPUseCuDNN(false);
    context.setSDPUseMemEfficient(true);
    context.setSDPUseFlash(true);
    return out;
  });
}

void add_elementwise(Collection& zoo) {
  const at::Tensor x = zoo.random({4096, 1024});
  const at::Tensor y = zoo.random({4096, 1024});
  const at::Tensor f = zoo.random({1024, 1024}, at::kFloat);
  zoo.add("add", [=] { return x + y; });
  zoo.add("add_broadcast", [=] { return x + y.select(0, 0); });
  zoo.add("add_transposed", [=] { return f + f.t(); });
  zoo.add("mul_scalar", [=] { return x * 2.5; });
  zoo.add("div", [=] { return f / f; });
  zoo.add("gelu", [=] { return at::gelu(x); });
  zoo.add("silu", [=] { return at::silu(x); });
  zoo.add("sigmoid", [=] { return at::sigmoid(f); });
  zoo.add("exp", [=] { return at::exp(f); });
  zoo.add("rsqrt", [=] { return at::rsqrt(f); });
  zoo.add("pow", [=] { return at::pow(f, 3.0); });
  zoo.add("sin", [=] { return at::sin(f); });
  zoo.add("clamp", [=] { return at::clamp(f, -1.0, 1.0); });
  zoo.add("compare", [=] { return f > 0.0; });
  zoo.add("where", [=] { return at::where(f > 0.5, f, -f); });
  zoo.add("masked_fill", [=] { return at::masked_fill(f, f < 0.0, 0.0); });
  zoo.add("to_fp32", [=] { return x.to(at::kFloat); });
  zoo.add("to_int", [=] { return f.to(at::kInt); });
  zoo.add("bitwise", [=] { return f.to(at::kInt).bitwise_and(255); });
  zoo.add("triangle", [=] { return at::tril(f); });
  zoo.add("fill", [=] { return at::full_like(f, 3.0); });
  zoo.add("arange", [=] { return at::arange(100000, f.options()); });
  zoo.add("random", [=] { return at::randn_like(f); });
  zoo.add("dropout", [=] { return at::dropout(f, 0.5, true); });
  zoo.add("foreach", [=] { return at::_foreach_add({f, f}, {f, f})[0]; });
}

void add_reductions(Collection& zoo) {
  const at::Tensor f = zoo.random({1024, 1024}, at::kFloat);
  const at::Tensor x = zoo.random({4096, 1024});
  zoo.add("sum_rows", [=] { return x.sum(-1); });
  zoo.add("sum_columns", [=] { return f.sum(0); });
  zoo.add("sum_all", [=] { return f.sum(); });
  zoo.add("mean", [=] { return x.mean(-1); });
  zoo.add("max", [=] { return std::get<0>(f.max(-1)); });
  zoo.add("argmax", [=] { return x.argmax(-1); });
  zoo.add("variance", [=] { return f.var(-1); });
  zoo.add("norm", [=] { return f.norm(); });
  zoo.add("any", [=] { return (f > 4.0).any(); });
  zoo.add("softmax_short", [=] { return at::softmax(f, -1); });
  zoo.add("softmax_long", [=] { return at::softmax(x.view({128, -1}), -1, at::kFloat); });
  zoo.add("log_softmax", [=] { return at::log_softmax(f, -1); });
  zoo.add("softmax_columns", [=] { return at::softmax(f, 0); });
  const at::Tensor weight = zoo.random({1024});
  zoo.add("layer_norm", [=] { return at::layer_norm(x, {1024}, weight, weight); });
  zoo.add("layer_norm_fp32", [=] { return at::layer_norm(f, {1024}); });
  zoo.add("rms_norm", [=] { return at::rms_norm(x, {1024}, weight, 1e-6); });
  zoo.add("group_norm", [=] { return at::group_norm(f.view({8, 32, 64, 64}), 8); });
  zoo.add("batch_norm", [=] {
    return at::batch_norm(f.view({8, 32, 64, 64}), {}, {}, {}, {}, true, 0.1, 1e-5, false);
  });
  zoo.add("cumsum", [=] { return at::cumsum(f, -1); });
  zoo.add("cumsum_one_row", [=] { return at::cumsum(f.view(-1), 0); });
  zoo.add("cumprod", [=] { return at::cumprod(f, 0); });
}

void add_selection(Collection& zoo) {
  const at::Tensor f = zoo.random({1024, 1024}, at::kFloat);
  const at::Tensor table = zoo.random({32000, 512});
  const at::Tensor rows = zoo.indices(1024, {512});
  const at::Tensor places = zoo.indices(1024, {1024, 64});
  const at::Tensor expert_ends = at::arange(64, 513, 64, rows.options().dtype(at::kInt));
  const at::Tensor experts = zoo.random({8, 1024, 1024});
  const at::Tensor routed = zoo.random({512, 1024});
  zoo.add("grouped_gemm",
          [=] { return at::_grouped_mm(routed, experts.transpose(1, 2), expert_ends); });
  zoo.add("topk_few", [=] { return std::get<0>(f.topk(6)); });
  zoo.add("topk_long", [=] { return std::get<0>(f.view(-1).topk(50)); });
  zoo.add("sort_rows", [=] { return std::get<0>(f.sort(-1)); });
  zoo.add("sort_long", [=] { return std::get<0>(f.view(-1).sort()); });
  zoo.add("embedding", [=] { return at::embedding(table, rows); });
  zoo.add("index_select", [=] { return at::index_select(f, 0, rows); });
  zoo.add("index", [=] { return f.index({rows}); });
  zoo.add("gather", [=] { return at::gather(f, 1, places); });
  zoo.add("scatter_add", [=] {
    return at::scatter_add(f, 1, places, at::ones({1024, 64}, f.options()));
  });
  zoo.add("index_add", [=] { return at::index_add(f, 0, rows, f.slice(0, 0, 512)); });
  zoo.add("index_put",
          [=] { return at::index_put(f, {rows}, f.slice(0, 0, 512), /*accumulate=*/true); });
  zoo.add("bincount_sized", [=] { return at::histc(f, 64, -4, 4); });
  zoo.add("concatenate", [=] { return at::cat({f, f, f}, 1); });
  zoo.add("flip", [=] { return f.flip({0}); });
  zoo.add("roll", [=] { return f.roll(3, 1); });
  zoo.add_eager("nonzero", [=] { return at::nonzero(f > 1.0); });
  zoo.add_eager("unique", [=] { return std::get<0>(at::_unique2(rows)); });
  zoo.add_eager("multinomial", [=] { return at::multinomial(at::softmax(f, -1), 1); });
}

void add_images(Collection& zoo) {
  const at::Tensor page = zoo.random({1, 3, 512, 512});
  const at::Tensor patch = zoo.random({256, 3, 16, 16});
  const at::Tensor features = zoo.random({1, 64, 64, 64}, at::kFloat);
  const at::Tensor filter = zoo.random({64, 64, 3, 3}, at::kFloat);
  const at::Tensor depthwise = zoo.random({64, 1, 3, 3}, at::kFloat);
  zoo.add("conv_patch", [=] { return at::conv2d(page, patch, {}, 16); });
  zoo.add("conv_3x3", [=] { return at::conv2d(features, filter, {}, 1, 1); });
  zoo.add("conv_depthwise", [=] { return at::conv2d(features, depthwise, {}, 1, 1, 1, 64); });
  zoo.add("max_pool", [=] { return at::max_pool2d(features, 2); });
  zoo.add("average_pool", [=] { return at::avg_pool2d(features, 2); });
  zoo.add("bilinear", [=] { return at::upsample_bilinear2d(features, {96, 96}, false); });
  zoo.add("bicubic", [=] { return at::upsample_bicubic2d(features, {96, 96}, false); });
  zoo.add("pad", [=] { return at::reflection_pad2d(features, {1, 1, 1, 1}); });
  zoo.add_eager("fft", [=] { return at::real(at::fft_fft2(features)); });
}

void add_copies(Collection& zoo) {
  const at::Tensor f = zoo.random({1024, 1024}, at::kFloat);
  const at::Tensor target = at::empty_like(f);
  const at::Tensor host = at::randn({1024, 1024});
  zoo.add("copy_on_device", [=] { return target.copy_(f); });
  zoo.add("zeros", [=] { return at::zeros_like(f); });
  zoo.add("transposed_copy", [=] { return f.t().contiguous(); });
  zoo.add_eager("to_device", [=] { return host.to(f.device()); });
  zoo.add_eager("to_host", [=] { return f.cpu(); });
}

}  // namespace

std::vector<Exhibit> all_exhibits(const at::Device& device) {
  at::manual_seed(kSeed);
  at::globalContext().setSDPUseCuDNN(false);  // otherwise it is chosen wherever possible
  Collection zoo(device);
  add_products(zoo);
  add_attention(zoo);
  add_elementwise(zoo);
  add_reductions(zoo);
  add_selection(zoo);
  add_images(zoo);
  add_copies(zoo);
  return std::move(zoo.exhibits);
}

}  // namespace profline::zoo
