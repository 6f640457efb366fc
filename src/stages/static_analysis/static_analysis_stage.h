#pragma once

#include "pipeline/stage.h"
#include "run/names/artifact_names.h"

namespace profline::stages {

/// The theoretical cost of the model: closed forms, checked against the module graph where libtorch
/// can trace it. For a user's program: of the model that its process recorded in the baseline.
class StaticAnalysisStage final : public pipeline::Stage {
 public:
  std::string_view id() const override { return run::stages::kStaticAnalysis; }
  const settings::Stage& settings(const settings::Pipeline& pipeline) const override {
    return pipeline.static_analysis;
  }
  bool is_measured_against_baseline() const override { return false; }
  Needs needs(const settings::Root& settings) const override;
  bool reads_baseline(const settings::Root& settings) const override;
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
