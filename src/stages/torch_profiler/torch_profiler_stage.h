#pragma once

#include "pipeline/stage.h"
#include "run/names/artifact_names.h"

namespace profline::stages {

/// The first image under libtorch's profiler: trace, operators, kernels. Texts and pictures come
/// from the baseline, so that nothing is written while times are measured. For a user's
/// program: a steady request of its Python processes or, without requests, a short time of its
/// processes that use libtorch.
class TorchProfilerStage final : public pipeline::Stage {
 public:
  std::string_view id() const override { return run::stages::kTorchProfiler; }
  const settings::Stage& settings(const settings::Pipeline& pipeline) const override {
    return pipeline.torch_profiler;
  }
  bool is_measured_against_baseline() const override { return true; }
  Needs needs(const settings::Root& settings) const override;
  std::vector<pipeline::Finding> preflight(const pipeline::StageContext& context) const override;
  pipeline::StagePlan plan(const pipeline::StageContext& context) const override;
  Result<void> run(const pipeline::StageContext& context, const pipeline::StagePlan& plan,
                   pipeline::StageRun& run) const override;
  std::vector<pipeline::Finding> verify(const pipeline::StageContext& context,
                                        const run::Run& files) const override;
  Result<void> summarise(const pipeline::StageContext& context, const run::Run& files,
                         pipeline::StageRun& run) const override;
};

}  // namespace profline::stages
