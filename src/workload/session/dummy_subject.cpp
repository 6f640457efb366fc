#include <ATen/ATen.h>

#include "inputs/images/picture.h"
#include "inputs/images/views.h"
#include "records/range_use.h"
#include "workload/dummy/shallow_resnet.h"
#include "workload/session/internal/subject.h"
#include "workload/torch_runtime.h"

namespace profline::workload {
namespace {

constexpr std::uint64_t kSeed = 0;
constexpr std::uint32_t kForwardPasses = 2;
constexpr std::int64_t kWarmupBatch = 2;

class DummySubject final : public workload::Subject {
 public:
  DummySubject(const settings::dummy_shallow_resnet::Subject& settings, const Machine& machine,
               Inputs inputs)
      : settings_(settings),
        machine_(machine),
        inputs_(std::move(inputs)),
        options_(at::TensorOptions(scalar_type(settings.infer.dtype)).device(machine.device)),
        network_(options_, kSeed) {}

  const std::vector<dataset::Item>& items() const override { return inputs_.items; }
  std::vector<std::string> notes() const override { return inputs_.notes; }
  bool synchronises_parts() const override { return true; }

  Result<void> warm_up(bool /*synthetic*/) override {
    Scopes none;
    PL_TRY(catch_torch([&] { return network_.forward(random_input(kWarmupBatch), none); }));
    return {};
  }

  Result<Answer> run(Items items, MeasuredScopes& scopes, const Extent& /*extent*/) override {
    const dataset::Item& item = items.front();
    const auto begin = std::chrono::steady_clock::now();
    const at::Tensor batch = PL_TRY(input(item));
    machine_.clock->synchronise();
    const auto ready = std::chrono::steady_clock::now();
    PL_TRY(catch_torch([&] { return network_.forward(batch, scopes); }));

    Answer answer;
    Request& request = answer.request;
    const std::chrono::nanoseconds preparing = ready - begin;
    // There is only one forward pass: the sum of its outermost parts.
    const std::vector<PartTime> parts = scopes.take();
    std::chrono::nanoseconds forward{0};
    for (const char* name :
         {shallow_resnet::kStem, shallow_resnet::kResidual, shallow_resnet::kHead}) {
      forward += time_of(parts, name).value_or(std::chrono::nanoseconds(0));
    }
    request.start_ns = std::chrono::nanoseconds(begin.time_since_epoch()).count();
    request.ns = (preparing + forward).count();
    request.batch = settings_.infer.batch_size;
    request.phases = {{"preprocess", 0, preparing.count(), {}, true},
                      {scope::kPrefill, preparing.count(), forward.count(), {}}};
    request.attributes =
        attributes_of(item, {dtype_text(settings_.infer.dtype), machine_.threads, engine()});
    answer.texts.emplace_back();
    return answer;
  }

 private:
  at::Tensor random_input(std::int64_t batch) const {
    const auto side = static_cast<std::int64_t>(settings_.model.preprocess.image_size);
    return normalised(at::rand({batch, 3, side, side}, at::kFloat)).to(options_);
  }

  at::Tensor normalised(const at::Tensor& x) const {
    if (!settings_.model.preprocess.normalize) return x;
    return (x - x.mean()) / x.std(/*unbiased=*/false).clamp_min(1e-6);
  }

  Result<at::Tensor> input(const dataset::Item& item) const {
    const std::uint32_t side = settings_.model.preprocess.image_size;
    const auto batch = static_cast<std::int64_t>(settings_.infer.batch_size);
    if (!settings_.model.preprocess.enable) return random_input(batch);
    const images::Picture picture =
        images::resize_bicubic(PL_TRY(dataset::load(item.image)), {side, side});
    at::Tensor one = at::empty({1, 3, side, side});
    images::normalise(picture, {one.data_ptr<float>(), static_cast<std::size_t>(one.numel())});
    return normalised(one).expand({batch, 3, side, side}).contiguous().to(options_);
  }

  const settings::dummy_shallow_resnet::Subject& settings_;
  const Machine& machine_;
  Inputs inputs_;
  at::TensorOptions options_;
  ShallowResnet network_;
};

/// Forward passes on random input, in each epoch of the settings.
Inputs random_inputs(const RunRequest& request) {
  Inputs inputs;
  for (std::uint32_t epoch = 0; epoch < request.settings.dataset.sampling().num_epochs; ++epoch) {
    for (std::uint32_t i = 0; i < kForwardPasses; ++i) {
      inputs.items.push_back(
          {.image = {.name = "random", .source = {}}, .epoch = epoch, .index = i});
    }
  }
  if (request.samples && inputs.items.size() > *request.samples) {
    inputs.items.resize(*request.samples);
  }
  return inputs;
}

}  // namespace

Result<std::unique_ptr<workload::Subject>> open_dummy_subject(const RunRequest& request,
                                                              const Machine& machine) {
  if (request.settings.pipeline.workload.engine == settings::Engine::Fast) {
    return Error(ErrorKind::NotFound,
                 "the fast engine cannot run: it supports deepseek_ocr, not dummy_shallow_resnet")
        .during("pipeline.workload.engine");
  }
  const auto& settings =
      std::get<settings::dummy_shallow_resnet::Subject>(request.settings.subject);
  Inputs inputs =
      settings.model.preprocess.enable ? PL_TRY(choose_inputs(request)) : random_inputs(request);
  return catch_torch([&] {
    return std::unique_ptr<workload::Subject>(
        std::make_unique<DummySubject>(settings, machine, std::move(inputs)));
  });
}

}  // namespace profline::workload
