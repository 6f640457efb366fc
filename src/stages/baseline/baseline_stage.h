#pragma once

#include "pipeline/stage.h"
#include "run/names/artifact_names.h"

namespace profline::stages {

/// The run without a profiler that reported times come from: `baseline/requests.jsonl` and
/// `metrics.json`. A user's program runs once: `baseline/process.json` has its wall time and the
/// resources of each of its processes, and `requests.jsonl` the requests that it recorded, if any.
class BaselineStage final : public pipeline::Stage {
 public:
  std::string_view id() const override { return run::stages::kBaseline; }
  const settings::Stage& settings(const settings::Pipeline& pipeline) const override {
    return pipeline.baseline;
  }
  bool is_measured_against_baseline() const override { return false; }
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
