#pragma once

#include "pipeline/stage.h"
#include "run/names/artifact_names.h"

namespace profline::stages {

/// The workload under Nsight Systems: a separate run for each range of `nvtx_capture`, whose
/// reports are exported, summarised and turned into `kernels.{json,md}` and `ranges.json`.
class NsysStage final : public pipeline::Stage {
 public:
  std::string_view id() const override { return run::stages::kNsys; }
  const settings::Stage& settings(const settings::Pipeline& pipeline) const override {
    return pipeline.nsys;
  }
  bool is_measured_against_baseline() const override { return true; }
  Needs needs(const settings::Root& settings) const override;
  bool classifies_kernels() const override { return true; }
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
