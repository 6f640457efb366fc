

#include <cstddef>
#include <string>
#include <vector>

#include <ATen/cuda/CUDAContext.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "workload/fast/internal/cannot_run.h"
#include "workload/fast/internal/runners.h"
#include "workload/fast/kernels/decode_step.h"
#include "workload/fast/open_engine.h"
#include "workload/torch_runtime.h"

namespace profline::workload::fast {
namespace {

/// A graph keeps its memory; beyond this many shapes all are discarded.
constexpr std::size_t kMostEntries = 32;

}  // namespace

void GraphCache::capture(Entry& entry, const std::vector<at::Tensor>& inputs, const Body& body) {
  for (const at::Tensor& input : inputs) entry.inputs.push_back(input.clone());
  const at::DeviceIndex device = inputs.front().device().index();
  at::cuda::getCurrentCUDAStream(device).synchronize();
  auto graph = std::make_unique<at::cuda::CUDAGraph>();
  const at::cuda::CUDAStream aside = at::cuda::getStreamFromPool(/*isHighPriority=*/false, device);
  const c10::cuda::CUDAStreamGuard guard(aside);
  body(entry.inputs);  // libraries initialise themselves for this stream here, not during capture
  aside.synchronize();
  graph->capture_begin(pool_);
  entry.output = body(entry.inputs);
  graph->capture_end();
  entry.graph = std::move(graph);
  ++captured_;
}

at::Tensor GraphCache::run(const std::string& key, const std::vector<at::Tensor>& inputs,
                           const Body& body) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (entries_.size() >= kMostEntries) clear();
    entries_.try_emplace(key);
    return body(inputs);
  }
  Entry& entry = found->second;
  if (!entry.graph) capture(entry, inputs, body);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].data_ptr() != entry.inputs[i].data_ptr()) entry.inputs[i].copy_(inputs[i]);
  }
  entry.graph->replay();
  return entry.output;
}

}  // namespace profline::workload::fast

namespace profline::workload {
namespace {

constexpr int kOldestMajor = 8;

class FastEngine final : public Engine {
 public:
  FastEngine(const DeepseekOcr& model, fast::Stored stored)
      : model_(model), vision_(model, stored), prefill_(model, stored), runner_(model, stored) {}

  std::string_view name() const override { return "fast"; }
  const DeepseekOcr& model() const override { return model_; }
  at::Tensor encode_image(const ImageViews& views, Scopes& scopes) override {
    const c10::InferenceMode inference;
    // Separate operators were requested explicitly.
    if (!model_.options().fused_attention) return model_.encode_image(views, scopes);
    return vision_.encode(views, scopes);
  }
  at::Tensor prefill(const tokenizer::Prompt& prompt, const at::Tensor& image_rows,
                     std::int64_t capacity) override {
    const c10::InferenceMode inference;
    KvCache& cache = runner_.begin(capacity);
    if (!prefill_.can_run()) {
      return model_.prefill(prompt.ids, prompt.is_image, image_rows, cache);
    }
    // Captured graphs write into the cache they were captured with; a larger one is a different
    // cache.
    if (cache.capacity() != capacity_) prefill_.forget();
    capacity_ = cache.capacity();
    return prefill_.run(prompt, image_rows, cache, runner_.rope_cos(), runner_.rope_sin());
  }
  at::Tensor decode(const at::Tensor& token) override { return runner_.decode(token); }
  DeviceLoop* device_loop() override { return &runner_; }
  std::vector<std::string> take_one_time_events() override {
    const std::size_t captured =
        vision_.captured_graphs() + prefill_.captured_graphs() + runner_.captured_graphs();
    const bool has_captured = captured != captured_;
    captured_ = captured;
    if (!has_captured) return {};
    return {"graph_capture"};
  }

 private:
  const DeepseekOcr& model_;
  fast::VisionRunner vision_;
  fast::PrefillRunner prefill_;
  fast::DecodeRunner runner_;
  std::int64_t capacity_ = 0;
  std::size_t captured_ = 0;  // graphs, at the last call of take_one_time_events
};

Result<fast::Stored> stored_as(at::ScalarType dtype) {
  if (dtype == at::kBFloat16) return fast::Stored::Bf16;
  if (dtype == at::kFloat) return fast::Stored::Fp32;
  return cannot_run_fast("its kernels support model.dtype bf16 and fp32, not fp16");
}

}  // namespace

Result<std::unique_ptr<Engine>> make_fast_engine(const DeepseekOcr& model) {
  const at::Device device = model.options().device;
  PL_TRY(check_device(device));
  const fast::Stored stored = PL_TRY(stored_as(model.options().dtype));
  const cudaDeviceProp* properties = at::cuda::getDeviceProperties(device.index());
  if (properties->major < kOldestMajor) {
    return cannot_run_fast("compute capability " + std::to_string(properties->major) + "." +
                           std::to_string(properties->minor) + " is below 8.0");
  }
  const char* shape = fast::cannot_decode(fast::decode_shape(model.config()), stored);
  if (shape != nullptr) return cannot_run_fast(shape);
  auto engine = catch_torch([&]() -> Result<std::unique_ptr<Engine>> {
    return std::unique_ptr<Engine>(std::make_unique<FastEngine>(model, stored));
  });
  // A GPU with too little shared memory for these rows, or with no memory left.
  if (!engine) return cannot_run_fast(engine.error().message());
  return engine;
}

}  // namespace profline::workload
