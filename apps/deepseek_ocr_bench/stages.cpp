#include "stages.h"

#include <algorithm>
#include <utility>

#include <c10/core/InferenceMode.h>
#include <c10/core/Stream.h>

namespace profline::bench {
namespace {

using workload::DeepseekOcr;
using workload::KvCache;

/// Until everything given to the device is done.
void wait_for(at::Device device) {
  if (device.is_cuda()) c10::Stream(c10::Stream::DEFAULT, device).synchronize();
}

class Stopwatch {
 public:
  explicit Stopwatch(at::Device device) : device_(device) {}

  /// Runs `body` and keeps its time under `name`; stages appear in the order of their first time.
  template <typename Body>
  auto operator()(const std::string& name, const Body& body) {
    wait_for(device_);
    const auto start = std::chrono::steady_clock::now();
    auto result = body();
    wait_for(device_);
    const Duration time = std::chrono::steady_clock::now() - start;
    const auto known = std::find_if(stages.begin(), stages.end(),
                                    [&](const Stage& stage) { return stage.name == name; });
    Stage& stage = known == stages.end() ? stages.emplace_back(Stage{name, {}}) : *known;
    stage.times.push_back(time);
    return result;
  }

  std::vector<Stage> stages;

 private:
  at::Device device_;
};

at::Tensor encode(const DeepseekOcr& model, const at::Tensor& views, const std::string& what,
                  Stopwatch& timed) {
  const at::Tensor sam = timed(what + " sam", [&] { return model.sam(views); });
  const at::Tensor clip = timed(what + " clip", [&] { return model.clip(sam); });
  return timed(what + " projector", [&] { return model.project(clip, sam); });
}

at::Tensor random_views(std::int64_t count, std::int64_t side, const DeepseekOcr& model) {
  const at::Tensor pixels = at::rand({count, 3, side, side}, at::kFloat).mul_(2).sub_(1);
  return pixels.to(model.options().device).to(model.options().dtype);
}

/// → the prompt's length. Times of decoding are kept under `decode`.
std::int64_t run_round(const DeepseekOcr& model, const Shape& shape, const std::string& decode,
                       Stopwatch& timed) {
  const c10::InferenceMode inference;
  at::Tensor tile_rows;
  if (shape.is_tiled()) {
    const at::Tensor tiles = random_views(shape.grid.columns * shape.grid.rows, shape.tile, model);
    tile_rows = encode(model, tiles, "tiles", timed);
  }
  const at::Tensor page_rows = encode(model, random_views(1, shape.page, model), "page", timed);
  const at::Tensor rows = model.assemble(tile_rows, page_rows, shape.grid);

  std::vector<std::int64_t> ids(static_cast<std::size_t>(1 + rows.size(0) + shape.text), 2);
  std::vector<std::uint8_t> is_image(ids.size(), 0);
  std::fill_n(is_image.begin() + 1, rows.size(0), std::uint8_t{1});
  const auto length = static_cast<std::int64_t>(ids.size());
  KvCache cache = model.new_cache(length + shape.tokens);
  const auto likeliest = [](const at::Tensor& logits) {
    at::Tensor token = logits.argmax(-1);
    token.item<std::int64_t>();  // as generation does: the host must know it
    return token;
  };
  at::Tensor token =
      timed("prefill", [&] { return likeliest(model.prefill(ids, is_image, rows, cache)); });
  for (std::int64_t i = 1; i < shape.tokens; ++i) {
    token = timed(decode, [&] { return likeliest(model.decode(token, cache)); });
  }
  return length;
}

}  // namespace

Duration Stage::median() const {
  std::vector<Duration> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Measured measure(const DeepseekOcr& model, const Shape& shape, int warmup, int rounds) {
  // At other lengths: what a library prepares for each new one is part of decoding, where each step
  // is one.
  Shape elsewhere = shape;
  elsewhere.text += 4 * shape.tokens;
  for (int round = 0; round < warmup; ++round) {
    Stopwatch unused(model.options().device);
    run_round(model, elsewhere, "decode", unused);
  }
  Stopwatch timed(model.options().device);
  Measured measured;
  for (int round = 0; round < rounds; ++round) {
    const std::string decode = round == 0 ? "decode, new length" : "decode, known length";
    measured.prompt_tokens = run_round(model, shape, decode, timed);
  }
  measured.stages = std::move(timed.stages);
  return measured;
}

}  // namespace profline::bench
